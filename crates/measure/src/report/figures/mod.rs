//! Which figures a page has, and what goes into each: outcomes in, sections with charts out.
//!
//! The figures are those of the Streams 2.0 report, with its numbers; what it has no figure for comes
//! behind them. A section is there when a benchmark of its question ran, or could not run.

mod before;
mod fanout;
mod latency;
mod ratios;
mod throughput;

use super::Release;
use super::bars::Bars;
use super::chart::{Chart, Look, Point, Series};
use super::number::{count, percent, short};
use super::published::{Column, Kind};
use crate::Outcome;
use crate::noise::{median, spread};

/// A part of the page: charts, and the table under them.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Its anchor.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Which figure of which document it redraws; empty if none.
    pub source: String,
    /// What it shows, in a sentence or two.
    pub about: String,
    /// Its pictures; empty if nothing could be measured.
    pub charts: Vec<Chart>,
    /// Its picture of ratios, for benchmarks without sizes.
    pub bars: Option<Bars>,
    /// What the pictures are made of.
    pub tables: Vec<Table>,
}

/// Results under a picture.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The release they are of; empty if there is only one.
    pub release: String,
    /// The results.
    pub rows: Vec<Outcome>,
}

impl From<Vec<Outcome>> for Table {
    fn from(rows: Vec<Outcome>) -> Table {
        Table {
            rows,
            ..Table::default()
        }
    }
}

/// The group of the legend for what the page is about.
const MEASURED: &str = "measured";
/// The group for controls.
const CONTROLS: &str = "raw control, same run";

/// All sections of a page, in their order. The last release is the one that the page is about.
pub fn sections(releases: &[Release]) -> Vec<Section> {
    let Some(newest) = releases.last() else {
        return Vec::new();
    };
    let outcomes = &newest.outcomes;
    let mut sections = throughput::sections(outcomes);
    sections.extend(fanout::sections(outcomes));
    sections.extend(latency::sections(outcomes));
    sections.extend(ratios::sections(outcomes));
    sections.extend(before::sections(releases));
    let holds = |table: &Table| !table.rows.is_empty();
    sections.retain(|section| section.tables.iter().any(holds));
    sections
}

/// The paths at one size, fastest rung first: the size that most paths were measured at, 64 bytes
/// among equals.
pub fn rungs(outcomes: &[Outcome]) -> Vec<&Outcome> {
    const USUAL: u64 = 64;
    let measured = |o: &&Outcome| {
        question(o) == Question::Throughput && !is_normal(o) && o.tuples_per_s.is_some()
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
enum Question {
    Throughput,
    HostsThroughput,
    Fanout,
    Latency,
    HostsLatency,
    Other,
}

fn question(outcome: &Outcome) -> Question {
    if outcome.peer.is_some() {
        return Question::Other;
    }
    let bench = outcome.bench.as_str();
    let timed = bench.contains("latency") || outcome.latency_ns.is_some();
    match (bench.contains("hosts"), timed) {
        (true, true) => Question::HostsLatency,
        (true, false) => Question::HostsThroughput,
        (false, true) => Question::Latency,
        (false, false) => match bench {
            "throughput" => Question::Throughput,
            "fanout" => Question::Fanout,
            _ => Question::Other,
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
pub fn gbit(outcome: &Outcome) -> Option<f64> {
    let computed = || Some(outcome.tuples_per_s? * outcome.size_bytes? as f64 * 8.0 / 1e9);
    outcome.gbit_per_s.or_else(computed)
}

/// The same of the control.
fn control_gbit(outcome: &Outcome) -> Option<f64> {
    Some(outcome.control_tuples_per_s? * outcome.size_bytes? as f64 * 8.0 / 1e9)
}

/// A series of outcomes, by `x`; those without a place are left out.
fn series(
    outcomes: &[&Outcome],
    look: Look,
    x: impl Fn(&Outcome) -> Option<f64>,
    y: impl Fn(&Outcome) -> Option<f64>,
) -> Series {
    let point = |outcome: &&Outcome| {
        let y = y(outcome)?;
        Some(Point {
            x: x(outcome)?,
            y,
            runs: runs(outcome, y).filter(|_| look.is_measured()),
            note: note(outcome),
        })
    };
    let mut points: Vec<Point> = outcomes.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let path = outcomes.first().map_or("", |outcome| outcome.path.as_str());
    let (group, name) = match look {
        Look::Control => (CONTROLS, path.to_owned()),
        Look::Second => (MEASURED, format!("{path}, normal")),
        _ => (MEASURED, path.to_owned()),
    };
    Series {
        group: group.to_owned(),
        name,
        look,
        colour: colour(path),
        points,
    }
}

/// The least and the most that a run had, in the unit that the median has on the chart.
fn runs(outcome: &Outcome, middle: f64) -> Option<(f64, f64)> {
    if outcome.samples.len() < 2 || outcome.latency_ns.is_some() {
        return None;
    }
    let scale = middle / median(&outcome.samples)?;
    let runs = outcome.samples.iter().map(|run| run * scale);
    let low = runs.clone().fold(f64::INFINITY, f64::min);
    Some((low, runs.fold(f64::NEG_INFINITY, f64::max)))
}

/// The tooltip of an outcome: all its figures.
fn note(outcome: &Outcome) -> String {
    let mut parts = vec![outcome.path.clone()];
    parts.extend(outcome.codec.clone());
    parts.extend(outcome.size_bytes.map(|size| format!("{size} bytes")));
    parts.extend(outcome.receivers.map(|n| format!("{n} receivers")));
    parts.extend(outcome.rate_offered.map(|r| format!("at {}/s", count(r))));
    let mut figures = Vec::new();
    figures.extend(gbit(outcome).map(|g| format!("{} Gbit/s", short(g))));
    figures.extend(
        outcome
            .tuples_per_s
            .map(|t| format!("{} tuples/s", count(t))),
    );
    let micros = |ns: u64| short(ns as f64 / 1e3);
    figures.extend(outcome.latency_ns.map(|latency| {
        let (half, tail) = (micros(latency.p50), micros(latency.p99));
        format!("p50 {half} µs, p99 {tail} µs")
    }));
    figures.extend(
        outcome
            .ratio
            .map(|r| format!("{} of its control", short(r))),
    );
    figures.extend(spread(&outcome.samples).map(|s| format!("noise ±{}", percent(s))));
    format!("{}: {}", parts.join(", "), figures.join("; "))
}

/// A published column as a series.
fn published(column: &Column, colour: usize, unit: &str) -> Series {
    let points = column.x.iter().zip(column.y);
    let points = points.map(|(&x, &y)| Point {
        x,
        y,
        runs: None,
        note: format!(
            "{}, {}, at {x}: {} {unit}",
            column.source,
            column.name,
            short(y)
        ),
    });
    Series {
        group: column.source.to_owned(),
        name: column.name.to_owned(),
        look: match column.kind {
            Kind::Main => Look::Published,
            Kind::Second => Look::PublishedSecond,
            Kind::Points => Look::PublishedPoints,
        },
        colour,
        points: points.collect(),
    }
}
