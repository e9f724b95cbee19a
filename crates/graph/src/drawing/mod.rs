//! Pictures of a program's graph: text for Graphviz, and a drawing of our own that needs nothing.
//! With a plan they show which PE each operator is in, and how streams get from one PE to another.

mod dot;
mod drawn_plan;
mod layered_layout;
mod svg;
mod text;

pub use dot::dot;
pub use svg::svg;
pub use text::text;

use crate::{OperatorId, Program};
use drawn_plan::DrawnPlan;

/// One edge of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DrawnEdge {
    from: OperatorId,
    to: OperatorId,
    /// The stream's name.
    stream: std::sync::Arc<str>,
    /// The input port that it ends in is a control port.
    is_control: bool,
    /// What it rides on, if it leads to another PE.
    medium: Option<std::sync::Arc<str>>,
}

impl DrawnEdge {
    /// The stream, and what it rides on.
    fn label(&self) -> String {
        match &self.medium {
            Some(medium) => format!("{} by {medium}", self.stream),
            None => self.stream.to_string(),
        }
    }
}

/// All edges, by receiving port.
fn drawn_edges(program: &Program, split: &DrawnPlan<'_>) -> Vec<DrawnEdge> {
    let mut lines = Vec::new();
    for (at, operator) in program.operators.iter().enumerate() {
        for input in &operator.inputs {
            lines.extend(input.sources.iter().filter_map(|source| {
                let from = program.operators.get(source.operator.0 as usize)?;
                Some(DrawnEdge {
                    from: source.operator,
                    to: OperatorId(at as u32),
                    stream: from.outputs.get(source.port as usize)?.name.clone(),
                    is_control: input.is_control,
                    medium: split.medium_between(*source, OperatorId(at as u32)),
                })
            }));
        }
    }
    lines
}

/// The operator's name without its namespace.
fn unqualified_name(kind: &str) -> &str {
    kind.rsplit("::").next().unwrap_or(kind)
}
