//! The graph in the language of Graphviz.

use std::fmt::Write;

use super::{lines, short};
use crate::Program;

/// The program as a `digraph`: a box an operator, an arrow a stream, dashed into a control port.
pub fn dot(program: &Program) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(program, &mut out);
    out
}

fn write(program: &Program, out: &mut String) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quote(&program.name))?;
    writeln!(
        out,
        "  rankdir=LR; node [shape=box, fontname=\"sans-serif\"];"
    )?;
    for (at, operator) in program.operators.iter().enumerate() {
        let label = quote(&format!("{}\n{}", operator.name, short(&operator.kind)));
        writeln!(out, "  o{at} [label={label}];")?;
    }
    for line in lines(program) {
        let style = if line.is_control {
            ", style=dashed"
        } else {
            ""
        };
        let label = quote(&line.stream);
        writeln!(
            out,
            "  o{} -> o{} [label={label}{style}];",
            line.from.0, line.to.0
        )?;
    }
    writeln!(out, "}}")
}

fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
