//! The graph as text: a paragraph for each operator, with its ports, their schemas and streams.

use std::fmt::Write;

use graph::{OperatorId, OperatorNode, OutPortId, PortIndex, Program};

use super::DrawnProgram;
use super::drawn_plan::{DrawnPlan, pe_title};
use super::profile_costs::{ProfileCosts, rate_text};

/// Lists the operators with their ports, in order of expansion; with a plan, PE by PE. With a
/// profile, each operator has its share of the processor time, and each stream its rate.
///
/// ```text
/// Sorted  spl.relational::Sort
///     in  Paired: int32 id, rstring kind  <- Paired by shm
///     out Sorted: int32 id, rstring kind
/// ```
pub fn text(drawn: DrawnProgram<'_>) -> String {
    let program = drawn.program;
    let mut text = format!("graph {}\n", program.name);
    let plan = DrawnPlan::new(program, drawn.plan);
    let costs = drawn.profile.map(ProfileCosts::new);
    let costs = costs.as_ref();
    for (number, pe) in plan.pes() {
        let _ = writeln!(text, "\n{}", pe_title(number, pe));
        for &id in &pe.operators {
            operator(program, &plan, costs, id, &mut text);
        }
    }
    for id in (0..program.operators.len() as u32).map(OperatorId) {
        if plan.pe_of(id).is_none() {
            operator(program, &plan, costs, id, &mut text);
        }
    }
    text
}

fn operator(
    program: &Program,
    plan: &DrawnPlan<'_>,
    costs: Option<&ProfileCosts<'_>>,
    id: OperatorId,
    text: &mut String,
) {
    let operator = &program.operators[id.0 as usize];
    let _ = writeln!(text, "\n{}  {}", operator.name, operator.kind);
    if let Some(cost) = costs.and_then(|costs| costs.operator(operator)) {
        let _ = writeln!(text, "    cost {}", cost.text());
    }
    ports(program, plan, costs, (id, operator), text);
}

fn ports(
    program: &Program,
    plan: &DrawnPlan<'_>,
    costs: Option<&ProfileCosts<'_>>,
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
    for (number, port) in (0..).map(PortIndex).zip(&operator.outputs) {
        let stream = OutPortId {
            operator: id,
            port: number,
        };
        let rate = costs.and_then(|costs| costs.rate(program, stream));
        let rate = rate.map_or_else(String::new, |rate| format!("  {}", rate_text(rate)));
        let _ = writeln!(text, "    out {}: {}{rate}", port.name, port.schema);
    }
}
