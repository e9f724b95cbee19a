//! Figures 12 to 15, 18 and 19: the releases as lines, a chart for each path.

use super::{Question, Section, Table};
use super::{gbit, is_normal, note, paths, published, question, runs};
use crate::Outcome;
use crate::report::Release;
use crate::report::chart::{Axis, Chart, Kind, Look, Point, Series};
use crate::report::draw::COLOURS;
use crate::report::published as from;
use crate::report::published::Column;

/// What is compared.
struct Comparison {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    question: Question,
    published: &'static [&'static [Column]],
}

const COMPARISONS: &[Comparison] = &[
    Comparison {
        id: "figure-12",
        title: "Releases compared: throughput within a host",
        source: "figures 12 and 13, table 7",
        question: Question::Throughput,
        published: &[&[from::TCP, from::RUM, from::INFINIBAND], from::BEFORE],
    },
    Comparison {
        id: "figure-14",
        title: "Releases compared: throughput between hosts",
        source: "figures 14 and 15, table 8",
        question: Question::HostsThroughput,
        published: &[
            &[from::HOSTS_TCP, from::HOSTS_RUM, from::HOSTS_INFINIBAND],
            from::HOSTS_BEFORE,
        ],
    },
    Comparison {
        id: "figure-18",
        title: "Releases compared: round trips within a host",
        source: "figure 18",
        question: Question::Latency,
        published: &[],
    },
    Comparison {
        id: "figure-19",
        title: "Releases compared: round trips between hosts",
        source: "figure 19",
        question: Question::HostsLatency,
        published: &[],
    },
];

/// The sections; none of a single release.
pub fn sections(releases: &[Release]) -> Vec<Section> {
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

impl Comparison {
    fn section(&self, releases: &[Release]) -> Section {
        let tables: Vec<Table> = releases.iter().map(|release| self.table(release)).collect();
        let paths = paths(tables.iter().flat_map(|table| &table.rows)).into_iter();
        let charts = paths.map(|path| self.chart(path, releases));
        Section {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            source: self.source.to_owned(),
            about: "A line a release, each as it was measured at its time: releases measured on \
                    different hosts differ by their hosts too. What changed and what is noise, \
                    thalweg bench compare tells."
                .to_owned(),
            charts: charts.filter(Chart::has_measured).collect(),
            bars: None,
            tables,
        }
    }

    fn table(&self, release: &Release) -> Table {
        let rows = release.outcomes.iter().filter(|o| self.has(o));
        Table {
            release: release.name.clone(),
            rows: rows.cloned().collect(),
        }
    }

    fn has(&self, outcome: &Outcome) -> bool {
        question(outcome) == self.question && !is_normal(outcome)
    }

    fn chart(&self, path: &str, releases: &[Release]) -> Chart {
        let timed = matches!(self.question, Question::Latency | Question::HostsLatency);
        let columns = self.published.iter().copied().flatten();
        let mut lines: Vec<Series> = columns
            .filter(|column| column.path == path)
            .map(|column| published(column, COLOURS - 1, "Gbit/s"))
            .collect();
        for (at, release) in releases.iter().enumerate() {
            lines.extend(self.lines(path, release, at, timed));
        }
        Chart {
            title: format!("{}, {path}", self.title),
            x: Axis {
                title: "tuple size (bytes)",
                kind: Kind::Sizes,
            },
            y: Axis {
                title: if timed {
                    "round trip, median (µs)"
                } else {
                    "throughput (Gbit/s)"
                },
                kind: Kind::Amounts,
            },
            series: lines,
            bands: Vec::new(),
        }
    }

    /// A line for each rate that the release was measured at.
    fn lines(&self, path: &str, release: &Release, at: usize, timed: bool) -> Vec<Series> {
        let mine = |o: &&Outcome| self.has(o) && o.path == path;
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
            let mut points: Vec<Point> = of.filter_map(|o| point(o, timed)).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series {
                group: "release".to_owned(),
                name: match rate {
                    Some(rate) => format!("{} at {rate}/s", release.name),
                    None => release.name.clone(),
                },
                look: if nth == 0 {
                    Look::Measured
                } else {
                    Look::Second
                },
                colour: at % (COLOURS - 1),
                points,
            }
        });
        lines.filter(|line| !line.points.is_empty()).collect()
    }
}

fn point(outcome: &Outcome, timed: bool) -> Option<Point> {
    let micros = || Some(outcome.latency_ns?.p50 as f64 / 1e3);
    let y = if timed { micros()? } else { gbit(outcome)? };
    Some(Point {
        x: outcome.size_bytes? as f64,
        y,
        runs: runs(outcome, y),
        note: note(outcome),
    })
}
