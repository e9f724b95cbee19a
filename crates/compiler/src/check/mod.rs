//! Checks on the whole graph, once every operator is there.

mod closing;
mod connections;
mod consistent;
mod event_time;
mod feedback;
mod marked;
mod markers;
mod placement;
mod punctuation;

use crate::expand::Expander;

/// Joins the operators, and checks what only the joined graph shows.
pub(crate) fn graph(expander: &mut Expander<'_, '_>) {
    crate::boundary::join(expander);
    expander.drop_markers();
    let diagnostics = &expander.session.diagnostics;
    let merged = &expander.merged;
    connections::connect(
        &mut expander.operators,
        &expander.sites,
        merged,
        diagnostics,
    );
    crate::boundary::tell(expander);
    let diagnostics = &expander.session.diagnostics;
    markers::end_in_loops(&mut expander.operators, &expander.sites);
    feedback::check(&expander.operators, &expander.sites, diagnostics);
    // Of logic that did not become statements nobody can say what it submits.
    let is_whole = !diagnostics.has_errors() && !expander.session.has_come_to_nothing();
    punctuation::check(&expander.operators, &expander.sites, diagnostics, is_whole);
    event_time::spread(&mut expander.operators, &expander.sites, diagnostics);
    consistent::check(expander);
    placement::check(expander);
}
