//! The output clause: what each attribute of each output stream is.

use std::rc::Rc;
use std::sync::Arc;

use graph::{Assignment, Expr, OutPort};
use syntax::Diagnostic;
use syntax::ast::{self, Actual, ExprKind, Ident, Mode, PortClause};
use tuple::TupleType;

use super::{Work, effects, forward};
use crate::expr::{Context, Inputs, Typer};
use crate::function::OutputFunctions;
use crate::names::nearest;

/// The clause of one port.
type Clause = PortClause<Vec<(Ident, ast::Expr)>>;

/// The output ports with their assignments, written and forwarded.
pub(super) fn outputs(work: &Work<'_, '_>) -> Vec<OutPort> {
    let clauses = clauses(work);
    let functions = work.session.output_functions(work.model);
    let ports = work.ast.outputs.iter().zip(&work.frame.outputs).enumerate();
    ports
        .map(|(at, (ast, port))| {
            let mut out = OutPort {
                name: ast.name.text.clone(),
                schema: port.schema.clone().unwrap_or_default(),
                calls: Vec::new(),
                assign: Vec::new(),
            };
            if let (Some(schema), model) = (&port.schema, work.outputs[at]) {
                let mut assigned = vec![None; schema.attributes.len()];
                let mut written = vec![false; assigned.len()];
                if let Some(clause) = clauses[at] {
                    let one = Port {
                        work,
                        at,
                        schema,
                        functions: functions.clone(),
                    };
                    out.calls = one.assign(clause, &mut assigned, &mut written);
                }
                forward::forward(work, at, &mut assigned, &written);
                if model.assign != Assignment::None || model.forwards {
                    out.assign = assigned;
                }
            }
            out
        })
        .collect()
}

/// The clause of each port; reports unknown ports, and ports with two clauses or that take none.
fn clauses<'w>(work: &Work<'_, 'w>) -> Vec<Option<&'w Clause>> {
    let mut clauses: Vec<Option<&Clause>> = vec![None; work.frame.outputs.len()];
    for clause in &work.ast.output {
        let name = &clause.port;
        let Some(port) = work.frame.output(&name.text) else {
            let message = format!("this operator has no output port `{}`", name.text);
            let finding = Diagnostic::error("unknown-port", name.span, message);
            let ports = work.frame.outputs.iter().map(|port| &port.names[..]);
            let suggestions = &work.session.world.suggestions;
            work.session
                .report(suggestions.which_port(finding, &name.text, ports));
            continue;
        };
        if let Some(first) = clauses[port] {
            let message = format!("output port `{}` has two clauses", name.text);
            let finding = Diagnostic::error("duplicate-clause", name.span, message);
            work.session
                .report(finding.label(first.port.span, "first here"));
        } else if work.outputs[port].assign == Assignment::None {
            let message = format!("{} assigns its output itself", work.model.name);
            let finding = Diagnostic::error("no-assignment", name.span, message);
            let help = if work.model.submits {
                "submit tuples in the logic clause"
            } else {
                "leave the output clause out, and change attributes in an operator behind it"
            };
            work.session.report(finding.help(help));
        } else {
            clauses[port] = Some(clause);
        }
    }
    clauses
}

/// An output port that takes assignments.
struct Port<'a, 'b, 'w> {
    work: &'a Work<'b, 'w>,
    at: usize,
    schema: &'a Arc<TupleType>,
    functions: Option<Rc<OutputFunctions>>,
}

impl<'w> Port<'_, '_, 'w> {
    /// Types the assignments. `written` tells also of those that are wrong.
    fn assign(
        &self,
        clause: &'w Clause,
        assigned: &mut [Option<Expr>],
        written: &mut [bool],
    ) -> Vec<graph::OutputCall> {
        let work = self.work;
        let mut typer = Typer::new(work.session, work.scope.clone(), self.context());
        let mut places = vec![None; assigned.len()];
        let mut stateful = Vec::new();
        for (name, value) in &clause.body {
            let Some(at) = self.attribute(name) else {
                typer.expr(value, None);
                if let Some(at) = self.meant(name) {
                    written[at] = true;
                }
                continue;
            };
            if let Some(first) = places[at].replace(name.span) {
                let attribute = &self.schema.attributes[at].name;
                let message = format!("output attribute `{attribute}` is assigned twice");
                let finding = Diagnostic::error("duplicate-assignment", name.span, message);
                work.session.report(finding.label(first, "first here"));
                continue;
            }
            written[at] = true;
            let before = typer.effects.stateful_calls().len();
            assigned[at] = typer.expr(value, Some(&self.schema.attributes[at].ty));
            stateful.extend(typer.effects.stateful_calls().get(before).cloned());
        }
        let calls = typer.take_calls();
        effects::check(work.session, clause, &places, assigned, &calls);
        effects::check_calls(work.session, &stateful);
        calls
    }

    fn context(&self) -> Context {
        let context = Context::output(self.functions.clone());
        match self.work.outputs[self.at].assign {
            Assignment::AttributeFree => Context {
                inputs: Inputs::Refused("the output clause of this operator"),
                ..context
            },
            Assignment::None | Assignment::Expression => context,
        }
    }

    /// The attribute that a misspelt name can only mean.
    fn meant(&self, name: &Ident) -> Option<usize> {
        let suggestions = &self.work.session.world.suggestions;
        if !suggestions.is_open(name.span) {
            return None;
        }
        let names = self.schema.attributes.iter().map(|a| &*a.name);
        let (at, _) = self.schema.find(nearest(&name.text, names)?)?;
        Some(at)
    }

    /// The attribute of a name, also of a formal that stands for one.
    fn attribute(&self, name: &Ident) -> Option<usize> {
        let session = self.work.session;
        let is_attribute = |mode: &Mode| matches!(mode, Mode::Attribute);
        let mut wanted = name.text.clone();
        let mut scope = self.work.scope.clone();
        while wanted.starts_with('$') {
            let formal = Ident {
                text: wanted,
                span: name.span,
            };
            let (actual, home) = session.formal(&formal, &scope, "an attribute", is_attribute)?;
            wanted = last_name(actual)?;
            scope = home;
        }
        if let Some((at, _)) = self.schema.find(&wanted) {
            return Some(at);
        }
        let stream = &self.work.ast.outputs[self.at].name.text;
        let message = format!("stream `{stream}` has no attribute `{wanted}`");
        let finding = Diagnostic::error("unknown-attribute", name.span, message);
        let names = || self.schema.attributes.iter().map(|a| &*a.name);
        let suggestions = &session.world.suggestions;
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
