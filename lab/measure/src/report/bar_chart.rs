//! Bars of ratios: a row per result, and a line at 1, the level of the control.

use std::fmt::Display;

use super::axis_scale::AxisScale;
use super::draw_chart::{LEFT, WIDTH};
use super::markup::Markup;
use super::number::three_digits;

/// A bar chart as data.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// Heading above the chart.
    pub title: String,
    /// Bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar with its label.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Label at the left: the result that was measured.
    pub name: String,
    /// Ratio of the result to its control.
    pub ratio: f64,
    /// Text of the tooltip.
    pub note: String,
}

const TOP: f64 = 44.0;
const ROW_HEIGHT: f64 = 26.0;
const BAR_HEIGHT: f64 = 14.0;
/// Left end of the bars in pixels; labels are to the left of it.
const BARS_LEFT: f64 = LEFT + 210.0;
/// Width in pixels that is kept free for the number behind the longest bar.
const VALUE_LABEL_WIDTH: f64 = 70.0;
/// Labels of more characters are cut; the tooltip has them whole.
const NAME_MAX: usize = 38;

impl BarChart {
    /// Draws the chart as an SVG element.
    pub fn draw(&self) -> String {
        let bottom = TOP + ROW_HEIGHT * self.bars.len() as f64;
        let ratios = self.bars.iter().map(|bar| bar.ratio).chain([1.0]);
        let to = ratios.fold(0.0, f64::max) * 1.05;
        let scale = AxisScale::Linear { from: 0.0, to };
        let mut svg = Markup::default();
        svg.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("viewBox", &format!("0 0 {WIDTH} {}", bottom + 44.0)),
                ("class", &"chart bars"),
                ("role", &"group"),
                ("aria-label", &self.title),
            ],
        );
        let title: &[(&str, &dyn Display)] = &[("class", &"title"), ("x", &0), ("y", &16)];
        svg.line().text_element("text", title, &self.title).line();
        // Behind the bars, so that it crosses no number.
        draw_parity_line(&mut svg, ratio_x(scale, 1.0), bottom);
        for (row, bar) in self.bars.iter().enumerate() {
            draw_bar(&mut svg, bar, TOP + ROW_HEIGHT * row as f64, scale);
        }
        svg.close();
        svg.finish()
    }
}

fn ratio_x(scale: AxisScale, ratio: f64) -> f64 {
    BARS_LEFT + scale.position(ratio) * (WIDTH - VALUE_LABEL_WIDTH - BARS_LEFT)
}

fn draw_bar(svg: &mut Markup, bar: &Bar, top: f64, scale: AxisScale) {
    let end = ratio_x(scale, bar.ratio);
    let middle = top + ROW_HEIGHT / 2.0;
    let label = format!("{}: {} of its control", bar.name, three_digits(bar.ratio));
    svg.open(
        "g",
        &[
            ("class", &"bar c0"),
            ("role", &"img"),
            ("aria-label", &label),
        ],
    );
    svg.text_element("title", &[], &bar.note);
    let mut name: String = bar.name.chars().take(NAME_MAX).collect();
    if name.len() < bar.name.len() {
        name.push('…');
    }
    let beside: &[(&str, &dyn Display)] = &[
        ("class", &"tick y"),
        ("x", &(BARS_LEFT - 10.0)),
        ("y", &middle),
        ("dy", &"0.32em"),
    ];
    svg.text_element("text", beside, name);
    svg.empty_element(
        "rect",
        &[
            ("x", &BARS_LEFT),
            ("y", &(middle - BAR_HEIGHT / 2.0)),
            ("width", &format!("{:.1}", (end - BARS_LEFT).max(1.0))),
            ("height", &BAR_HEIGHT),
            ("rx", &2),
        ],
    );
    let behind: &[(&str, &dyn Display)] = &[
        ("class", &"value"),
        ("x", &format!("{:.1}", end + 6.0)),
        ("y", &middle),
        ("dy", &"0.32em"),
    ];
    svg.text_element("text", behind, three_digits(bar.ratio))
        .close()
        .line();
}

/// Draws the line at ratio 1, where results equal their controls.
fn draw_parity_line(svg: &mut Markup, at: f64, bottom: f64) {
    let at = format!("{at:.1}");
    svg.empty_element(
        "line",
        &[
            ("class", &"level"),
            ("x1", &at),
            ("x2", &at),
            ("y1", &(TOP - 6.0)),
            ("y2", &(bottom + 4.0)),
        ],
    );
    let below: &[(&str, &dyn Display)] =
        &[("class", &"tick x"), ("x", &at), ("y", &(bottom + 20.0))];
    svg.text_element("text", below, "1 = control").line();
}
