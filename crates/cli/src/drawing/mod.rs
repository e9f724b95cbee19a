//! A program's graph as text, as Graphviz's DOT, and as SVG that needs no other tool.
//!
//! With a plan each drawing also shows the PE of each operator and the media between PEs.

mod dot;
mod drawn_plan;
mod layered_layout;
mod svg;
mod text;

pub use dot::dot;
use drawn_plan::DrawnPlan;
use graph::{OperatorId, Program};
pub use svg::svg;
pub use text::text;

/// One arrow of a drawing: a stream from an operator to an operator that reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DrawnEdge {
    from: OperatorId,
    to: OperatorId,
    /// Name of the stream that the arrow stands for.
    stream: std::sync::Arc<str>,
    /// Whether the arrow ends in a control port.
    is_control: bool,
    /// Medium of the stream, if the arrow leads to another PE.
    medium: Option<std::sync::Arc<str>>,
}

impl DrawnEdge {
    /// The label: the stream, and its medium if it has one.
    fn label(&self) -> String {
        match &self.medium {
            Some(medium) => format!("{} by {medium}", self.stream),
            None => self.stream.to_string(),
        }
    }
}

/// All arrows, ordered by the input ports that they end in.
fn drawn_edges(program: &Program, plan: &DrawnPlan<'_>) -> Vec<DrawnEdge> {
    let mut edges = Vec::new();
    for (at, operator) in program.operators.iter().enumerate() {
        for input in &operator.inputs {
            edges.extend(input.sources.iter().filter_map(|source| {
                let from = program.operators.get(source.operator.0 as usize)?;
                Some(DrawnEdge {
                    from: source.operator,
                    to: OperatorId(at as u32),
                    stream: from.outputs.get(source.port.index())?.name.clone(),
                    is_control: input.is_control,
                    medium: plan.medium_between(*source, OperatorId(at as u32)),
                })
            }));
        }
    }
    edges
}

/// An operator kind without its namespace: `Filter` of `spl.relational::Filter`.
fn unqualified_name(kind: &str) -> &str {
    kind.rsplit("::").next().unwrap_or(kind)
}
