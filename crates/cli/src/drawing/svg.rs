//! The graph as one self-contained SVG: no script, no font file, readable in any browser.
//!
//! ```text
//!   column 0        column 1
//!   +---------+     +---------+
//!   | Source  |---->| Filter  |     one box an operator, one arrow a stream
//!   +---------+     +---------+
//! ```

use std::fmt::Write;

use graph::{OperatorId, Plan, Program};

use super::drawn_plan::DrawnPlan;
use super::layered_layout::{GridCell, LayeredLayout, layered_layout};
use super::{DrawnEdge, drawn_edges, unqualified_name};

/// Pixels from the top of one row to the top of the next.
const ROW_HEIGHT: u32 = 64;

/// Pixels of an operator's box: two lines of label.
const BOX_HEIGHT: u32 = 40;

/// Pixels between the edge of the drawing and its first row and column.
const MARGIN: u32 = 24;

/// Pixels between two columns: room for an arrow and the name of its stream.
const COLUMN_GAP: u32 = 120;

/// Estimated pixels of one character of a label; sizes the boxes.
const LETTER_WIDTH: u32 = 8;

const STYLE: &str = "text{font:12px sans-serif;text-anchor:middle;fill:#222}\
    .kind{fill:#666;font-size:11px}.stream{fill:#357;font-size:10px}\
    rect{fill:#f6f8fa;stroke:#57606a}\
    path{fill:none;stroke:#57606a;marker-end:url(#arrow)}.control{stroke-dasharray:4 3}";

/// Style rules that are added when the drawing shows PEs.
const CROSSING_STYLE: &str = ".crossing{stroke-width:2.5}";

/// Degrees between the colours of one PE and the next: the golden angle, so that near numbers have
/// colours far apart.
const HUE_STEP: u64 = 137;

/// Draws the program as an SVG document. With a plan, each box has the number and the colour of its
/// PE, and arrows between PEs are thick.
pub fn svg(program: &Program, plan: Option<&Plan>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = SvgDrawing::new(program, DrawnPlan::new(program, plan)).write(&mut out);
    out
}

struct SvgDrawing<'a> {
    program: &'a Program,
    plan: DrawnPlan<'a>,
    edges: Vec<DrawnEdge>,
    layout: LayeredLayout,
    /// Left end and width of each column, in pixels.
    columns: Vec<(u32, u32)>,
    /// Width of each operator's box, in pixels.
    widths: Vec<u32>,
    /// Width and height of the drawing, in pixels.
    size: (u32, u32),
}

impl<'a> SvgDrawing<'a> {
    fn new(program: &'a Program, plan: DrawnPlan<'a>) -> SvgDrawing<'a> {
        let edges = drawn_edges(program, &plan);
        let pairs: Vec<_> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let layout = layered_layout(program.operators.len(), &pairs);
        let letters = |text: &str| text.chars().count() as u32;
        let widths: Vec<u32> = (0..)
            .zip(&program.operators)
            .map(|(at, o)| {
                let below = caption(&plan, OperatorId(at), &o.kind);
                letters(&o.name).max(letters(&below)) * LETTER_WIDTH + 16
            })
            .collect();
        let mut widest = vec![0; layout.column_heights.len()];
        for (&(column, _), &width) in layout.operator_cells.iter().zip(&widths) {
            let widest: &mut u32 = &mut widest[column as usize];
            *widest = (*widest).max(width);
        }
        let mut left = MARGIN;
        let columns = widest.into_iter().map(|width| {
            let column = (left, width);
            left += width + COLUMN_GAP;
            column
        });
        let columns: Vec<_> = columns.collect();
        let tallest = layout
            .column_heights
            .iter()
            .max()
            .map_or(0, |&rows| rows as u32);
        let size = (left, MARGIN + tallest * ROW_HEIGHT);
        SvgDrawing {
            program,
            plan,
            edges,
            layout,
            columns,
            widths,
            size,
        }
    }

    /// The upper left corner of a cell, in pixels.
    fn corner(&self, (column, row): GridCell) -> (u32, u32) {
        (self.columns[column as usize].0, MARGIN + row * ROW_HEIGHT)
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (width, height) = self.size;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\">"
        )?;
        writeln!(out, "<title>{}</title>", escape(&self.program.name))?;
        let crossing = match self.plan.pes().next() {
            Some(_) => CROSSING_STYLE,
            None => "",
        };
        writeln!(out, "<style>{STYLE}{crossing}</style>")?;
        writeln!(
            out,
            "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0 0 8 4 0 8z\" style=\"fill:#57606a;stroke:none\"/></marker></defs>"
        )?;
        let edges = self.edges.iter().zip(&self.layout.edge_cells);
        for (edge, bends) in edges {
            self.edge(edge, bends, out)?;
        }
        (0..self.widths.len()).try_for_each(|at| self.operator(at, out))?;
        writeln!(out, "</svg>")
    }

    fn operator(&self, at: usize, out: &mut String) -> std::fmt::Result {
        let operator = &self.program.operators[at];
        let ((x, y), width) = (self.corner(self.layout.operator_cells[at]), self.widths[at]);
        let middle = x + width / 2;
        let id = OperatorId(at as u32);
        let fill = match self.plan.pe_of(id) {
            Some(pe) => {
                let hue = u64::from(pe.0) * HUE_STEP % 360;
                format!(" style=\"fill:hsl({hue},70%,92%)\"")
            }
            None => String::new(),
        };
        writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"4\"{fill}/>\
             <text x=\"{middle}\" y=\"{}\">{}</text>\
             <text class=\"kind\" x=\"{middle}\" y=\"{}\">{}</text>",
            y + 17,
            escape(&operator.name),
            y + 32,
            escape(&caption(&self.plan, id, &operator.kind)),
        )
    }

    fn edge(&self, edge: &DrawnEdge, bends: &[GridCell], out: &mut String) -> std::fmt::Result {
        let (from, to) = (edge.from.0 as usize, edge.to.0 as usize);
        let (x, y) = self.corner(self.layout.operator_cells[from]);
        let start = (x + self.widths[from], y + BOX_HEIGHT / 2);
        let class = match (edge.is_control, edge.medium.is_some()) {
            (true, true) => " class=\"control crossing\"",
            (true, false) => " class=\"control\"",
            (false, true) => " class=\"crossing\"",
            (false, false) => "",
        };
        write!(out, "<path{class} d=\"M{} {}", start.0, start.1)?;
        let mut at = start;
        for &bend in bends {
            let (x, y) = self.corner(bend);
            let y = y + BOX_HEIGHT / 2;
            curve(at, (x, y), out)?;
            at = (x + self.columns[bend.0 as usize].1, y);
            write!(out, "H{}", at.0)?;
        }
        let (x, y) = self.corner(self.layout.operator_cells[to]);
        let end = (x, y + BOX_HEIGHT / 2);
        curve(at, end, out)?;
        let (x, y) = match bends.first() {
            Some(&bend) => {
                let (x, y) = self.corner(bend);
                (x + self.columns[bend.0 as usize].1 / 2, y + BOX_HEIGHT / 2)
            }
            None => ((start.0 + end.0) / 2, (start.1 + end.1) / 2),
        };
        let stream = escape(&edge.label());
        writeln!(
            out,
            "\"/><text class=\"stream\" x=\"{x}\" y=\"{}\">{stream}</text>",
            y - 4
        )
    }
}

/// The second line of a box: the kind of the operator, and its PE if there is a plan.
fn caption(plan: &DrawnPlan<'_>, id: OperatorId, kind: &str) -> String {
    match plan.pe_of(id) {
        Some(pe) => format!("{}, pe {pe}", unqualified_name(kind)),
        None => unqualified_name(kind).to_owned(),
    }
}

/// A curve that leaves to the right and arrives from the left.
fn curve(from: (u32, u32), to: (u32, u32), out: &mut String) -> std::fmt::Result {
    let bend = COLUMN_GAP / 2;
    let before = i64::from(to.0) - i64::from(bend);
    let (x, y) = to;
    write!(out, "C{} {} {before} {y} {x} {y}", from.0 + bend, from.1)
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
