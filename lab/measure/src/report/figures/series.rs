//! Results and published values as series of a chart, with their colours, ranges and tooltips.

use super::question::gbit_per_s;
use crate::Outcome;
use crate::noise::{median, spread};
use crate::report::chart::{ChartPoint, ChartSeries, SeriesStyle};
use crate::report::number::{count, percent, three_digits};
use crate::report::published::{PublishedColumn, PublishedKind};

/// Heading in the legend of measured series.
pub const MEASURED_GROUP: &str = "measured";
/// Heading in the legend of controls.
pub const CONTROL_GROUP: &str = "raw control, same run";

/// The colour index of a path, equal on every chart.
pub fn colour(path: &str) -> usize {
    match path {
        "shm" => 0,
        "rum" => 1,
        "tcp" => 2,
        "threaded" => 3,
        "fused" => 4,
        "rdma" | "rdma-write" => 5,
        _ => 6,
    }
}

/// Outcomes as a series in order of `x`; outcomes without `x` or `y` are left out.
pub fn chart_series(
    outcomes: &[&Outcome],
    look: SeriesStyle,
    x: impl Fn(&Outcome) -> Option<f64>,
    y: impl Fn(&Outcome) -> Option<f64>,
) -> ChartSeries {
    let point = |outcome: &&Outcome| {
        let y = y(outcome)?;
        Some(ChartPoint {
            x: x(outcome)?,
            y,
            runs: run_range(outcome, y).filter(|_| look.is_measured()),
            note: tooltip(outcome),
        })
    };
    let mut points: Vec<ChartPoint> = outcomes.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let path = outcomes.first().map_or("", |outcome| outcome.path.as_str());
    let (group, name) = match look {
        SeriesStyle::Control => (CONTROL_GROUP, path.to_owned()),
        SeriesStyle::MeasuredSecond => (MEASURED_GROUP, format!("{path}, normal")),
        _ => (MEASURED_GROUP, path.to_owned()),
    };
    ChartSeries {
        group: group.to_owned(),
        name,
        style: look,
        colour: colour(path),
        points,
    }
}

/// The smallest and the largest run, in the unit that `middle`, the median, has on the chart.
pub fn run_range(outcome: &Outcome, middle: f64) -> Option<(f64, f64)> {
    if outcome.samples.len() < 2 || outcome.latency_ns.is_some() {
        return None;
    }
    let scale = middle / median(&outcome.samples)?;
    let runs = outcome.samples.iter().map(|run| run * scale);
    let low = runs.clone().fold(f64::INFINITY, f64::min);
    Some((low, runs.fold(f64::NEG_INFINITY, f64::max)))
}

/// The tooltip of an outcome: all its figures.
pub fn tooltip(outcome: &Outcome) -> String {
    let mut parts = vec![outcome.path.clone()];
    parts.extend(outcome.codec.clone());
    parts.extend(outcome.size_bytes.map(|size| format!("{size} bytes")));
    parts.extend(outcome.receivers.map(|n| format!("{n} receivers")));
    parts.extend(outcome.rate_offered.map(|r| format!("at {}/s", count(r))));
    let mut figures = Vec::new();
    figures.extend(gbit_per_s(outcome).map(|g| format!("{} Gbit/s", three_digits(g))));
    figures.extend(
        outcome
            .tuples_per_s
            .map(|t| format!("{} tuples/s", count(t))),
    );
    let micros = |ns: u64| three_digits(ns as f64 / 1e3);
    figures.extend(outcome.latency_ns.map(|latency| {
        let (half, tail) = (micros(latency.p50), micros(latency.p99));
        format!("p50 {half} µs, p99 {tail} µs")
    }));
    figures.extend(
        outcome
            .ratio
            .map(|r| format!("{} of its control", three_digits(r))),
    );
    figures.extend(spread(&outcome.samples).map(|s| format!("noise ±{}", percent(s))));
    format!("{}: {}", parts.join(", "), figures.join("; "))
}

/// A published column as a series.
pub fn published_series(column: &PublishedColumn, colour: usize, unit: &str) -> ChartSeries {
    let points = column.x.iter().zip(column.y);
    let points = points.map(|(&x, &y)| ChartPoint {
        x,
        y,
        runs: None,
        note: format!(
            "{}, {}, at {x}: {} {unit}",
            column.source,
            column.name,
            three_digits(y)
        ),
    });
    ChartSeries {
        group: column.source.to_owned(),
        name: column.name.to_owned(),
        style: match column.kind {
            PublishedKind::Main => SeriesStyle::Published,
            PublishedKind::Second => SeriesStyle::PublishedSecond,
            PublishedKind::Points => SeriesStyle::PublishedPoints,
        },
        colour,
        points: points.collect(),
    }
}
