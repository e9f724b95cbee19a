//! The legend below a picture: what colours, widths and dashes mean.

use std::fmt::Write;

use super::picture::{Picture, small_text_width};
use super::profile_costs::{CostShade, width_legend};

/// Pixels of height that a line of the legend takes.
const LINE_HEIGHT: u32 = 22;

/// Pixels of width of a sample of a colour or of an arrow.
const SAMPLE_WIDTH: u32 = 28;

/// Pixels between two entries.
const ENTRY_GAP: u32 = 20;

/// The sample of an entry.
enum LegendSample {
    /// No sample: words alone.
    None,
    /// A box of a colour.
    Colour(&'static str),
    /// A line of a class and a width in pixels.
    Line(&'static str, f64),
}

/// An entry with its words.
struct DrawnLegendEntry {
    sample: LegendSample,
    words: String,
}

/// The legend of a picture: lines of entries.
pub(super) struct Legend {
    lines: Vec<Vec<DrawnLegendEntry>>,
}

impl Legend {
    /// The legend of what a picture shows; without plan and profile it is empty.
    pub fn new(picture: &Picture, has_plan: bool, has_profile: bool) -> Legend {
        let words = |words: &str| DrawnLegendEntry {
            sample: LegendSample::None,
            words: words.to_owned(),
        };
        let line = |class, width, text: &str| DrawnLegendEntry {
            sample: LegendSample::Line(class, width),
            words: text.to_owned(),
        };
        let mut lines = Vec::new();
        if has_profile {
            let shades = CostShade::legend().map(|(shade, text)| DrawnLegendEntry {
                sample: LegendSample::Colour(shade.colour()),
                words: text.to_owned(),
            });
            let title = words("share of the processor time:");
            lines.push([title].into_iter().chain(shades).collect());
            let widths = width_legend().map(|(width, text)| line("sample", width, &text));
            let title = words("tuples a second, as a part of the fastest stream's:");
            lines.push([title].into_iter().chain(widths).collect());
        }
        if has_plan {
            lines.push(vec![
                line("sample", 1.0, "within a process"),
                line("sample crossing", 2.5, "from one process to another"),
            ]);
        }
        if picture.arrows.iter().any(|arrow| arrow.is_control) {
            lines.push(vec![line("sample control", 1.0, "into a control port")]);
        }
        if picture.is_collapsed {
            lines.push(vec![words(
                "× N: N operators, streams or processes that come from one place in the source and \
                 are joined alike",
            )]);
        }
        Legend { lines }
    }

    /// Width and height of the legend in pixels.
    pub fn size(&self) -> (u32, u32) {
        let widths = self.lines.iter().map(|line| {
            let entries = line.iter().map(DrawnLegendEntry::width);
            entries.map(|width| width + ENTRY_GAP).sum()
        });
        let width = widths.max().unwrap_or_default();
        (width, self.lines.len() as u32 * LINE_HEIGHT)
    }

    /// Writes the legend with its upper left corner at a place.
    pub fn write(&self, (left, top): (u32, u32), out: &mut String) -> std::fmt::Result {
        for (line, y) in self.lines.iter().zip((top..).step_by(LINE_HEIGHT as usize)) {
            let mut x = left;
            for entry in line {
                entry.write((x, y), out)?;
                x += entry.width() + ENTRY_GAP;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

impl DrawnLegendEntry {
    fn sample_width(&self) -> u32 {
        match self.sample {
            LegendSample::None => 0,
            LegendSample::Colour(_) | LegendSample::Line(..) => SAMPLE_WIDTH + 4,
        }
    }

    fn width(&self) -> u32 {
        self.sample_width() + small_text_width(&self.words)
    }

    fn write(&self, (x, y): (u32, u32), out: &mut String) -> std::fmt::Result {
        match self.sample {
            LegendSample::None => {}
            LegendSample::Colour(colour) => write!(
                out,
                "<rect class=\"sample\" x=\"{x}\" y=\"{y}\" width=\"{SAMPLE_WIDTH}\" height=\"14\" \
                 style=\"fill:{colour}\"/>"
            )?,
            LegendSample::Line(class, width) => write!(
                out,
                "<path class=\"{class}\" d=\"M{x} {}h{SAMPLE_WIDTH}\" \
                 style=\"stroke-width:{width}\"/>",
                y + 7
            )?,
        }
        write!(
            out,
            "<text class=\"small\" x=\"{}\" y=\"{}\">{}</text>",
            x + self.sample_width(),
            y + 11,
            self.words
        )
    }
}
