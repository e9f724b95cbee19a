//! Bars of ratios: a row a result, a line at 1 where the control stands.

use std::fmt::Display;

use super::draw::{LEFT, WIDTH};
use super::markup::Markup;
use super::number::short;
use super::scale::Scale;

/// What one picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// Its heading.
    pub title: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What was measured.
    pub name: String,
    /// Of it to its control.
    pub ratio: f64,
    /// What its tooltip says.
    pub note: String,
}

const TOP: f64 = 44.0;
const ROW: f64 = 26.0;
const THICK: f64 = 14.0;
/// Where bars begin: names stand to the left.
const BEGIN: f64 = LEFT + 210.0;
/// Room for the number behind the longest bar.
const BEHIND: f64 = 70.0;
/// Names longer than this are cut; the tooltip has them whole.
const NAME_MAX: usize = 38;

impl Bars {
    /// The picture as an element of SVG.
    pub fn draw(&self) -> String {
        let bottom = TOP + ROW * self.bars.len() as f64;
        let ratios = self.bars.iter().map(|bar| bar.ratio).chain([1.0]);
        let to = ratios.fold(0.0, f64::max) * 1.05;
        let scale = Scale::Linear { from: 0.0, to };
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
        svg.line().leaf("text", title, &self.title).line();
        // Behind the bars, so that it crosses no number.
        level(&mut svg, x(scale, 1.0), bottom);
        for (row, bar) in self.bars.iter().enumerate() {
            draw_bar(&mut svg, bar, TOP + ROW * row as f64, scale);
        }
        svg.close();
        svg.finish()
    }
}

fn x(scale: Scale, ratio: f64) -> f64 {
    BEGIN + scale.place(ratio) * (WIDTH - BEHIND - BEGIN)
}

fn draw_bar(svg: &mut Markup, bar: &Bar, top: f64, scale: Scale) {
    let end = x(scale, bar.ratio);
    let middle = top + ROW / 2.0;
    let label = format!("{}: {} of its control", bar.name, short(bar.ratio));
    svg.open(
        "g",
        &[
            ("class", &"bar c0"),
            ("role", &"img"),
            ("aria-label", &label),
        ],
    );
    svg.leaf("title", &[], &bar.note);
    let mut name: String = bar.name.chars().take(NAME_MAX).collect();
    if name.len() < bar.name.len() {
        name.push('…');
    }
    let beside: &[(&str, &dyn Display)] = &[
        ("class", &"tick y"),
        ("x", &(BEGIN - 10.0)),
        ("y", &middle),
        ("dy", &"0.32em"),
    ];
    svg.leaf("text", beside, name);
    svg.empty(
        "rect",
        &[
            ("x", &BEGIN),
            ("y", &(middle - THICK / 2.0)),
            ("width", &format!("{:.1}", (end - BEGIN).max(1.0))),
            ("height", &THICK),
            ("rx", &2),
        ],
    );
    let behind: &[(&str, &dyn Display)] = &[
        ("class", &"value"),
        ("x", &format!("{:.1}", end + 6.0)),
        ("y", &middle),
        ("dy", &"0.32em"),
    ];
    svg.leaf("text", behind, short(bar.ratio)).close().line();
}

/// The line where results are level with their controls.
fn level(svg: &mut Markup, at: f64, bottom: f64) {
    let at = format!("{at:.1}");
    svg.empty(
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
    svg.leaf("text", below, "1 = control").line();
}
