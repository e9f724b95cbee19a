//! The window clause: its parts in their order, held against what the port takes.
//!
//! ```text
//!   window In : sliding, count(10), count(1), partitioned, partitionAge(60.0) ;
//!               kind     eviction   trigger   partition    its eviction
//! ```

use graph::{Param, Window, WindowKind, Windowing};
use syntax::ast::{Expr, PortClause};
use syntax::{Diagnostic, Span};

use super::window_form::{fits, partitioned};
use super::window_parts::Parts;
use super::{Work, logic};

/// The window of each input port with its place.
pub(super) fn windows(work: &Work<'_, '_>, params: &[Param]) -> Vec<Option<(Window, Span)>> {
    let mut clauses: Vec<Option<&PortClause<Vec<Expr>>>> = vec![None; work.inputs.len()];
    for clause in &work.ast.windows {
        let Some(port) = logic::input(work, &clause.port) else {
            continue;
        };
        match clauses[port] {
            Some(first) => {
                let message = format!("input port `{}` has two windows", clause.port.text);
                let finding = Diagnostic::error("duplicate-window", clause.port.span, message);
                work.session
                    .report(finding.label(first.port.span, "first here"));
            }
            None => clauses[port] = Some(clause),
        }
    }
    let ports = clauses.into_iter().enumerate();
    ports
        .map(|(port, clause)| window(work, port, clause, params))
        .collect()
}

fn window<'w>(
    work: &Work<'_, 'w>,
    port: usize,
    clause: Option<&'w PortClause<Vec<Expr>>>,
    params: &[Param],
) -> Option<(Window, Span)> {
    let (model, name) = (work.inputs[port], work.model.name);
    let input = &work.frame.inputs[port];
    let Some(clause) = clause else {
        let is_elsewhere = work
            .ast
            .windows
            .iter()
            .any(|w| work.frame.inputs_named(&w.port.text).len() != 1);
        let mut before = work.frame.inputs[..port].iter();
        // What is said of the first of two ports of one name holds for both.
        let is_twin = before.any(|other| other.name == input.name);
        if model.window == Windowing::Windowed && !is_elsewhere && !is_twin {
            let message = format!("{name} needs a window on input port `{}`", input.name);
            let finding = Diagnostic::error("missing-window", work.ast.head, message);
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
            work.session.report(finding.help(help));
        }
        return None;
    };
    if model.window == Windowing::NonWindowed {
        let message = format!("{name} takes no window on input port `{}`", input.name);
        return work
            .session
            .fail("window-not-allowed", clause.port.span, message);
    }
    let parts = Parts::read(work, port, clause)?;
    let window = parts.window(work, clause)?;
    fits(work, port, &window, clause.span)?;
    let has_param = model
        .partition_param
        .is_some_and(|p| params.iter().any(|q| &*q.name == p));
    partitioned(work, port, &window, clause, has_param);
    Some((window, clause.span))
}
