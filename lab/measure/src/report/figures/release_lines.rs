//! Figures 12 to 15, 18 and 19: the releases as lines, a chart for each path.

use super::question::{BenchKind, bench_kind, gbit_per_s, is_normal, paths};
use super::section::{ReportSection, ResultTable};
use super::series::{published_series, run_range, tooltip};
use crate::Outcome;
use crate::report::chart::{AxisKind, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesStyle};
use crate::report::draw_chart::COLOURS;
use crate::report::published as from;
use crate::report::published::PublishedColumn;
use crate::report::release::Release;

/// A figure that compares releases.
struct ReleaseComparison {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    bench_kind: BenchKind,
    published: &'static [&'static [PublishedColumn]],
}

const COMPARISONS: &[ReleaseComparison] = &[
    ReleaseComparison {
        id: "figure-12",
        title: "Releases compared: throughput within a host",
        source: "figures 12 and 13, table 7",
        bench_kind: BenchKind::Throughput,
        published: &[
            &[from::TCP, from::RUM, from::INFINIBAND],
            from::PREVIOUS_RELEASE,
        ],
    },
    ReleaseComparison {
        id: "figure-14",
        title: "Releases compared: throughput between hosts",
        source: "figures 14 and 15, table 8",
        bench_kind: BenchKind::HostsThroughput,
        published: &[
            &[from::HOSTS_TCP, from::HOSTS_RUM, from::HOSTS_INFINIBAND],
            from::HOSTS_PREVIOUS_RELEASE,
        ],
    },
    ReleaseComparison {
        id: "figure-18",
        title: "Releases compared: round trips within a host",
        source: "figure 18",
        bench_kind: BenchKind::Latency,
        published: &[],
    },
    ReleaseComparison {
        id: "figure-19",
        title: "Releases compared: round trips between hosts",
        source: "figure 19",
        bench_kind: BenchKind::HostsLatency,
        published: &[],
    },
];

/// The sections that compare releases; none of a single release.
pub fn sections(releases: &[Release]) -> Vec<ReportSection> {
    if releases.len() < 2 {
        return Vec::new();
    }
    let sections = COMPARISONS
        .iter()
        .map(|comparison| comparison.section(releases));
    sections
        .filter(|section| !section.charts.is_empty())
        .collect()
}

impl ReleaseComparison {
    fn section(&self, releases: &[Release]) -> ReportSection {
        let tables: Vec<ResultTable> = releases.iter().map(|release| self.table(release)).collect();
        let paths = paths(tables.iter().flat_map(|table| &table.rows)).into_iter();
        let charts = paths.map(|path| self.chart(path, releases));
        ReportSection {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            source: self.source.to_owned(),
            description:
                "A line a release, each as it was measured at its time: releases measured on \
                    different hosts differ by their hosts too. What changed and what is noise, \
                    thalweg bench compare tells."
                    .to_owned(),
            charts: charts.filter(Chart::has_measured).collect(),
            bars: None,
            tables,
        }
    }

    fn table(&self, release: &Release) -> ResultTable {
        let rows = release.outcomes.iter().filter(|o| self.includes(o));
        ResultTable {
            release: release.name.clone(),
            rows: rows.cloned().collect(),
        }
    }

    fn includes(&self, outcome: &Outcome) -> bool {
        bench_kind(outcome) == self.bench_kind && !is_normal(outcome)
    }

    fn chart(&self, path: &str, releases: &[Release]) -> Chart {
        let timed = matches!(
            self.bench_kind,
            BenchKind::Latency | BenchKind::HostsLatency
        );
        let columns = self.published.iter().copied().flatten();
        let mut lines: Vec<ChartSeries> = columns
            .filter(|column| column.path == path)
            .map(|column| published_series(column, COLOURS - 1, "Gbit/s"))
            .collect();
        for (at, release) in releases.iter().enumerate() {
            lines.extend(self.release_series(path, release, at, timed));
        }
        Chart {
            title: format!("{}, {path}", self.title),
            x: ChartAxis {
                title: "tuple size (bytes)",
                kind: AxisKind::Sizes,
            },
            y: ChartAxis {
                title: if timed {
                    "round trip, median (µs)"
                } else {
                    "throughput (Gbit/s)"
                },
                kind: AxisKind::Amounts,
            },
            series: lines,
            bands: Vec::new(),
        }
    }

    /// A line for each rate that the release was measured at.
    fn release_series(
        &self,
        path: &str,
        release: &Release,
        at: usize,
        timed: bool,
    ) -> Vec<ChartSeries> {
        let mine = |o: &&Outcome| self.includes(o) && o.path == path;
        let mine: Vec<&Outcome> = release.outcomes.iter().filter(mine).collect();
        let mut rates: Vec<Option<f64>> = mine.iter().map(|o| o.rate_offered).collect();
        rates.dedup();
        let mut seen: Vec<Option<f64>> = Vec::new();
        rates.retain(|rate| {
            !seen.contains(rate) && {
                seen.push(*rate);
                true
            }
        });
        let lines = rates.into_iter().enumerate().map(|(nth, rate)| {
            let of = mine.iter().filter(|o| o.rate_offered == rate);
            let mut points: Vec<ChartPoint> = of.filter_map(|o| point(o, timed)).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            ChartSeries {
                group: "release".to_owned(),
                name: match rate {
                    Some(rate) => format!("{} at {rate}/s", release.name),
                    None => release.name.clone(),
                },
                style: if nth == 0 {
                    SeriesStyle::Measured
                } else {
                    SeriesStyle::MeasuredSecond
                },
                colour: at % (COLOURS - 1),
                points,
            }
        });
        lines.filter(|line| !line.points.is_empty()).collect()
    }
}

fn point(outcome: &Outcome, timed: bool) -> Option<ChartPoint> {
    let micros = || Some(outcome.latency_ns?.p50 as f64 / 1e3);
    let y = if timed {
        micros()?
    } else {
        gbit_per_s(outcome)?
    };
    Some(ChartPoint {
        x: outcome.size_bytes? as f64,
        y,
        runs: run_range(outcome, y),
        note: tooltip(outcome),
    })
}
