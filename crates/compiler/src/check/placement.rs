//! Placements that contradict each other, whatever the plan.

use graph::Pos;
use syntax::{Diagnostic, FileId, Position, Span};

use crate::Session;
use crate::expand::Expander;
use crate::plan::{PlanError, in_config};

/// Reports operators that have to be together and apart by what their config says.
pub(super) fn check(expander: &Expander<'_, '_>) {
    let session = expander.session;
    for error in in_config(&expander.operators) {
        session.report(finding(session, error));
    }
}

fn finding(session: &Session<'_>, error: PlanError) -> Diagnostic {
    let at = error.pos.unwrap_or_default();
    let finding = Diagnostic::error("contradicting-placement", span(session, at), error.message);
    let labels = error.labels.into_iter();
    let finding = labels.fold(finding, |finding, (pos, text)| {
        finding.label(span(session, pos), text)
    });
    match error.help.is_empty() {
        true => finding,
        false => finding.help(error.help),
    }
}

/// The name of a config entry, from where it begins.
fn span(session: &Session<'_>, pos: Pos) -> Span {
    let id = FileId(pos.file);
    let file = session.world.sources().file(id);
    let start = file.offset(Position {
        line: pos.line,
        column: pos.column,
    });
    let name = file.text[start as usize..].chars();
    let length = name.take_while(char::is_ascii_alphanumeric).count();
    Span::new(id, start, start + length as u32)
}
