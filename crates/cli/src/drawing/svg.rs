//! The graph as one self-contained SVG: no script, no font file, readable in any browser.
//!
//! ```text
//!   host, with a plan
//!     process, with a plan
//!     composite
//!       +---------+ Lines     +---------+
//!       | Source  |---------->| Filter  |     one box an operator, or several that are alike
//!       +---------+           +---------+
//!   legend
//! ```

use std::fmt::Write;

use super::DrawnProgram;
use super::legend::Legend;
use super::nested_layout::{BoxBounds, LayoutBox, NestedLayout, nested_layout};
use super::picture::{BoxKind, LINE_HEIGHT, Picture, PictureBox, TEXT_MARGIN};
use super::profile_costs::line_width;

/// Pixels between the edge of the drawing and what it shows.
const MARGIN: u32 = 24;

/// Pixels that a curve takes to turn.
const BEND: u32 = 28;

/// Pixels below the lower of two boxes at which an arrow leads back.
const BACK_GAP: u32 = 10;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}\
    .small{font-size:11px;fill:#444}.stream{font-size:11px;fill:#245}\
    rect{fill:#f6f8fa;stroke:#57606a}\
    .host{fill:#eef1f4;stroke-dasharray:6 3}.process{fill:#fff}\
    .composite{fill:#57606a;fill-opacity:.04;stroke:#8b949e;stroke-dasharray:2 3}\
    path{fill:none;stroke:#57606a}.edge{marker-end:url(#arrow)}\
    .crossing{stroke:#0072b2;stroke-width:2.5}.control{stroke-dasharray:4 3}";

/// Draws the program as an SVG document: with a plan, in boxes for its processes and hosts; with a
/// profile, coloured by processor time, and with arrows as wide as their rates.
pub fn svg(drawn: DrawnProgram<'_>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = SvgDrawing::new(drawn).write(&mut out);
    out
}

struct SvgDrawing<'a> {
    name: &'a str,
    picture: Picture,
    layout: NestedLayout,
    legend: Legend,
    has_profile: bool,
}

impl<'a> SvgDrawing<'a> {
    fn new(drawn: DrawnProgram<'a>) -> SvgDrawing<'a> {
        let picture = Picture::new(drawn);
        let boxes: Vec<LayoutBox> = picture.boxes.iter().map(|one| one.layout).collect();
        let arrows = picture.arrows.iter();
        let arrows = arrows.map(|arrow| (picture.outlets[arrow.outlet].from, arrow.to));
        SvgDrawing {
            name: &drawn.program.name,
            layout: nested_layout(&boxes, &arrows.collect::<Vec<_>>()),
            legend: Legend::new(&picture, drawn.plan.is_some(), drawn.profile.is_some()),
            has_profile: drawn.profile.is_some(),
            picture,
        }
    }

    /// The bounds of a box in the drawing, with the room for its outlets.
    fn bounds(&self, at: usize) -> BoxBounds {
        let bounds = self.layout.bounds[at];
        BoxBounds {
            x: bounds.x + MARGIN,
            y: bounds.y + MARGIN,
            ..bounds
        }
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (legend_width, legend_height) = self.legend.size();
        let width = self.layout.size.0.max(legend_width) + 2 * MARGIN;
        let legend_top = self.layout.size.1 + 2 * MARGIN;
        let below = if legend_height > 0 {
            legend_height + MARGIN
        } else {
            0
        };
        let height = legend_top + below;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\">"
        )?;
        writeln!(out, "<title>{}</title>", escape(self.name))?;
        writeln!(out, "<style>{STYLE}</style>")?;
        writeln!(
            out,
            "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0 0 8 4 0 8z\" style=\"fill:#57606a;stroke:none\"/></marker></defs>"
        )?;
        // A white drawing can be read on dark pages, too.
        writeln!(
            out,
            "<path d=\"M0 0H{width}V{height}H0z\" style=\"fill:#fff;stroke:none\"/>"
        )?;
        let is_operator = |one: &PictureBox| one.kind == BoxKind::Operator;
        let boxes = || self.picture.boxes.iter().enumerate();
        for (at, one) in boxes().filter(|(_, one)| !is_operator(one)) {
            self.container(at, one, out)?;
        }
        // Arrows pass below boxes where they have to.
        (0..self.picture.arrows.len()).try_for_each(|at| self.arrow(at, out))?;
        for (at, one) in boxes().filter(|(_, one)| is_operator(one)) {
            self.operator(at, one, out)?;
        }
        for outlet in &self.picture.outlets {
            let (x, y) = self.outlet_place(outlet.from, outlet.y);
            let label = escape(&outlet.label);
            writeln!(
                out,
                "<text class=\"stream\" x=\"{}\" y=\"{}\">{label}</text>",
                x + TEXT_MARGIN / 2,
                y - 4
            )?;
        }
        self.legend.write((MARGIN, legend_top), out)?;
        writeln!(out, "</svg>")
    }

    /// The point at which a stream leaves its box.
    fn outlet_place(&self, from: usize, y: u32) -> (u32, u32) {
        let (bounds, outlet_width) = (self.bounds(from), self.picture.boxes[from].outlet_width);
        (bounds.x + bounds.width - outlet_width, bounds.y + y)
    }

    fn container(&self, at: usize, one: &PictureBox, out: &mut String) -> std::fmt::Result {
        let bounds = self.bounds(at);
        let class = match one.kind {
            BoxKind::Host => "host",
            BoxKind::Process => "process",
            BoxKind::Composite | BoxKind::Operator => "composite",
        };
        self.rectangle(class, "", bounds, out)?;
        write!(out, "<title>{}</title></rect>", escape(&one.title))?;
        let head = one
            .lines
            .iter()
            .zip((bounds.y + LINE_HEIGHT..).step_by(LINE_HEIGHT as usize));
        let notes_top = bounds.y + bounds.height - one.notes.len() as u32 * LINE_HEIGHT;
        let notes = one
            .notes
            .iter()
            .zip((notes_top + 6..).step_by(LINE_HEIGHT as usize));
        let first = one.lines.first();
        for (line, y) in head.chain(notes) {
            let class = if Some(line) == first { "name" } else { "small" };
            text(class, (bounds.x + TEXT_MARGIN, y), line, out)?;
        }
        writeln!(out)
    }

    fn operator(&self, at: usize, one: &PictureBox, out: &mut String) -> std::fmt::Result {
        let bounds = self.bounds(at);
        let shown = BoxBounds {
            width: bounds.width - one.outlet_width,
            ..bounds
        };
        let fill = one.shade.map_or_else(String::new, |shade| {
            format!(" style=\"fill:{}\"", shade.colour())
        });
        self.rectangle("operator", &format!(" rx=\"4\"{fill}"), shown, out)?;
        write!(out, "<title>{}</title></rect>", escape(&one.title))?;
        let lines = one
            .lines
            .iter()
            .zip((bounds.y + LINE_HEIGHT..).step_by(LINE_HEIGHT as usize));
        for (at, (line, y)) in lines.enumerate() {
            let class = if at == 0 { "name" } else { "small" };
            text(class, (bounds.x + TEXT_MARGIN, y), line, out)?;
        }
        writeln!(out)
    }

    /// Begins a rectangle; more attributes may follow the bounds.
    fn rectangle(
        &self,
        class: &str,
        more: &str,
        bounds: BoxBounds,
        out: &mut String,
    ) -> std::fmt::Result {
        let BoxBounds {
            x,
            y,
            width,
            height,
        } = bounds;
        write!(
            out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"\
             {more}>"
        )
    }

    fn arrow(&self, at: usize, out: &mut String) -> std::fmt::Result {
        let arrow = &self.picture.arrows[at];
        let outlet = &self.picture.outlets[arrow.outlet];
        let mut class = "edge".to_owned();
        for (word, is_so) in [
            ("crossing", arrow.is_crossing),
            ("control", arrow.is_control),
        ] {
            if is_so {
                class += &format!(" {word}");
            }
        }
        let width = outlet.rate.filter(|_| self.has_profile).map(|rate| {
            let width = line_width(rate, self.picture.fastest_rate);
            format!(" style=\"stroke-width:{width}\"")
        });
        let (x, y) = self.outlet_place(outlet.from, outlet.y);
        let room = self.bounds(outlet.from);
        let start = (room.x + room.width, y);
        let end_box = self.bounds(arrow.to);
        let end = (end_box.x, end_box.y + end_box.height / 2);
        let width = width.unwrap_or_default();
        write!(
            out,
            "<path class=\"{class}\"{width} d=\"M{x} {y}H{}",
            start.0
        )?;
        if self.layout.leads_back[at] {
            let below = (room.y + room.height).max(end_box.y + end_box.height) + BACK_GAP;
            let (right, left) = (start.0 + BEND / 2, end.0.saturating_sub(BEND / 2));
            write!(out, "C{right} {y} {right} {below} {} {below}", start.0)?;
            write!(out, "H{}C{left} {below} {left} {1} {0} {1}", end.0, end.1)?;
        } else {
            let mut from = start;
            for pass in &self.layout.passes[at] {
                let next = (pass.from_x + MARGIN, pass.y + MARGIN);
                curve(from, next, out)?;
                from = (pass.to_x + MARGIN, next.1);
                write!(out, "H{}", from.0)?;
            }
            curve(from, end, out)?;
        }
        writeln!(out, "\"/>")
    }
}

fn text(class: &str, (x, y): (u32, u32), line: &str, out: &mut String) -> std::fmt::Result {
    let line = escape(line);
    write!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{line}</text>"
    )
}

/// A curve that leaves to the right and arrives from the left.
fn curve(from: (u32, u32), to: (u32, u32), out: &mut String) -> std::fmt::Result {
    let bend = BEND.min(to.0.saturating_sub(from.0) / 2);
    let (before, (x, y)) = (to.0 - bend, to);
    write!(out, "C{} {} {before} {y} {x} {y}", from.0 + bend, from.1)
}

/// Text as XML has it. Characters that XML does not allow become U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
