//! The output clause: the assigned expression of each attribute of each output stream.

use std::rc::Rc;
use std::sync::Arc;

use graph::{AssignmentMode, Expr, OutPort};
use syntax::ast::{self, Actual, ExprKind, Ident, Mode, PortClause};
use syntax::{DeclarationKind, Diagnostic};
use tuple::TupleType;

use super::{assignment_effects, forward, window};
use crate::expr::{ReadableInputs, Typer, TypingContext};
use crate::instance::InvocationContext;
use crate::names::nearest;
use crate::tables::OutputFunctions;

/// The clause of one port.
type OutputClause = PortClause<Vec<(Ident, ast::Expr)>>;

/// The output ports with their assignments, written and forwarded.
pub(super) fn outputs(invocation: &InvocationContext<'_, '_>) -> Vec<OutPort> {
    let clauses = clauses(invocation);
    let functions = invocation.session.output_functions(invocation.model);
    let ports = invocation
        .ast
        .outputs
        .iter()
        .zip(&invocation.operator_scope.outputs)
        .enumerate();
    ports
        .map(|(at, (ast, port))| {
            let mut out = OutPort::new(
                ast.name.text.clone(),
                port.schema.clone().unwrap_or_default(),
            );
            if let (Some(schema), model) = (&port.schema, invocation.outputs[at]) {
                let mut assigned = vec![None; schema.attributes.len()];
                let mut written = vec![false; assigned.len()];
                if let Some(clause) = clauses[at] {
                    let one = OutputPortTyper {
                        invocation,
                        at,
                        schema,
                        functions: functions.clone(),
                    };
                    out.calls = one.assign(clause, &mut assigned, &mut written);
                }
                forward::forward(invocation, at, &mut assigned, &written);
                if model.assign != AssignmentMode::None || model.auto_assignment {
                    out.assign = assigned;
                }
            }
            out
        })
        .collect()
}

/// The clause of each port; reports unknown ports, and ports with two clauses or that take none.
fn clauses<'w>(invocation: &InvocationContext<'_, 'w>) -> Vec<Option<&'w OutputClause>> {
    let mut clauses: Vec<Option<&OutputClause>> =
        vec![None; invocation.operator_scope.outputs.len()];
    for clause in &invocation.ast.output {
        let name = &clause.port;
        let Some(port) = invocation.operator_scope.output(&name.text) else {
            if invocation
                .session
                .note_poisoned(DeclarationKind::Stream, &name.text)
            {
                continue;
            }
            let message = format!("this operator has no output port `{}`", name.text);
            let finding = Diagnostic::error("unknown-port", name.span, message);
            let ports = invocation
                .operator_scope
                .outputs
                .iter()
                .map(|port| &port.names[..]);
            let suggestions = &invocation.session.symbols.suggestions;
            invocation
                .session
                .report(suggestions.which_port(finding, &name.text, ports));
            continue;
        };
        let found = &invocation.operator_scope.outputs[port];
        let (alias, schema) = (found.alias.as_ref(), found.schema.as_ref());
        let session = invocation.session;
        session.note_port(name, alias, schema, &invocation.scope);
        if let Some(first) = clauses[port] {
            let message = format!("output port `{}` has two clauses", name.text);
            let finding = Diagnostic::error("duplicate-clause", name.span, message);
            invocation
                .session
                .report(finding.label(first.port.span, "first here"));
        } else if invocation.outputs[port].assign == AssignmentMode::None {
            let message = format!("{} assigns its output itself", invocation.model.name);
            let finding = Diagnostic::error("no-assignment", name.span, message);
            let help = if invocation.model.submits {
                "submit tuples in the logic clause"
            } else {
                "leave the output clause out, and change attributes in an operator behind it"
            };
            invocation.session.report(finding.help(help));
        } else {
            clauses[port] = Some(clause);
        }
    }
    clauses
}

/// An output port that takes assignments.
struct OutputPortTyper<'a, 'b, 'w> {
    invocation: &'a InvocationContext<'b, 'w>,
    at: usize,
    schema: &'a Arc<TupleType>,
    functions: Option<Rc<OutputFunctions>>,
}

impl<'w> OutputPortTyper<'_, '_, 'w> {
    /// Types the assignments. `written` tells also of those that are wrong.
    fn assign(
        &self,
        clause: &'w OutputClause,
        assigned: &mut [Option<Expr>],
        written: &mut [bool],
    ) -> Vec<graph::OutputCall> {
        let invocation = self.invocation;
        let mut typer = Typer::new(invocation.session, invocation.scope.clone(), self.context());
        let mut places = vec![None; assigned.len()];
        let mut stateful = Vec::new();
        for (name, value) in &clause.body {
            let Some(at) = self.attribute(name) else {
                typer.expr(value, None);
                if let Some(at) = self.misspelt_attribute(name) {
                    written[at] = true;
                }
                continue;
            };
            if let Some(first) = places[at].replace(name.span) {
                let attribute = &self.schema.attributes[at].name;
                let message = format!("output attribute `{attribute}` is assigned twice");
                let finding = Diagnostic::error("duplicate-assignment", name.span, message);
                invocation
                    .session
                    .report(finding.label(first, "first here"));
                continue;
            }
            written[at] = true;
            let before = typer.effects.stateful_calls().len();
            assigned[at] = typer.expr(value, Some(&self.schema.attributes[at].ty));
            stateful.extend(typer.effects.stateful_calls().get(before).cloned());
        }
        let calls = typer.take_calls();
        assignment_effects::check(invocation.session, clause, &places, assigned, &calls);
        assignment_effects::check_calls(invocation.session, &stateful);
        calls
    }

    fn context(&self) -> TypingContext {
        let context = TypingContext {
            panes: window::fires_panes(self.invocation.ast),
            ..TypingContext::output(self.functions.clone())
        };
        match self.invocation.outputs[self.at].assign {
            AssignmentMode::AttributeFree => TypingContext {
                inputs: ReadableInputs::Refused("the output clause of this operator"),
                ..context
            },
            AssignmentMode::None | AssignmentMode::Expression => context,
        }
    }

    /// The attribute that a misspelt name can only mean.
    fn misspelt_attribute(&self, name: &Ident) -> Option<usize> {
        let suggestions = &self.invocation.session.symbols.suggestions;
        if !suggestions.is_open(name.span) {
            return None;
        }
        let names = self.schema.attributes.iter().map(|a| &*a.name);
        let (at, _) = self.schema.find(nearest(&name.text, names)?)?;
        Some(at)
    }

    /// The attribute of a name, also of a formal that stands for one.
    fn attribute(&self, name: &Ident) -> Option<usize> {
        let session = self.invocation.session;
        let is_attribute = |mode: &Mode| matches!(mode, Mode::Attribute);
        let mut wanted = name.text.clone();
        let mut scope = self.invocation.scope.clone();
        while wanted.starts_with('$') {
            let formal = Ident {
                text: wanted,
                span: name.span,
            };
            let (actual, actual_scope) =
                session.formal(&formal, &scope, "an attribute", is_attribute)?;
            wanted = last_name(actual)?;
            scope = actual_scope;
        }
        if let Some((at, _)) = self.schema.find(&wanted) {
            if !name.text.starts_with('$') {
                session.note_attribute(name.span, self.schema, at);
            }
            return Some(at);
        }
        if session.note_poisoned(DeclarationKind::Attribute, &wanted) {
            return None;
        }
        let stream = &self.invocation.ast.outputs[self.at].name.text;
        let message = format!("stream `{stream}` has no attribute `{wanted}`");
        let finding = Diagnostic::error("unknown-attribute", name.span, message);
        let names = || self.schema.attributes.iter().map(|a| &*a.name);
        let suggestions = &session.symbols.suggestions;
        session.report(suggestions.did_you_mean(finding, &wanted, names));
        None
    }
}

/// `attr` of `attr` and of `In.attr`.
fn last_name(actual: &Actual) -> Option<Arc<str>> {
    let Actual::Exprs(list) = actual else {
        return None;
    };
    match &list[..] {
        [
            ast::Expr {
                kind: ExprKind::Name(name),
                ..
            },
        ] => Some(name.name.text.clone()),
        [
            ast::Expr {
                kind: ExprKind::Field(_, name),
                ..
            },
        ] => Some(name.text.clone()),
        _ => None,
    }
}
