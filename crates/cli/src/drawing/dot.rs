//! The graph in the language of Graphviz.

use std::fmt::Write;

use graph::{Plan, Program};

use super::drawn_plan::{DrawnPlan, pe_title};
use super::{drawn_edges, unqualified_name};

/// Draws the program as a `digraph`: a box for each operator, an arrow for each stream, dashed into
/// a control port. With a plan, a frame surrounds each PE, and arrows between PEs are bold.
pub fn dot(program: &Program, plan: Option<&Plan>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(program, &DrawnPlan::new(program, plan), &mut out);
    out
}

fn write(program: &Program, plan: &DrawnPlan<'_>, out: &mut String) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quote(&program.name))?;
    writeln!(
        out,
        "  rankdir=LR; node [shape=box, fontname=\"sans-serif\"];"
    )?;
    for (at, operator) in program.operators.iter().enumerate() {
        let label = quote(&format!(
            "{}\n{}",
            operator.name,
            unqualified_name(&operator.kind)
        ));
        writeln!(out, "  o{at} [label={label}];")?;
    }
    for (number, pe) in plan.pes() {
        let label = quote(&pe_title(number, pe));
        let boxes: String = pe.operators.iter().map(|o| format!(" o{};", o.0)).collect();
        writeln!(
            out,
            "  subgraph cluster_{number} {{ label={label};{boxes} }}"
        )?;
    }
    for edge in drawn_edges(program, plan) {
        let style = match (edge.is_control, edge.medium.is_some()) {
            (true, true) => ", style=\"dashed,bold\"",
            (true, false) => ", style=dashed",
            (false, true) => ", style=bold",
            (false, false) => "",
        };
        let label = quote(&edge.label());
        writeln!(
            out,
            "  o{} -> o{} [label={label}{style}];",
            edge.from.0, edge.to.0
        )?;
    }
    writeln!(out, "}}")
}

fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
