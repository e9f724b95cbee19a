//! The logic clause: state variables, and statements for tuples, for punctuation, and for sources.

use graph::{Body, Logic, PortIndex};
use syntax::ast::{Ident, Logic as Entry, Stmt};
use syntax::{DeclarationKind, Diagnostic, Span};

use crate::expr::{ReadableInputs, Typer, TypingContext};
use crate::instance::InvocationContext;

/// Types the logic clause. State comes first, wherever it is written: the other entries see it.
pub(super) fn logic<'w>(invocation: &InvocationContext<'_, 'w>) -> Logic {
    let ports = invocation.operator_scope.inputs.len();
    let mut logic = Logic {
        on_tuple: vec![None; ports],
        on_punct: vec![None; ports],
        ..Logic::default()
    };
    if !is_allowed(invocation) {
        return logic;
    }
    for entry in &invocation.ast.logic {
        if let Entry::State(decls) = entry {
            let context = TypingContext {
                state: true,
                ..TypingContext::default()
            };
            let mut typer = Typer::new(invocation.session, invocation.scope.clone(), context);
            logic.state.extend(typer.state(decls));
        }
    }
    let mut places = LogicClauseSpans::default();
    for entry in &invocation.ast.logic {
        match entry {
            Entry::State(_) => {}
            Entry::OnTuple(name, stmt) => {
                if let Some(port) = port(invocation, name, &mut places.on_tuple, "onTuple") {
                    logic.on_tuple[port] = clause(
                        invocation,
                        stmt,
                        ReadableInputs::Port(PortIndex(port as u32)),
                        false,
                    );
                }
            }
            Entry::OnPunct(name, stmt) => {
                if let Some(port) = port(invocation, name, &mut places.on_punct, "onPunct") {
                    logic.on_punct[port] = clause(invocation, stmt, NO_TUPLE, true);
                }
            }
            Entry::OnProcess(span, stmt) => {
                if may_process(invocation, *span, &mut places.on_process) {
                    logic.on_process = clause(invocation, stmt, ReadableInputs::None, false);
                }
            }
        }
    }
    logic
}

/// Readable inputs of an `onPunct` clause: none.
const NO_TUPLE: ReadableInputs = ReadableInputs::Refused("`onPunct`: there is no tuple");

/// Where the clause of each port was first seen.
#[derive(Default)]
struct LogicClauseSpans {
    on_tuple: Vec<(usize, Span)>,
    on_punct: Vec<(usize, Span)>,
    on_process: Option<Span>,
}

fn is_allowed(invocation: &InvocationContext<'_, '_>) -> bool {
    let Some(first) = invocation.ast.logic.first() else {
        return true;
    };
    if invocation.model.allows_logic {
        return true;
    }
    let span = match first {
        Entry::State(decls) => decls.first().map_or(invocation.ast.head, |d| d.span),
        Entry::OnTuple(port, _) | Entry::OnPunct(port, _) => port.span,
        Entry::OnProcess(span, _) => *span,
    };
    let message = format!("{} takes no logic clause", invocation.model.name);
    invocation
        .session
        .report(Diagnostic::error("logic-not-allowed", span, message));
    false
}

/// The body of a clause: `onTuple` reads the tuple of its port, the others have none.
fn clause<'w>(
    invocation: &InvocationContext<'_, 'w>,
    stmt: &'w Stmt,
    inputs: ReadableInputs,
    punctuation: bool,
) -> Option<Body> {
    let context = TypingContext::logic(invocation.model.submits, punctuation);
    let context = TypingContext { inputs, ..context };
    Typer::new(invocation.session, invocation.scope.clone(), context).clause(stmt)
}

/// The input port of a label; reports one that is unknown or has such a clause already.
fn port(
    invocation: &InvocationContext<'_, '_>,
    name: &Ident,
    seen: &mut Vec<(usize, Span)>,
    word: &str,
) -> Option<usize> {
    let port = input(invocation, name)?;
    if let Some((_, first)) = seen.iter().find(|(p, _)| *p == port) {
        let message = format!("input port `{}` has two {word} clauses", name.text);
        let finding = Diagnostic::error("duplicate-clause", name.span, message);
        invocation
            .session
            .report(finding.label(*first, "first here"));
        return None;
    }
    seen.push((port, name.span));
    Some(port)
}

/// The input port that a clause names; reports that there is none.
pub(super) fn input(invocation: &InvocationContext<'_, '_>, name: &Ident) -> Option<usize> {
    let ports = &invocation.operator_scope.inputs;
    let suggestions = &invocation.session.symbols.suggestions;
    let finding = match invocation.operator_scope.inputs_named(&name.text)[..] {
        [port] => {
            let found = &ports[port];
            let (alias, schema) = (found.alias.as_ref(), found.schema.as_ref());
            let session = invocation.session;
            session.note_port(name, alias, schema, &invocation.scope);
            return Some(port);
        }
        [] if invocation
            .session
            .note_poisoned(DeclarationKind::Stream, &name.text) =>
        {
            return None;
        }
        // The stream that is not found is reported, and the clause may mean it.
        [] if ports.iter().any(|port| port.schema.is_none()) => {
            invocation.session.diagnostics.note_poisoned();
            return None;
        }
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
    invocation.session.report(finding);
    None
}

fn may_process(
    invocation: &InvocationContext<'_, '_>,
    span: Span,
    seen: &mut Option<Span>,
) -> bool {
    let refuse = |message: String| {
        invocation
            .session
            .report(Diagnostic::error("misplaced-process", span, message));
        false
    };
    if !invocation.model.submits {
        return refuse(format!(
            "{} takes no onProcess clause",
            invocation.model.name
        ));
    }
    if !invocation.operator_scope.inputs.is_empty() {
        let message = "onProcess is for operators without input ports; use onTuple here";
        return refuse(message.to_owned());
    }
    if let Some(first) = seen.replace(span) {
        let finding =
            Diagnostic::error("duplicate-clause", span, "there are two onProcess clauses");
        invocation
            .session
            .report(finding.label(first, "first here"));
        return false;
    }
    true
}
