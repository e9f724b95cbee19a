//! Which figures a page has, and what goes into each: outcomes in, sections with charts out.
//!
//! The figures are those of the Streams 2.0 report, with its numbers; what it has no figure for
//! comes behind them. A section is there when a benchmark of its question ran, or could not run.

mod fanout;
mod latency;
mod ratios;
mod release_lines;
mod throughput;

use super::Release;
use super::bar_chart::BarChart;
use super::chart::{Chart, ChartPoint, ChartSeries, SeriesStyle};
use super::number::{count, percent, three_digits};
use super::published::{PublishedColumn, PublishedKind};
use crate::Outcome;
use crate::noise::{median, spread};

/// A part of the page: charts, and the table under them.
#[derive(Debug, Clone, Default)]
pub struct ReportSection {
    /// Its anchor.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Which figure of which document it redraws; empty if none.
    pub source: String,
    /// What it shows, in a sentence or two.
    pub description: String,
    /// Its pictures; empty if nothing could be measured.
    pub charts: Vec<Chart>,
    /// Its picture of ratios, for benchmarks without sizes.
    pub bars: Option<BarChart>,
    /// What the pictures are made of.
    pub tables: Vec<ResultTable>,
}

/// Results under a picture.
#[derive(Debug, Clone, Default)]
pub struct ResultTable {
    /// The release they are of; empty if there is only one.
    pub release: String,
    /// The results.
    pub rows: Vec<Outcome>,
}

impl From<Vec<Outcome>> for ResultTable {
    fn from(rows: Vec<Outcome>) -> ResultTable {
        ResultTable {
            rows,
            ..ResultTable::default()
        }
    }
}

/// The group of the legend for what the page is about.
const MEASURED_GROUP: &str = "measured";
/// The group for controls.
const CONTROL_GROUP: &str = "raw control, same run";

/// All sections of a page, in their order. The last release is the one that the page is about.
pub fn sections(releases: &[Release]) -> Vec<ReportSection> {
    let Some(newest) = releases.last() else {
        return Vec::new();
    };
    let outcomes = &newest.outcomes;
    let mut sections = throughput::sections(outcomes);
    sections.extend(fanout::sections(outcomes));
    sections.extend(latency::sections(outcomes));
    sections.extend(ratios::sections(outcomes));
    sections.extend(release_lines::sections(releases));
    let holds = |table: &ResultTable| !table.rows.is_empty();
    sections.retain(|section| section.tables.iter().any(holds));
    sections
}

/// The paths at one size, fastest rung first: the size that most paths were measured at, 64 bytes
/// among equals.
pub fn path_ladder(outcomes: &[Outcome]) -> Vec<&Outcome> {
    const USUAL: u64 = 64;
    let measured = |o: &&Outcome| {
        bench_kind(o) == BenchKind::Throughput && !is_normal(o) && o.tuples_per_s.is_some()
    };
    let measured: Vec<&Outcome> = outcomes.iter().filter(measured).collect();
    let at = |size: Option<u64>| measured.iter().filter(|o| o.size_bytes == size).count();
    let sizes = measured.iter().filter_map(|o| o.size_bytes);
    let best = sizes.max_by_key(|&size| (at(Some(size)), size == USUAL, u64::MAX - size));
    let Some(size) = best else { return Vec::new() };
    let rungs = paths(measured.iter().copied()).into_iter();
    let rung = |path| {
        measured
            .iter()
            .find(|o| o.path == path && o.size_bytes == Some(size))
    };
    rungs.filter_map(|path| rung(path).copied()).collect()
}

/// What a benchmark asks, as far as figures tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BenchKind {
    Throughput,
    HostsThroughput,
    Fanout,
    Latency,
    HostsLatency,
    Other,
}

fn bench_kind(outcome: &Outcome) -> BenchKind {
    if outcome.peer.is_some() {
        return BenchKind::Other;
    }
    let bench = outcome.bench.as_str();
    let timed = bench.contains("latency") || outcome.latency_ns.is_some();
    match (bench.contains("hosts"), timed) {
        (true, true) => BenchKind::HostsLatency,
        (true, false) => BenchKind::HostsThroughput,
        (false, true) => BenchKind::Latency,
        (false, false) => match bench {
            "throughput" => BenchKind::Throughput,
            "fanout" => BenchKind::Fanout,
            _ => BenchKind::Other,
        },
    }
}

fn is_normal(outcome: &Outcome) -> bool {
    outcome.codec.as_deref() == Some("normal")
}

/// The same path has the same colour on every chart.
pub fn colour(path: &str) -> usize {
    match path {
        "shm" => 0,
        "rum" => 1,
        "tcp" => 2,
        "threaded" => 3,
        "fused" => 4,
        "rdma" => 5,
        _ => 6,
    }
}

/// The paths in the order of the ladder, fastest first; those it does not know behind.
fn paths<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Vec<&'a str> {
    const LADDER: [&str; 6] = ["fused", "threaded", "shm", "rdma", "rum", "tcp"];
    let mut paths: Vec<&str> = outcomes.map(|outcome| outcome.path.as_str()).collect();
    paths.sort_by_key(|path| {
        let rung = LADDER.iter().position(|known| known == path);
        (rung.unwrap_or(LADDER.len()), *path)
    });
    paths.dedup();
    paths
}

/// 10⁹ bits a second; computed if the outcome does not say it.
pub fn gbit_per_s(outcome: &Outcome) -> Option<f64> {
    let computed = || Some(outcome.tuples_per_s? * outcome.size_bytes? as f64 * 8.0 / 1e9);
    outcome.gbit_per_s.or_else(computed)
}

/// The same of the control.
fn control_gbit_per_s(outcome: &Outcome) -> Option<f64> {
    Some(outcome.control_tuples_per_s? * outcome.size_bytes? as f64 * 8.0 / 1e9)
}

/// A series of outcomes, by `x`; those without a place are left out.
fn chart_series(
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

/// The least and the most that a run had, in the unit that the median has on the chart.
fn run_range(outcome: &Outcome, middle: f64) -> Option<(f64, f64)> {
    if outcome.samples.len() < 2 || outcome.latency_ns.is_some() {
        return None;
    }
    let scale = middle / median(&outcome.samples)?;
    let runs = outcome.samples.iter().map(|run| run * scale);
    let low = runs.clone().fold(f64::INFINITY, f64::min);
    Some((low, runs.fold(f64::NEG_INFINITY, f64::max)))
}

/// The tooltip of an outcome: all its figures.
fn tooltip(outcome: &Outcome) -> String {
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
fn published_series(column: &PublishedColumn, colour: usize, unit: &str) -> ChartSeries {
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
