//! A program's graph as text, as Graphviz's DOT, and as SVG that needs no other tool.
//!
//! With a plan each drawing also shows the PE of each operator and the media between PEs. With a
//! profile it shows the processor time of each operator and the rate of each stream.

mod common_name;
mod composite_levels;
mod dot;
#[cfg(test)]
mod drawing_checks;
mod drawn_plan;
mod layered_layout;
mod legend;
mod nested_layout;
mod operator_groups;
mod picture;
mod profile_costs;
mod svg;
mod text;

pub use dot::dot;
use drawn_plan::DrawnPlan;
use engine::{Plan, Profile};
use graph::{OperatorId, OutPortId, PortIndex, Program};
pub use profile_costs::missing_operators_note;
pub use svg::svg;
pub use text::text;

/// A program, and what a drawing shows of it besides its operators and streams.
#[derive(Clone, Copy)]
pub struct DrawnProgram<'a> {
    /// The program to be drawn.
    pub program: &'a Program,
    /// The plan whose processes are drawn, if there is one.
    pub plan: Option<&'a Plan>,
    /// The profile with the costs that are drawn, if there is one.
    pub profile: Option<&'a Profile>,
    /// Composites within so many others are drawn as one box each, in SVG.
    pub depth: Option<usize>,
}

/// One arrow of a drawing: a stream from an operator to an operator that reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DrawnEdge {
    from: OperatorId,
    /// Output port of the stream.
    from_port: PortIndex,
    to: OperatorId,
    /// Input port at which the arrow ends.
    port: PortIndex,
    /// Name of the stream that the arrow stands for.
    stream: std::sync::Arc<str>,
    /// Whether the arrow ends in a control port.
    is_control: bool,
    /// The way of the stream's tuples in the plan.
    way: StreamWay,
}

/// The way of a stream's tuples from one operator to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StreamWay {
    /// A direct call, or no plan says anything else.
    Call,
    /// The queue of the input port.
    Queue,
    /// A ring to a merge of the same process.
    Merge,
    /// A medium between two processes, by its name.
    Medium(std::sync::Arc<str>),
}

impl DrawnEdge {
    /// The label: the stream, and its medium if it has one.
    fn label(&self) -> String {
        match &self.way {
            StreamWay::Medium(medium) => format!("{} by {medium}", self.stream),
            _ => self.stream.to_string(),
        }
    }

    /// Whether the arrow leads to another PE.
    fn is_crossing(&self) -> bool {
        matches!(self.way, StreamWay::Medium(_))
    }
}

/// All arrows, ordered by the input ports that they end in.
fn drawn_edges(program: &Program, plan: &DrawnPlan<'_>) -> Vec<DrawnEdge> {
    let mut edges = Vec::new();
    for (to, operator) in (0..).map(OperatorId).zip(&program.operators) {
        for (port, input) in (0..).map(PortIndex).zip(&operator.inputs) {
            edges.extend(input.sources.iter().filter_map(|&source| {
                let OutPortId {
                    operator: from,
                    port: from_port,
                } = source;
                let sender = program.operators.get(from.0 as usize)?;
                Some(DrawnEdge {
                    from,
                    from_port,
                    to,
                    port,
                    stream: sender.outputs.get(from_port.index())?.name.clone(),
                    is_control: input.is_control,
                    way: plan.way(source, to, port),
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
