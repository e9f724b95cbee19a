//! Figures 16 and 17: round trips by size and rate, the median and the 99th percentile.

use super::question::{BenchKind, bench_kind, paths};
use super::section::ReportSection;
use super::series::{CONTROL_GROUP, MEASURED_GROUP, chart_series, colour};
use crate::report::chart::{AxisKind, Chart, ChartAxis, ChartBand, ChartSeries, SeriesStyle};
use crate::report::number::count;
use crate::report::published as from;
use crate::{LatencyPercentiles, Outcome};

/// Within a host, and between hosts.
pub fn sections(outcomes: &[Outcome]) -> Vec<ReportSection> {
    let about = "From the source to a relay and back to where the source runs, on one clock, \
                 tuples offered at a fixed rate. The controls bounce the same bytes.";
    let within = ReportSection {
        id: "figure-16".to_owned(),
        title: "Round trips within a host".to_owned(),
        source: "figure 16".to_owned(),
        description: about.to_owned(),
        ..section(outcomes, BenchKind::Latency, from::ROUND_TRIPS)
    };
    let between = ReportSection {
        id: "figure-17".to_owned(),
        title: "Round trips between hosts".to_owned(),
        source: "figure 17".to_owned(),
        description: about.to_owned(),
        ..section(outcomes, BenchKind::HostsLatency, from::HOSTS_ROUND_TRIPS)
    };
    vec![within, between]
}

fn section(outcomes: &[Outcome], of: BenchKind, trips: &[(&str, &str, f64, f64)]) -> ReportSection {
    let asked = |outcome: &&Outcome| bench_kind(outcome) == of;
    let rows: Vec<Outcome> = outcomes.iter().filter(asked).cloned().collect();
    let bands = trips.iter().map(|&(name, path, low, high)| ChartBand {
        group: from::STREAMS.to_owned(),
        name: name.to_owned(),
        from: low,
        to: high,
        colour: colour(path),
    });
    let median = chart("Round trip, median", &rows, bands.collect(), |l| l.p50);
    let tail = chart("Round trip, 99th percentile", &rows, Vec::new(), |l| l.p99);
    let charts = [median, tail].into_iter();
    ReportSection {
        charts: charts.filter(Chart::has_measured).collect(),
        tables: vec![rows.into()],
        ..ReportSection::default()
    }
}

fn chart(
    title: &str,
    rows: &[Outcome],
    bands: Vec<ChartBand>,
    of: fn(&LatencyPercentiles) -> u64,
) -> Chart {
    let mut lines = Vec::new();
    for path in paths(rows.iter()).into_iter().rev() {
        let rates = rates(rows, path);
        for (at, rate) in rates.iter().enumerate().rev() {
            let mine = |row: &&Outcome| row.path == path && row.rate_offered == *rate;
            let mine: Vec<&Outcome> = rows.iter().filter(mine).collect();
            let look = if at == 0 {
                SeriesStyle::Measured
            } else {
                SeriesStyle::MeasuredSecond
            };
            lines.extend(path_and_control(&mine, look, *rate, of));
        }
    }
    lines.retain(|line: &ChartSeries| !line.points.is_empty());
    // Controls in the back, whatever their path.
    lines.sort_by_key(|line| line.style != SeriesStyle::Control);
    Chart {
        title: title.to_owned(),
        x: ChartAxis {
            title: "tuple size (bytes)",
            kind: AxisKind::Sizes,
        },
        y: ChartAxis {
            title: "round trip (µs)",
            kind: AxisKind::Amounts,
        },
        series: lines,
        bands,
    }
}

/// One path at one rate, and its control.
fn path_and_control(
    rows: &[&Outcome],
    look: SeriesStyle,
    rate: Option<f64>,
    of: fn(&LatencyPercentiles) -> u64,
) -> [ChartSeries; 2] {
    let x = |row: &Outcome| row.size_bytes.map(|size| size as f64);
    let micros = |latency: Option<LatencyPercentiles>| latency.map(|l| of(&l) as f64 / 1e3);
    let mut measured = chart_series(rows, look, x, |row| micros(row.latency_ns));
    let mut control = chart_series(rows, SeriesStyle::Control, x, |row| {
        micros(row.control_latency_ns)
    });
    let name = match (rows.first(), rate) {
        (Some(row), Some(rate)) => format!("{} at {}/s", row.path, count(rate)),
        (Some(row), None) => row.path.clone(),
        (None, _) => String::new(),
    };
    measured.group = MEASURED_GROUP.to_owned();
    measured.name = name.clone();
    control.group = CONTROL_GROUP.to_owned();
    control.name = name;
    [control, measured]
}

/// The rates of a path, slowest first.
fn rates(rows: &[Outcome], path: &str) -> Vec<Option<f64>> {
    let mine = rows.iter().filter(|row| row.path == path);
    let mut rates: Vec<Option<f64>> = mine.map(|row| row.rate_offered).collect();
    let key = |rate: &Option<f64>| rate.unwrap_or(f64::INFINITY);
    rates.sort_by(|a, b| key(a).total_cmp(&key(b)));
    rates.dedup();
    rates
}
