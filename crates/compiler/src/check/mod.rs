//! Stage `check`: checks on the whole graph, once every operator has its edges.

mod consistent;
mod event_time;
mod feedback;
mod marker_loops;
mod marker_streams;
mod placement;
mod punctuation;

use crate::expand::Expander;

/// Ends window markers in loops, spreads event time along the edges, and reports what only the
/// connected graph shows.
pub(crate) fn check_graph(expander: &mut Expander<'_, '_>) {
    let diagnostics = &expander.session.diagnostics;
    marker_loops::end_in_loops(&mut expander.operators, &expander.sites);
    feedback::check(&expander.operators, &expander.sites, diagnostics);
    // Logic that did not become statements may submit punctuation.
    let is_whole = !diagnostics.has_errors() && !expander.session.has_untyped();
    punctuation::check(&expander.operators, &expander.sites, diagnostics, is_whole);
    event_time::propagate(&mut expander.operators, &expander.sites, diagnostics);
    consistent::check(expander);
    placement::check(expander);
}
