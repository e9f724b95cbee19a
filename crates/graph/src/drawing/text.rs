//! The graph as text: an operator a paragraph, its ports with their schemas and streams.

use std::fmt::Write;

use super::drawn_plan::{DrawnPlan, pe_title};
use crate::{OperatorId, OperatorNode, Plan, Program};

/// Every operator with what flows in and out, in order of expansion; with a plan, PE by PE.
///
/// ```text
/// Sorted  spl.relational::Sort
///     in  Paired: int32 id, rstring kind  <- Paired by shm
///     out Sorted: int32 id, rstring kind
/// ```
pub fn text(program: &Program, plan: Option<&Plan>) -> String {
    let mut text = format!("graph {}\n", program.name);
    let split = DrawnPlan::new(program, plan);
    for (number, pe) in split.pes() {
        let _ = writeln!(text, "\n{}", pe_title(number, pe));
        for &id in &pe.operators {
            operator(program, &split, id, &mut text);
        }
    }
    for id in (0..program.operators.len() as u32).map(OperatorId) {
        if split.pe_of(id).is_none() {
            operator(program, &split, id, &mut text);
        }
    }
    text
}

fn operator(program: &Program, split: &DrawnPlan<'_>, id: OperatorId, text: &mut String) {
    let operator = &program.operators[id.0 as usize];
    let _ = writeln!(text, "\n{}  {}", operator.name, operator.kind);
    ports(program, split, (id, operator), text);
}

fn ports(
    program: &Program,
    split: &DrawnPlan<'_>,
    (id, operator): (OperatorId, &OperatorNode),
    text: &mut String,
) {
    for port in &operator.inputs {
        let source = |&edge| match split.medium_between(edge, id) {
            Some(medium) => format!("{} by {medium}", program.stream_name(edge)),
            None => program.stream_name(edge),
        };
        let sources: Vec<_> = port.sources.iter().map(source).collect();
        let control = if port.is_control { " control" } else { "" };
        let _ = writeln!(
            text,
            "    in  {}: {}  <- {}{control}",
            port.name,
            port.schema,
            sources.join(", ")
        );
    }
    for port in &operator.outputs {
        let _ = writeln!(text, "    out {}: {}", port.name, port.schema);
    }
}
