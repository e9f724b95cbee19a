//! Placements that contradict each other in every plan.

use graph::Pos;
use planner::{PlanError, in_config};
use syntax::{Diagnostic, FileId, Span};

use crate::expand::Expander;
use crate::instance::OperatorSite;

/// Reports operators whose config places them together and apart at once.
pub(super) fn check(expander: &Expander<'_, '_>) {
    let places: Vec<_> = expander.sites.iter().map(config_positions).collect();
    for error in in_config(&expander.operators, &places) {
        expander.session.report(finding(error));
    }
}

/// Where an operator and its config entries are.
fn config_positions(site: &OperatorSite) -> (Pos, Vec<Pos>) {
    let config = site.config.iter().copied();
    (pos_of_span(site.head), config.map(pos_of_span).collect())
}

fn finding(error: PlanError) -> Diagnostic {
    let at = span_of_pos(error.pos.unwrap_or_default());
    let finding = Diagnostic::error("contradicting-placement", at, error.message);
    let labels = error.labels.into_iter();
    let finding = labels.fold(finding, |finding, (pos, text)| {
        finding.label(span_of_pos(pos), text)
    });
    match error.help.is_empty() {
        true => finding,
        false => finding.help(error.help),
    }
}

/// A span on its way through what knows places as lines and columns: several spans of a text that
/// was generated may have one line and column of its file.
fn pos_of_span(span: Span) -> Pos {
    Pos {
        file: span.file.0,
        line: span.start,
        column: span.end,
    }
}

/// The span that [`pos_of_span`] was given.
fn span_of_pos(pos: Pos) -> Span {
    Span::new(FileId(pos.file), pos.line, pos.column)
}
