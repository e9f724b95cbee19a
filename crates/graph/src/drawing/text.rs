//! The graph as text: an operator a paragraph, its ports with their schemas and streams.

use std::fmt::Write;

use crate::{Operator, Program};

/// Every operator with what flows in and out, in order of expansion.
///
/// ```text
/// Sorted  spl.relational::Sort
///     in  Paired: int32 id, rstring kind  <- Paired
///     out Sorted: int32 id, rstring kind
/// ```
pub fn text(program: &Program) -> String {
    let mut text = format!("graph {}\n", program.name);
    for operator in &program.operators {
        let _ = writeln!(text, "\n{}  {}", operator.name, operator.kind);
        ports(program, operator, &mut text);
    }
    text
}

fn ports(program: &Program, operator: &Operator, text: &mut String) {
    for port in &operator.inputs {
        let sources: Vec<_> = port
            .sources
            .iter()
            .map(|edge| program.stream_name(*edge))
            .collect();
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
