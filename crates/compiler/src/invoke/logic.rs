//! The logic clause: state variables and what happens on tuples, on markers, and in a source.

use graph::{Body, Logic};
use syntax::ast::{Ident, Logic as Entry, Stmt};
use syntax::{Diagnostic, Span};

use super::Work;
use crate::expr::{Context, Inputs, Typer};

/// Types the logic clause. State comes first, wherever it is written: the other entries see it.
pub(super) fn logic<'w>(work: &Work<'_, 'w>) -> Logic {
    let ports = work.frame.inputs.len();
    let mut logic = Logic {
        on_tuple: vec![None; ports],
        on_punct: vec![None; ports],
        ..Logic::default()
    };
    if !is_allowed(work) {
        return logic;
    }
    for entry in &work.ast.logic {
        if let Entry::State(decls) = entry {
            let context = Context {
                state: true,
                ..Context::default()
            };
            let mut typer = Typer::new(work.session, work.scope.clone(), context);
            logic.state.extend(typer.state(decls));
        }
    }
    let mut places = Places::default();
    for entry in &work.ast.logic {
        match entry {
            Entry::State(_) => {}
            Entry::OnTuple(name, stmt) => {
                if let Some(port) = port(work, name, &mut places.on_tuple, "onTuple") {
                    logic.on_tuple[port] = clause(work, stmt, Inputs::Port(port as u32), false);
                }
            }
            Entry::OnPunct(name, stmt) => {
                if let Some(port) = port(work, name, &mut places.on_punct, "onPunct") {
                    logic.on_punct[port] = clause(work, stmt, NO_TUPLE, true);
                }
            }
            Entry::OnProcess(span, stmt) => {
                if may_process(work, *span, &mut places.on_process) {
                    logic.on_process = clause(work, stmt, Inputs::None, false);
                }
            }
        }
    }
    logic
}

/// What `onPunct` reads.
const NO_TUPLE: Inputs = Inputs::Refused("`onPunct`: there is no tuple");

/// Where the clause of each port was first seen.
#[derive(Default)]
struct Places {
    on_tuple: Vec<(usize, Span)>,
    on_punct: Vec<(usize, Span)>,
    on_process: Option<Span>,
}

fn is_allowed(work: &Work<'_, '_>) -> bool {
    let Some(first) = work.ast.logic.first() else {
        return true;
    };
    if work.model.allows_logic {
        return true;
    }
    let span = match first {
        Entry::State(decls) => decls.first().map_or(work.ast.head, |d| d.span),
        Entry::OnTuple(port, _) | Entry::OnPunct(port, _) => port.span,
        Entry::OnProcess(span, _) => *span,
    };
    let message = format!("{} takes no logic clause", work.model.name);
    work.session
        .report(Diagnostic::error("logic-not-allowed", span, message));
    false
}

/// The body of a clause: `onTuple` reads the tuple of its port, the others have none.
fn clause<'w>(
    work: &Work<'_, 'w>,
    stmt: &'w Stmt,
    inputs: Inputs,
    punctuation: bool,
) -> Option<Body> {
    let context = Context::logic(work.model.submits, punctuation);
    let context = Context { inputs, ..context };
    Typer::new(work.session, work.scope.clone(), context).clause(stmt)
}

/// The input port of a label; reports one that is unknown or has such a clause already.
fn port(
    work: &Work<'_, '_>,
    name: &Ident,
    seen: &mut Vec<(usize, Span)>,
    word: &str,
) -> Option<usize> {
    let port = input(work, name)?;
    if let Some((_, first)) = seen.iter().find(|(p, _)| *p == port) {
        let message = format!("input port `{}` has two {word} clauses", name.text);
        let finding = Diagnostic::error("duplicate-clause", name.span, message);
        work.session.report(finding.label(*first, "first here"));
        return None;
    }
    seen.push((port, name.span));
    Some(port)
}

/// The input port that a clause names; reports that there is none.
pub(super) fn input(work: &Work<'_, '_>, name: &Ident) -> Option<usize> {
    let ports = &work.frame.inputs;
    let suggestions = &work.session.world.suggestions;
    let finding = match work.frame.inputs_named(&name.text)[..] {
        [port] => return Some(port),
        [] => {
            let message = format!("this operator has no input port `{}`", name.text);
            let finding = Diagnostic::error("unknown-port", name.span, message);
            suggestions.which_port(
                finding,
                &name.text,
                ports.iter().map(|port| &port.names[..]),
            )
        }
        ref several => {
            let names = several.iter().map(|&port| &ports[port].names[..]);
            suggestions.ambiguous_port(&name.text, name.span, names)
        }
    };
    work.session.report(finding);
    None
}

fn may_process(work: &Work<'_, '_>, span: Span, seen: &mut Option<Span>) -> bool {
    let refuse = |message: String| {
        work.session
            .report(Diagnostic::error("misplaced-process", span, message));
        false
    };
    if !work.model.submits {
        return refuse(format!("{} takes no onProcess clause", work.model.name));
    }
    if !work.frame.inputs.is_empty() {
        let message = "onProcess is for operators without input ports; use onTuple here";
        return refuse(message.to_owned());
    }
    if let Some(first) = seen.replace(span) {
        let finding =
            Diagnostic::error("duplicate-clause", span, "there are two onProcess clauses");
        work.session.report(finding.label(first, "first here"));
        return false;
    }
    true
}
