//! Checks on the whole graph, once every operator is there.

mod connections;
mod consistent;
mod event_time;
mod feedback;
mod marker_loops;
mod marker_streams;
mod placement;
mod punctuation;

use crate::expand::Expander;

/// Joins the operators, and checks what only the joined graph shows.
pub(crate) fn check_graph(expander: &mut Expander<'_, '_>) {
    crate::boundary::join_imports(expander);
    expander.drop_markers();
    let diagnostics = &expander.session.diagnostics;
    let merged = &expander.merged_streams;
    connections::connect(
        &mut expander.operators,
        &expander.sites,
        merged,
        diagnostics,
    );
    crate::boundary::annotate_boundaries(expander);
    let diagnostics = &expander.session.diagnostics;
    marker_loops::end_in_loops(&mut expander.operators, &expander.sites);
    feedback::check(&expander.operators, &expander.sites, diagnostics);
    // Of logic that did not become statements nobody can say what it submits.
    let is_whole = !diagnostics.has_errors() && !expander.session.has_untyped();
    punctuation::check(&expander.operators, &expander.sites, diagnostics, is_whole);
    event_time::propagate(&mut expander.operators, &expander.sites, diagnostics);
    consistent::check(expander);
    placement::check(expander);
}
