//! The window clause: its parts in their order, held against what the port takes.
//!
//! ```text
//!   window In : sliding, count(10), count(1), partitioned, partitionAge(60.0) ;
//!               kind     eviction   trigger   partition    its eviction
//! ```

use graph::{Param, Window, WindowKind, WindowingMode};
use syntax::ast::{Expr, ExprKind, Invocation, PortClause};
use syntax::{Diagnostic, Span};

use super::logic;
use super::window_form::{fits, partitioned};
use super::window_parts::WindowParts;
use crate::instance::InvocationContext;

/// The window of each input port with its place.
pub(super) fn windows(
    invocation: &InvocationContext<'_, '_>,
    params: &[Param],
) -> Vec<Option<(Window, Span)>> {
    let mut clauses: Vec<Option<&PortClause<Vec<Expr>>>> = vec![None; invocation.inputs.len()];
    for clause in &invocation.ast.windows {
        let Some(port) = logic::input(invocation, &clause.port) else {
            continue;
        };
        match clauses[port] {
            Some(first) => {
                let message = format!("input port `{}` has two windows", clause.port.text);
                let finding = Diagnostic::error("duplicate-window", clause.port.span, message);
                invocation
                    .session
                    .report(finding.label(first.port.span, "first here"));
            }
            None => clauses[port] = Some(clause),
        }
    }
    let ports = clauses.into_iter().enumerate();
    ports
        .map(|(port, clause)| window(invocation, port, clause, params))
        .collect()
}

fn window<'w>(
    invocation: &InvocationContext<'_, 'w>,
    port: usize,
    clause: Option<&'w PortClause<Vec<Expr>>>,
    params: &[Param],
) -> Option<(Window, Span)> {
    let (model, name) = (invocation.inputs[port], invocation.model.name);
    let input = &invocation.operator_scope.inputs[port];
    let Some(clause) = clause else {
        let is_elsewhere = invocation
            .ast
            .windows
            .iter()
            .any(|w| invocation.operator_scope.inputs_named(&w.port.text).len() != 1);
        let mut before = invocation.operator_scope.inputs[..port].iter();
        // A window for a name that two ports have belongs to both.
        let is_twin = before.any(|other| other.name == input.name);
        if model.window == WindowingMode::Windowed
            && !is_elsewhere
            && !is_twin
            && !invocation.is_incomplete()
        {
            let message = format!("{name} needs a window on input port `{}`", input.name);
            let finding = Diagnostic::error("missing-window", invocation.ast.head, message);
            let help = format!(
                "write `window {} : tumbling, count(10);` for instance",
                input.name
            );
            let sliding = !model.windows.is_empty()
                && model
                    .windows
                    .iter()
                    .all(|form| form.kind == WindowKind::Sliding);
            let help = if sliding {
                help.replace("tumbling", "sliding")
            } else {
                help
            };
            invocation.session.report(finding.help(help));
        }
        return None;
    };
    if model.window == WindowingMode::NonWindowed {
        let message = format!("{name} takes no window on input port `{}`", input.name);
        return invocation
            .session
            .fail("window-not-allowed", clause.port.span, message);
    }
    let parts = WindowParts::read(invocation, port, clause)?;
    let window = parts.window(invocation, port, clause)?;
    fits(invocation, port, &window, clause.span)?;
    let has_param = model
        .partition_param
        .is_some_and(|p| params.iter().any(|q| &*q.name == p));
    partitioned(invocation, port, &window, clause, has_param);
    Some((window, clause.span))
}

/// Whether a window of an invocation fires panes or sessions. A window without a kind, which is
/// reported by itself, may be meant to.
pub(super) fn fires_panes(invocation: &Invocation) -> bool {
    let mut windows = invocation.windows.iter();
    windows.any(|window| !window.body.iter().any(is_without_panes))
}

/// Whether a part of a window says that it is not over event time.
fn is_without_panes(part: &Expr) -> bool {
    matches!(&part.kind, ExprKind::Name(name)
        if matches!(&*name.name.text, "tumbling" | "sliding"))
}
