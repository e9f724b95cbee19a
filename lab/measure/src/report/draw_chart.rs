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
//! The legend is a list beside the plot, and the plot is as high as the list needs: no label can
//! lie on another, however many series there are.

use std::fmt::Write;

use super::axis_scale::AxisScale;
use super::chart::{Chart, ChartPoint, ChartSeries, SeriesStyle};
use super::markup::Markup;
use super::number::{count, three_digits};

/// Width of the picture in pixels.
pub const WIDTH: f64 = 920.0;
/// Left edge of the plot in pixels; tick labels are to the left of it.
pub const LEFT: f64 = 68.0;
/// Upper edge of the plot in pixels; the title is above it.
pub const TOP: f64 = 44.0;
/// Width of the plot in pixels; the legend is to the right of it.
pub const PLOT_WIDTH: f64 = 570.0;
/// Height of the plot in pixels at least; a long legend makes it higher.
pub const PLOT_HEIGHT_MIN: f64 = 300.0;
/// Pixels between the frame and the outermost points, left and right.
pub const INSET: f64 = 14.0;

const X_LABELS_HEIGHT: f64 = 58.0;
const LEGEND_GAP: f64 = 26.0;
const LEGEND_ROW_HEIGHT: f64 = 20.0;
const GROUP_GAP: f64 = 10.0;
const SWATCH: f64 = 30.0;
/// Number of colours and marker shapes that the page has.
pub const COLOURS: usize = 8;

/// Draws a chart as an SVG element.
pub fn draw(chart: &Chart) -> String {
    let groups = legend_groups(chart);
    let legend: f64 = groups
        .iter()
        .map(|(_, rows)| LEGEND_ROW_HEIGHT * (1 + rows.len()) as f64 + GROUP_GAP)
        .sum();
    let frame = PlotArea {
        x: chart.x_scale(),
        y: chart.y_scale(),
        height: PLOT_HEIGHT_MIN.max(legend),
    };
    let height = TOP + frame.height + X_LABELS_HEIGHT;
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
    svg.line().text_element("text", title, &chart.title).line();
    draw_axes(&mut svg, chart, &frame);
    draw_bands(&mut svg, chart, &frame);
    for series in &chart.series {
        draw_series(&mut svg, series, &frame, chart.y.title);
    }
    draw_legend(&mut svg, &groups);
    svg.close();
    svg.finish()
}

/// The mapping from values to pixels of the plot.
struct PlotArea {
    x: AxisScale,
    y: AxisScale,
    height: f64,
}

impl PlotArea {
    fn x(&self, value: f64) -> f64 {
        LEFT + INSET + self.x.position(value) * (PLOT_WIDTH - 2.0 * INSET)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (1.0 - self.y.position(value)) * self.height
    }

    fn bottom(&self) -> f64 {
        TOP + self.height
    }

    fn shows(&self, point: &ChartPoint) -> bool {
        self.x.can_show(point.x) && self.y.can_show(point.y)
    }
}

fn draw_axes(svg: &mut Markup, chart: &Chart, frame: &PlotArea) {
    let (right, bottom) = (LEFT + PLOT_WIDTH, frame.bottom());
    svg.open("g", &[("class", &"axes")]).line();
    for tick in chart.y_ticks() {
        let y = pixels(frame.y(tick));
        let class = if tick == 0.0 { "base" } else { "grid" };
        draw_rule(svg, class, (LEFT, &y), (right, &y));
        let place: &[(&str, &dyn std::fmt::Display)] = &[
            ("class", &"tick y"),
            ("x", &(LEFT - 8.0)),
            ("y", &y),
            ("dy", &"0.32em"),
        ];
        svg.text_element("text", place, tick_label(tick)).line();
    }
    for mark in frame.y.amount_marks() {
        let y = pixels(frame.y(mark));
        draw_rule(svg, "mark", (LEFT - 3.0, &y), (LEFT, &y));
    }
    let bottom_text = pixels(bottom);
    draw_rule(svg, "base", (LEFT, &bottom_text), (right, &bottom_text));
    for tick in chart.x_ticks() {
        let x = pixels(frame.x(tick));
        svg.empty_element(
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
        svg.text_element("text", place, tick).line();
    }
    let middle = LEFT + PLOT_WIDTH / 2.0;
    let below: &[(&str, &dyn std::fmt::Display)] = &[
        ("class", &"axis x"),
        ("x", &middle),
        ("y", &(bottom + 42.0)),
    ];
    svg.text_element("text", below, chart.x.title).line();
    let turned = format!("translate(14 {}) rotate(-90)", TOP + frame.height / 2.0);
    let beside: &[(&str, &dyn std::fmt::Display)] = &[("class", &"axis y"), ("transform", &turned)];
    svg.text_element("text", beside, chart.y_title())
        .close()
        .line();
}

/// A number beside an axis; from tens of thousands on with a letter, so that it has room.
fn tick_label(tick: f64) -> String {
    if tick >= 10_000.0 {
        count(tick)
    } else {
        three_digits(tick)
    }
}

fn draw_rule(svg: &mut Markup, class: &str, from: (f64, &str), to: (f64, &str)) {
    svg.empty_element(
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

fn draw_bands(svg: &mut Markup, chart: &Chart, frame: &PlotArea) {
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
        svg.text_element("title", &[], &label).close().line();
    }
}

fn draw_series(svg: &mut Markup, series: &ChartSeries, frame: &PlotArea, unit: &str) {
    let shown: Vec<&ChartPoint> = series.points.iter().filter(|p| frame.shows(p)).collect();
    let label = format!(
        "{}, {}: {}",
        series.name,
        series.group,
        series_description(&shown, unit)
    );
    let class = format!(
        "series {} c{}",
        series.style.css_class(),
        series.colour % COLOURS
    );
    let attributes: &[(&str, &dyn std::fmt::Display)] =
        &[("class", &class), ("role", &"img"), ("aria-label", &label)];
    svg.open("g", attributes).text_element("title", &[], &label);
    if shown.len() > 1 && series.style != SeriesStyle::PublishedPoints {
        let mut path = String::new();
        for (at, point) in shown.iter().enumerate() {
            let step = if at == 0 { 'M' } else { 'L' };
            let (x, y) = (pixels(frame.x(point.x)), pixels(frame.y(point.y)));
            let _ = write!(path, "{step}{x} {y}");
        }
        svg.empty_element("path", &[("class", &"line"), ("d", &path)]);
    }
    svg.line();
    // The markers of controls show when they are pointed at; without a line, always.
    let (marker, d) = match (series.style, shown.len()) {
        (SeriesStyle::Control, 1) => ("marker alone", "M-7 0H7"),
        _ => ("marker", marker_shape(series.colour)),
    };
    for point in shown {
        let (x, y) = (pixels(frame.x(point.x)), pixels(frame.y(point.y)));
        let place = format!("translate({x} {y})");
        svg.open("g", &[("class", &"point"), ("transform", &place)]);
        svg.text_element("title", &[], &point.note);
        draw_run_range(svg, point, frame);
        svg.empty_element("circle", &[("class", &"hit"), ("r", &9)]);
        svg.empty_element("path", &[("class", &marker), ("d", &d)]);
        svg.close().line();
    }
    svg.close().line();
}

/// A line from the least to the most that a run had: the noise, as far as it can be seen.
fn draw_run_range(svg: &mut Markup, point: &ChartPoint, frame: &PlotArea) {
    let Some((low, high)) = point.runs else {
        return;
    };
    if frame.y.can_show(low) && frame.y.can_show(high) {
        let from = |value: f64| pixels(frame.y(value) - frame.y(point.y));
        svg.empty_element(
            "line",
            &[("class", &"runs"), ("y1", &from(low)), ("y2", &from(high))],
        );
    }
}

/// The text that a screen reader reads for a series.
fn series_description(points: &[&ChartPoint], unit: &str) -> String {
    let values = || points.iter().map(|point| point.y);
    match points.len() {
        0 => "no points".to_owned(),
        1 => format!("1 point, {} {unit}", three_digits(points[0].y)),
        count => format!(
            "{count} points, {} to {} {unit}",
            three_digits(values().fold(f64::INFINITY, f64::min)),
            three_digits(values().fold(0.0, f64::max)),
        ),
    }
}

/// Markers tell series apart where colours do not: on paper, and to eyes that see fewer.
fn marker_shape(colour: usize) -> &'static str {
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
struct LegendEntry<'a> {
    name: &'a str,
    colour: usize,
    /// None for a band.
    style: Option<SeriesStyle>,
}

/// The legend, measured things first. What is drawn last lies on top, and is named first.
fn legend_groups(chart: &Chart) -> Vec<(&str, Vec<LegendEntry<'_>>)> {
    let mut keys: Vec<(&str, LegendEntry)> = Vec::new();
    for series in chart.series.iter().rev() {
        let key = LegendEntry {
            name: &series.name,
            colour: series.colour,
            style: Some(series.style),
        };
        keys.push((&series.group, key));
    }
    for band in &chart.bands {
        let key = LegendEntry {
            name: &band.name,
            colour: band.colour,
            style: None,
        };
        keys.push((&band.group, key));
    }
    keys.sort_by_key(|(_, key)| match key.style {
        Some(look) if look.is_measured() => 0,
        Some(SeriesStyle::Control) => 1,
        _ => 2,
    });
    let mut groups: Vec<(&str, Vec<LegendEntry>)> = Vec::new();
    for (group, key) in keys {
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, rows)) => rows.push(key),
            None => groups.push((group, vec![key])),
        }
    }
    groups
}

fn draw_legend(svg: &mut Markup, groups: &[(&str, Vec<LegendEntry>)]) {
    let x = LEFT + PLOT_WIDTH + LEGEND_GAP;
    let mut y = TOP + 6.0;
    svg.open("g", &[("class", &"legend")]).line();
    for (group, rows) in groups {
        let place: &[(&str, &dyn std::fmt::Display)] =
            &[("class", &"group"), ("x", &x), ("y", &y), ("dy", &"0.32em")];
        svg.text_element("text", place, group).line();
        for row in rows {
            y += LEGEND_ROW_HEIGHT;
            draw_legend_entry(svg, row, x, y);
        }
        y += LEGEND_ROW_HEIGHT + GROUP_GAP;
    }
    svg.close();
}

fn draw_legend_entry(svg: &mut Markup, key: &LegendEntry, x: f64, y: f64) {
    let colour = key.colour % COLOURS;
    let class = match key.style {
        Some(look) => format!("key {} c{colour}", look.css_class()),
        None => format!("key c{colour}"),
    };
    let place = format!("translate({x} {y})");
    svg.open("g", &[("class", &class), ("transform", &place)]);
    match key.style {
        Some(look) => {
            if look != SeriesStyle::PublishedPoints {
                svg.empty_element(
                    "path",
                    &[("class", &"line"), ("d", &format!("M0 0H{SWATCH}"))],
                );
            }
            let middle = format!("translate({} 0)", SWATCH / 2.0);
            svg.open("g", &[("transform", &middle)]);
            svg.empty_element(
                "path",
                &[("class", &"marker"), ("d", &marker_shape(colour))],
            );
            svg.close();
        }
        None => {
            let bar: &[(&str, &dyn std::fmt::Display)] = &[
                ("class", &"band"),
                ("y", &-6),
                ("width", &SWATCH),
                ("height", &12),
            ];
            svg.empty_element("rect", bar);
        }
    }
    let beside: &[(&str, &dyn std::fmt::Display)] = &[("x", &(SWATCH + 8.0)), ("dy", &"0.32em")];
    svg.text_element("text", beside, truncate_name(key.name))
        .close()
        .line();
}

/// A name as far as there is room; its series has it whole.
fn truncate_name(name: &str) -> String {
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
