//! The graph in the language of Graphviz.

use std::fmt::Write;

use graph::{OutPortId, Program};

use super::drawn_plan::{DrawnPlan, pe_title};
use super::profile_costs::{CostShade, ProfileCosts, line_width, rate_text};
use super::{DrawnProgram, drawn_edges, unqualified_name};

/// Draws the program as a `digraph`: a box for each operator, an arrow for each stream, dashed into
/// a control port. With a plan, a frame surrounds each PE, and arrows between PEs are bold. With a
/// profile, boxes are coloured by processor time and arrows as wide as their rates.
pub fn dot(drawn: DrawnProgram<'_>) -> String {
    let mut out = String::new();
    let DrawnProgram {
        program,
        plan,
        profile,
        depth: _,
    } = drawn;
    let costs = profile.map(ProfileCosts::new);
    // Writing to a string cannot fail.
    let _ = write(
        program,
        &DrawnPlan::new(program, plan),
        costs.as_ref(),
        &mut out,
    );
    out
}

fn write(
    program: &Program,
    plan: &DrawnPlan<'_>,
    costs: Option<&ProfileCosts<'_>>,
    out: &mut String,
) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quote(&program.name))?;
    writeln!(
        out,
        "  rankdir=LR; node [shape=box, fontname=\"sans-serif\"];"
    )?;
    for (at, operator) in program.operators.iter().enumerate() {
        let mut label = format!("{}\n{}", operator.name, unqualified_name(&operator.kind));
        let mut fill = String::new();
        if let Some(costs) = costs {
            let cost = costs.operator(operator);
            let shade = CostShade::of(cost.as_ref());
            fill = format!(", style=filled, fillcolor=\"{}\"", shade.colour());
            if let Some(cost) = cost {
                let _ = write!(label, "\n{}", cost.text());
            }
        }
        writeln!(out, "  o{at} [label={}{fill}];", quote(&label))?;
    }
    for (number, pe) in plan.pes() {
        let label = quote(&pe_title(number, pe));
        let boxes: String = pe.operators.iter().map(|o| format!(" o{};", o.0)).collect();
        writeln!(
            out,
            "  subgraph cluster_{number} {{ label={label};{boxes} }}"
        )?;
    }
    let fastest = costs.map_or(0.0, |costs| costs.fastest_rate(program));
    for edge in drawn_edges(program, plan) {
        let style = match (edge.is_control, edge.is_crossing()) {
            (true, true) => ", style=\"dashed,bold\"",
            (true, false) => ", style=dashed",
            (false, true) => ", style=bold",
            (false, false) => "",
        };
        let from = OutPortId {
            operator: edge.from,
            port: edge.from_port,
        };
        let rate = costs.and_then(|costs| costs.rate(program, from));
        let (label, width) = match rate {
            Some(rate) => (
                format!("{}, {}", edge.label(), rate_text(rate)),
                format!(", penwidth={}", line_width(rate, fastest)),
            ),
            None => (edge.label(), String::new()),
        };
        let label = quote(&label);
        writeln!(
            out,
            "  o{} -> o{} [label={label}{style}{width}];",
            edge.from.0, edge.to.0
        )?;
    }
    writeln!(out, "}}")
}

fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
