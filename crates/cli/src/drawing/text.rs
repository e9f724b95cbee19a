//! The graph as text: a paragraph for each operator, with its ports, their schemas and streams.

use std::fmt::Write;

use graph::{OperatorId, OperatorNode, Plan, Program};

use super::drawn_plan::{DrawnPlan, pe_title};

/// Lists the operators with their ports, in order of expansion; with a plan, PE by PE.
///
/// ```text
/// Sorted  spl.relational::Sort
///     in  Paired: int32 id, rstring kind  <- Paired by shm
///     out Sorted: int32 id, rstring kind
/// ```
pub fn text(program: &Program, plan: Option<&Plan>) -> String {
    let mut text = format!("graph {}\n", program.name);
    let plan = DrawnPlan::new(program, plan);
    for (number, pe) in plan.pes() {
        let _ = writeln!(text, "\n{}", pe_title(number, pe));
        for &id in &pe.operators {
            operator(program, &plan, id, &mut text);
        }
    }
    for id in (0..program.operators.len() as u32).map(OperatorId) {
        if plan.pe_of(id).is_none() {
            operator(program, &plan, id, &mut text);
        }
    }
    text
}

fn operator(program: &Program, plan: &DrawnPlan<'_>, id: OperatorId, text: &mut String) {
    let operator = &program.operators[id.0 as usize];
    let _ = writeln!(text, "\n{}  {}", operator.name, operator.kind);
    ports(program, plan, (id, operator), text);
}

fn ports(
    program: &Program,
    plan: &DrawnPlan<'_>,
    (id, operator): (OperatorId, &OperatorNode),
    text: &mut String,
) {
    for port in &operator.inputs {
        let source = |&edge| match plan.medium_between(edge, id) {
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
