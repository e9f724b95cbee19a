//! Stage `connect`: gives every input port the output ports that feed it.

mod boundary;
mod connections;

use crate::expand::Expander;

/// Gives each input port its sources: imports are joined with exports, and streams of channels come
/// together where they are read.
pub(crate) fn connect_operators(expander: &mut Expander<'_, '_>) {
    boundary::join_imports(expander);
    expander.drop_markers();
    connections::connect(
        &mut expander.operators,
        &expander.sites,
        &expander.merged_streams,
        &expander.session.diagnostics,
    );
    boundary::annotate_boundaries(expander);
}
