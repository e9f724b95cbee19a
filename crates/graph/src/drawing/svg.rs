//! The graph as one self-contained SVG: no script, no font file, readable in any browser.
//!
//! ```text
//!   column 0        column 1
//!   +---------+     +---------+
//!   | Source  |---->| Filter  |     a box an operator, an arrow a stream
//!   +---------+     +---------+
//! ```

use std::fmt::Write;

use super::layers::layers;
use super::{Line, lines, short};
use crate::Program;

const ROW: u32 = 64;
const BOX_HEIGHT: u32 = 40;
const MARGIN: u32 = 24;
const GAP: u32 = 120;
/// Pixels of a character of the labels, about.
const LETTER: u32 = 8;

const STYLE: &str = "text{font:12px sans-serif;text-anchor:middle;fill:#222}\
    .kind{fill:#666;font-size:11px}.stream{fill:#357;font-size:10px}\
    rect{fill:#f6f8fa;stroke:#57606a}\
    path{fill:none;stroke:#57606a;marker-end:url(#arrow)}.control{stroke-dasharray:4 3}";

/// The program as an SVG document.
pub fn svg(program: &Program) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = Picture::of(program).write(&mut out);
    out
}

struct Picture<'a> {
    program: &'a Program,
    lines: Vec<Line>,
    /// Left and upper corner, by operator.
    corners: Vec<(u32, u32)>,
    /// Width of the box, by operator.
    widths: Vec<u32>,
    size: (u32, u32),
}

impl Picture<'_> {
    fn of(program: &Program) -> Picture<'_> {
        let lines = lines(program);
        let pairs: Vec<_> = lines.iter().map(|l| (l.from, l.to)).collect();
        let placed = layers(program.operators.len(), &pairs);
        let widths: Vec<u32> = program
            .operators
            .iter()
            .map(|o| o.name.chars().count().max(short(&o.kind).chars().count()) as u32)
            .map(|letters| letters * LETTER + 16)
            .collect();
        let mut lefts = vec![MARGIN];
        for column in &placed.columns {
            let widest = column.iter().map(|&o| widths[o as usize]).max();
            lefts.push(lefts[lefts.len() - 1] + widest.unwrap_or(0) + GAP);
        }
        let tallest = placed.columns.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let corners = placed.place.iter();
        let corners = corners.map(|&(c, r)| (lefts[c as usize], MARGIN + r * ROW));
        Picture {
            program,
            lines,
            corners: corners.collect(),
            widths,
            size: (lefts[lefts.len() - 1], MARGIN + tallest * ROW),
        }
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (width, height) = self.size;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\">"
        )?;
        writeln!(out, "<title>{}</title>", escape(&self.program.name))?;
        writeln!(out, "<style>{STYLE}</style>")?;
        writeln!(
            out,
            "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0 0 8 4 0 8z\" style=\"fill:#57606a;stroke:none\"/></marker></defs>"
        )?;
        self.lines
            .iter()
            .try_for_each(|line| self.line(line, out))?;
        (0..self.corners.len()).try_for_each(|at| self.operator(at, out))?;
        writeln!(out, "</svg>")
    }

    fn operator(&self, at: usize, out: &mut String) -> std::fmt::Result {
        let operator = &self.program.operators[at];
        let ((x, y), width) = (self.corners[at], self.widths[at]);
        let middle = x + width / 2;
        writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"4\"/>\
             <text x=\"{middle}\" y=\"{}\">{}</text>\
             <text class=\"kind\" x=\"{middle}\" y=\"{}\">{}</text>",
            y + 17,
            escape(&operator.name),
            y + 32,
            escape(short(&operator.kind)),
        )
    }

    fn line(&self, line: &Line, out: &mut String) -> std::fmt::Result {
        let from = self.corners[line.from.0 as usize];
        let to = self.corners[line.to.0 as usize];
        let start = (
            from.0 + self.widths[line.from.0 as usize],
            from.1 + BOX_HEIGHT / 2,
        );
        let end = (to.0, to.1 + BOX_HEIGHT / 2);
        let bend = GAP / 2;
        let class = if line.is_control {
            " class=\"control\""
        } else {
            ""
        };
        writeln!(
            out,
            "<path{class} d=\"M{} {}C{} {} {} {} {} {}\"/>\
             <text class=\"stream\" x=\"{}\" y=\"{}\">{}</text>",
            start.0,
            start.1,
            start.0 + bend,
            start.1,
            i64::from(end.0) - i64::from(bend),
            end.1,
            end.0,
            end.1,
            (start.0 + end.0) / 2,
            (start.1 + end.1) / 2 - 4,
            escape(&line.stream),
        )
    }
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
