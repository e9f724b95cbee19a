//! Draws a chart as SVG: frame, grid, bands, series, legend.
//!
//! ```text
//!  0      LEFT                 LEFT+PLOT_WIDTH        WIDTH
//!  +--------------------------------------------------+ 0
//!  | title                                            |
//!  |  y    +-------------------+  legend: a heading   | TOP
//!  |       |                   |  a group, a row a    |
//!  |       |                   |  series              |
//!  |       +-------------------+                      | TOP+plot height
//!  |        x ticks, x title                          |
//!  +--------------------------------------------------+ height
//! ```
//! The legend is a list beside the plot, and the plot is as high as the list needs: no label can lie
//! on another, however many series there are.

use std::fmt::Write;

use super::chart::{Chart, Look, Point, Series};
use super::markup::Markup;
use super::number::{count, short};
use super::scale::Scale;

/// Width of the picture.
pub const WIDTH: f64 = 920.0;
/// Where the plot begins from the left.
pub const LEFT: f64 = 68.0;
/// Where the plot begins from the top.
pub const TOP: f64 = 44.0;
/// Width of the plot.
pub const PLOT_WIDTH: f64 = 570.0;
/// Height of the plot at least.
pub const PLOT_HEIGHT_MIN: f64 = 300.0;
/// Points stay away from the frame by so much, left and right.
pub const INSET: f64 = 14.0;

const BELOW: f64 = 58.0;
const LEGEND_GAP: f64 = 26.0;
const ROW: f64 = 20.0;
const GROUP_GAP: f64 = 10.0;
const SWATCH: f64 = 30.0;
/// How many colours and marker shapes the page has.
pub const COLOURS: usize = 8;

/// The chart as an element of SVG.
pub fn draw(chart: &Chart) -> String {
    let groups = groups(chart);
    let legend: f64 = groups
        .iter()
        .map(|(_, rows)| ROW * (1 + rows.len()) as f64 + GROUP_GAP)
        .sum();
    let frame = Frame {
        x: chart.x_scale(),
        y: chart.y_scale(),
        height: PLOT_HEIGHT_MIN.max(legend),
    };
    let height = TOP + frame.height + BELOW;
    let mut svg = Markup::default();
    svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("viewBox", &format!("0 0 {WIDTH} {height}")),
            ("class", &"chart"),
            ("role", &"group"),
            ("aria-label", &chart.title),
        ],
    );
    let title: &[(&str, &dyn std::fmt::Display)] = &[("class", &"title"), ("x", &0), ("y", &16)];
    svg.line().leaf("text", title, &chart.title).line();
    axes(&mut svg, chart, &frame);
    bands(&mut svg, chart, &frame);
    for series in &chart.series {
        line(&mut svg, series, &frame, chart.y.title);
    }
    keys(&mut svg, &groups);
    svg.close();
    svg.finish()
}

/// Where values stand in the picture.
struct Frame {
    x: Scale,
    y: Scale,
    height: f64,
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        LEFT + INSET + self.x.place(value) * (PLOT_WIDTH - 2.0 * INSET)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (1.0 - self.y.place(value)) * self.height
    }

    fn bottom(&self) -> f64 {
        TOP + self.height
    }

    fn shows(&self, point: &Point) -> bool {
        self.x.shows(point.x) && self.y.shows(point.y)
    }
}

fn axes(svg: &mut Markup, chart: &Chart, frame: &Frame) {
    let (right, bottom) = (LEFT + PLOT_WIDTH, frame.bottom());
    svg.open("g", &[("class", &"axes")]).line();
    for tick in chart.y_ticks() {
        let y = pixels(frame.y(tick));
        let class = if tick == 0.0 { "base" } else { "grid" };
        rule(svg, class, (LEFT, &y), (right, &y));
        let place: &[(&str, &dyn std::fmt::Display)] = &[
            ("class", &"tick y"),
            ("x", &(LEFT - 8.0)),
            ("y", &y),
            ("dy", &"0.32em"),
        ];
        svg.leaf("text", place, label(tick)).line();
    }
    for mark in frame.y.amount_marks() {
        let y = pixels(frame.y(mark));
        rule(svg, "mark", (LEFT - 3.0, &y), (LEFT, &y));
    }
    let bottom_text = pixels(bottom);
    rule(svg, "base", (LEFT, &bottom_text), (right, &bottom_text));
    for tick in chart.x_ticks() {
        let x = pixels(frame.x(tick));
        svg.empty(
            "line",
            &[
                ("class", &"mark"),
                ("x1", &x),
                ("x2", &x),
                ("y1", &bottom),
                ("y2", &(bottom + 5.0)),
            ],
        );
        let place: &[(&str, &dyn std::fmt::Display)] =
            &[("class", &"tick x"), ("x", &x), ("y", &(bottom + 19.0))];
        svg.leaf("text", place, tick).line();
    }
    let middle = LEFT + PLOT_WIDTH / 2.0;
    let below: &[(&str, &dyn std::fmt::Display)] = &[
        ("class", &"axis x"),
        ("x", &middle),
        ("y", &(bottom + 42.0)),
    ];
    svg.leaf("text", below, chart.x.title).line();
    let turned = format!("translate(14 {}) rotate(-90)", TOP + frame.height / 2.0);
    let beside: &[(&str, &dyn std::fmt::Display)] = &[("class", &"axis y"), ("transform", &turned)];
    svg.leaf("text", beside, chart.y_title()).close().line();
}

/// A number beside an axis; from tens of thousands on with a letter, so that it has room.
fn label(tick: f64) -> String {
    if tick >= 10_000.0 {
        count(tick)
    } else {
        short(tick)
    }
}

fn rule(svg: &mut Markup, class: &str, from: (f64, &str), to: (f64, &str)) {
    svg.empty(
        "line",
        &[
            ("class", &class),
            ("x1", &from.0),
            ("y1", &from.1),
            ("x2", &to.0),
            ("y2", &to.1),
        ],
    );
}

fn bands(svg: &mut Markup, chart: &Chart, frame: &Frame) {
    for band in &chart.bands {
        let (top, bottom) = (frame.y(band.to), frame.y(band.from));
        let label = format!("{}: {}", band.group, band.name);
        let class = format!("band c{}", band.colour % COLOURS);
        svg.open(
            "rect",
            &[
                ("class", &class),
                ("x", &LEFT),
                ("y", &pixels(top)),
                ("width", &PLOT_WIDTH),
                // A band that is a single value still shows.
                ("height", &pixels((bottom - top).max(1.5))),
                ("role", &"img"),
                ("aria-label", &label),
            ],
        );
        svg.leaf("title", &[], &label).close().line();
    }
}

fn line(svg: &mut Markup, series: &Series, frame: &Frame, unit: &str) {
    let shown: Vec<&Point> = series.points.iter().filter(|p| frame.shows(p)).collect();
    let label = format!(
        "{}, {}: {}",
        series.name,
        series.group,
        extent(&shown, unit)
    );
    let class = format!(
        "series {} c{}",
        series.look.class(),
        series.colour % COLOURS
    );
    let attributes: &[(&str, &dyn std::fmt::Display)] =
        &[("class", &class), ("role", &"img"), ("aria-label", &label)];
    svg.open("g", attributes).leaf("title", &[], &label);
    if shown.len() > 1 && series.look != Look::PublishedPoints {
        let mut path = String::new();
        for (at, point) in shown.iter().enumerate() {
            let step = if at == 0 { 'M' } else { 'L' };
            let (x, y) = (pixels(frame.x(point.x)), pixels(frame.y(point.y)));
            let _ = write!(path, "{step}{x} {y}");
        }
        svg.empty("path", &[("class", &"line"), ("d", &path)]);
    }
    svg.line();
    // The markers of controls show when they are pointed at; without a line, always.
    let (marker, d) = match (series.look, shown.len()) {
        (Look::Control, 1) => ("marker alone", "M-7 0H7"),
        _ => ("marker", shape(series.colour)),
    };
    for point in shown {
        let (x, y) = (pixels(frame.x(point.x)), pixels(frame.y(point.y)));
        let place = format!("translate({x} {y})");
        svg.open("g", &[("class", &"point"), ("transform", &place)]);
        svg.leaf("title", &[], &point.note);
        runs(svg, point, frame);
        svg.empty("circle", &[("class", &"hit"), ("r", &9)]);
        svg.empty("path", &[("class", &marker), ("d", &d)]);
        svg.close().line();
    }
    svg.close().line();
}

/// A line from the least to the most that a run had: the noise, as far as it can be seen.
fn runs(svg: &mut Markup, point: &Point, frame: &Frame) {
    let Some((low, high)) = point.runs else {
        return;
    };
    if frame.y.shows(low) && frame.y.shows(high) {
        let from = |value: f64| pixels(frame.y(value) - frame.y(point.y));
        svg.empty(
            "line",
            &[("class", &"runs"), ("y1", &from(low)), ("y2", &from(high))],
        );
    }
}

/// What a screen reader says of a series.
fn extent(points: &[&Point], unit: &str) -> String {
    let values = || points.iter().map(|point| point.y);
    match points.len() {
        0 => "no points".to_owned(),
        1 => format!("1 point, {} {unit}", short(points[0].y)),
        count => format!(
            "{count} points, {} to {} {unit}",
            short(values().fold(f64::INFINITY, f64::min)),
            short(values().fold(0.0, f64::max)),
        ),
    }
}

/// Markers tell series apart where colours do not: on paper, and to eyes that see fewer.
fn shape(colour: usize) -> &'static str {
    match colour % COLOURS {
        0 => "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0Z",
        1 => "M-3.2-3.2h6.4v6.4h-6.4Z",
        2 => "M0-4.4L4.2 3H-4.2Z",
        3 => "M0-4.6L4.6 0L0 4.6L-4.6 0Z",
        4 => "M0 4.4L4.2-3H-4.2Z",
        5 => "M-1.4-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8Z",
        6 => "M0-4.4L4.2-1.4L2.6 3.6H-2.6L-4.2-1.4Z",
        _ => "M-4.4-2h8.8v4h-8.8Z",
    }
}

/// A row of the legend.
struct Key<'a> {
    name: &'a str,
    colour: usize,
    /// None for a band.
    look: Option<Look>,
}

/// The legend, measured things first. What is drawn last lies on top, and is named first.
fn groups(chart: &Chart) -> Vec<(&str, Vec<Key<'_>>)> {
    let mut keys: Vec<(&str, Key)> = Vec::new();
    for series in chart.series.iter().rev() {
        let key = Key {
            name: &series.name,
            colour: series.colour,
            look: Some(series.look),
        };
        keys.push((&series.group, key));
    }
    for band in &chart.bands {
        let key = Key {
            name: &band.name,
            colour: band.colour,
            look: None,
        };
        keys.push((&band.group, key));
    }
    keys.sort_by_key(|(_, key)| match key.look {
        Some(look) if look.is_measured() => 0,
        Some(Look::Control) => 1,
        _ => 2,
    });
    let mut groups: Vec<(&str, Vec<Key>)> = Vec::new();
    for (group, key) in keys {
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, rows)) => rows.push(key),
            None => groups.push((group, vec![key])),
        }
    }
    groups
}

fn keys(svg: &mut Markup, groups: &[(&str, Vec<Key>)]) {
    let x = LEFT + PLOT_WIDTH + LEGEND_GAP;
    let mut y = TOP + 6.0;
    svg.open("g", &[("class", &"legend")]).line();
    for (group, rows) in groups {
        let place: &[(&str, &dyn std::fmt::Display)] =
            &[("class", &"group"), ("x", &x), ("y", &y), ("dy", &"0.32em")];
        svg.leaf("text", place, group).line();
        for row in rows {
            y += ROW;
            key(svg, row, x, y);
        }
        y += ROW + GROUP_GAP;
    }
    svg.close();
}

fn key(svg: &mut Markup, key: &Key, x: f64, y: f64) {
    let colour = key.colour % COLOURS;
    let class = match key.look {
        Some(look) => format!("key {} c{colour}", look.class()),
        None => format!("key c{colour}"),
    };
    let place = format!("translate({x} {y})");
    svg.open("g", &[("class", &class), ("transform", &place)]);
    match key.look {
        Some(look) => {
            if look != Look::PublishedPoints {
                svg.empty(
                    "path",
                    &[("class", &"line"), ("d", &format!("M0 0H{SWATCH}"))],
                );
            }
            let middle = format!("translate({} 0)", SWATCH / 2.0);
            svg.open("g", &[("transform", &middle)]);
            svg.empty("path", &[("class", &"marker"), ("d", &shape(colour))]);
            svg.close();
        }
        None => {
            let bar: &[(&str, &dyn std::fmt::Display)] = &[
                ("class", &"band"),
                ("y", &-6),
                ("width", &SWATCH),
                ("height", &12),
            ];
            svg.empty("rect", bar);
        }
    }
    let beside: &[(&str, &dyn std::fmt::Display)] = &[("x", &(SWATCH + 8.0)), ("dy", &"0.32em")];
    svg.leaf("text", beside, cut(key.name)).close().line();
}

/// A name as far as there is room; its series has it whole.
fn cut(name: &str) -> String {
    const LETTERS_MAX: usize = 30;
    match name.chars().count() > LETTERS_MAX {
        true => name.chars().take(LETTERS_MAX - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// A tenth of a pixel is as fine as a picture needs.
fn pixels(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
