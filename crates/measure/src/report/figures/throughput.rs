//! Figures 1 to 9: throughput by the size of a tuple. And the rates that SMX is measured by.

use super::{Question, Section};
use super::{colour, control_gbit, gbit, is_normal, paths, published, question, series};
use crate::Outcome;
use crate::report::chart::{Axis, Chart, Kind, Look, Series};
use crate::report::published as from;
use crate::report::published::Column;

/// What one figure shows.
struct Figure {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    about: &'static str,
    question: Question,
    /// Those of its lines; all if empty.
    paths: &'static [&'static str],
    shows: Shows,
    unit: Unit,
    published: &'static [Column],
}

/// Which lines there are for a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Alone,
    BesideControl,
    BothCodecs,
}

/// What the vertical axis counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Gbit,
    Tuples,
}

const FIGURES: &[Figure] = &[
    Figure {
        id: "ladder",
        title: "The ladder: every way from operator to operator",
        source: "",
        about: "One source, one sink, tuples as they lie in memory. The farther apart source and \
                sink run, the more a tuple costs.",
        question: Question::Throughput,
        paths: &[],
        shows: Shows::Alone,
        unit: Unit::Tuples,
        published: &[],
    },
    Figure {
        id: "figure-1",
        title: "Throughput within a host, TCP transports",
        source: "figure 1, table 1",
        about: "Source and sink in two processes of one host. The control writes the same bytes to \
                a bare socket.",
        question: Question::Throughput,
        paths: &["rum", "tcp"],
        shows: Shows::BesideControl,
        unit: Unit::Gbit,
        published: &[from::RUM, from::TCP],
    },
    Figure {
        id: "figure-2",
        title: "Throughput within a host, shared memory",
        source: "figure 2, table 1",
        about: "Where the report went through an InfiniBand adapter to get from process to process, \
                shared memory does. The control is a bare shared segment.",
        question: Question::Throughput,
        paths: &["shm"],
        shows: Shows::BesideControl,
        unit: Unit::Gbit,
        published: &[from::INFINIBAND],
    },
    Figure {
        id: "figure-3",
        title: "Throughput between hosts, TCP transports",
        source: "figure 3, table 2",
        about: "Source and sink on two hosts, joined by 1 Gbit/s.",
        question: Question::HostsThroughput,
        paths: &["rum", "tcp"],
        shows: Shows::BesideControl,
        unit: Unit::Gbit,
        published: &[from::HOSTS_RUM, from::HOSTS_TCP],
    },
    Figure {
        id: "figure-4",
        title: "Throughput between hosts, RDMA",
        source: "figure 4, table 2",
        about: "The same over an adapter that writes into the other host's memory.",
        question: Question::HostsThroughput,
        paths: &["rdma"],
        shows: Shows::BesideControl,
        unit: Unit::Gbit,
        published: &[from::HOSTS_INFINIBAND],
    },
    Figure {
        id: "figure-5",
        title: "Facade and normal tuples within a host, TCP transports",
        source: "figure 5, table 3",
        about: "Facade tuples cross as they lie in memory, normal ones field by field.",
        question: Question::Throughput,
        paths: &["rum", "tcp"],
        shows: Shows::BothCodecs,
        unit: Unit::Gbit,
        published: &[from::RUM, from::RUM_NORMAL, from::TCP, from::TCP_NORMAL],
    },
    Figure {
        id: "figure-6",
        title: "Facade and normal tuples within a host, shared memory",
        source: "figure 6, table 3",
        about: "The same through shared memory; the report's line is InfiniBand within a host.",
        question: Question::Throughput,
        paths: &["shm"],
        shows: Shows::BothCodecs,
        unit: Unit::Gbit,
        published: &[from::INFINIBAND, from::INFINIBAND_NORMAL],
    },
    Figure {
        id: "figure-7",
        title: "Facade and normal tuples between hosts, TCP transports",
        source: "figure 7, table 4",
        about: "Where the network is the bottleneck, the codec hardly matters.",
        question: Question::HostsThroughput,
        paths: &["rum", "tcp"],
        shows: Shows::BothCodecs,
        unit: Unit::Gbit,
        published: &[
            from::HOSTS_RUM,
            from::HOSTS_RUM_NORMAL,
            from::HOSTS_TCP,
            from::HOSTS_TCP_NORMAL,
        ],
    },
    Figure {
        id: "figure-8",
        title: "Facade and normal tuples between hosts, RDMA",
        source: "figure 8, table 4",
        about: "The same over an adapter that writes into the other host's memory.",
        question: Question::HostsThroughput,
        paths: &["rdma"],
        shows: Shows::BothCodecs,
        unit: Unit::Gbit,
        published: &[from::HOSTS_INFINIBAND, from::HOSTS_INFINIBAND_NORMAL],
    },
    Figure {
        id: "figure-9",
        title: "What a threaded port costs",
        source: "figure 9, table 5",
        about: "Fused operators call each other; a threaded port puts a queue and a thread between \
                them. Bits a second of tuples that nobody copies grow with their size without end.",
        question: Question::Throughput,
        paths: &["fused", "threaded", "shm"],
        shows: Shows::BesideControl,
        unit: Unit::Gbit,
        published: &[from::FUSED, from::THREADED, from::INFINIBAND_TABLE_5],
    },
    Figure {
        id: "rates",
        title: "Messages a second through shared memory",
        source: "the SMX table of rates",
        about: "SMX counts messages, not bits. Its spikes at 113 and 128 bytes, where reader and \
                writer just miss each other, it does not claim itself: it claims 14 million.",
        question: Question::Throughput,
        paths: &["shm"],
        shows: Shows::Alone,
        unit: Unit::Tuples,
        published: &[from::SMX_RATES, from::VEGA_RATES[0], from::VEGA_RATES[1]],
    },
];

/// The sections of all figures that there are outcomes for.
pub fn sections(outcomes: &[Outcome]) -> Vec<Section> {
    FIGURES
        .iter()
        .map(|figure| figure.section(outcomes))
        .collect()
}

impl Figure {
    fn section(&self, outcomes: &[Outcome]) -> Section {
        let rows: Vec<Outcome> = outcomes.iter().filter(|o| self.has(o)).cloned().collect();
        // Two codecs are compared only where there are two.
        let comparable = self.shows != Shows::BothCodecs || rows.iter().any(is_normal);
        let chart = self.chart(&rows);
        Section {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            source: self.source.to_owned(),
            about: self.about.to_owned(),
            charts: Some(chart)
                .into_iter()
                .filter(Chart::has_measured)
                .collect(),
            bars: None,
            tables: if comparable {
                vec![rows.into()]
            } else {
                Vec::new()
            },
        }
    }

    fn has(&self, outcome: &Outcome) -> bool {
        let path = self.paths.is_empty() || self.paths.contains(&outcome.path.as_str());
        let codec = self.shows == Shows::BothCodecs || !is_normal(outcome);
        question(outcome) == self.question && path && codec
    }

    fn chart(&self, rows: &[Outcome]) -> Chart {
        let unit = match self.unit {
            Unit::Gbit => "Gbit/s",
            Unit::Tuples => "tuples/s",
        };
        let columns = self.published.iter().rev();
        let mut lines: Vec<Series> = columns
            .map(|column| published(column, colour(column.path), unit))
            .collect();
        for path in paths(rows.iter()).into_iter().rev() {
            self.lines(path, rows, &mut lines);
        }
        Chart {
            title: self.heading(rows),
            x: Axis {
                title: "tuple size (bytes)",
                kind: Kind::Sizes,
            },
            y: Axis {
                title: match self.unit {
                    Unit::Gbit => "throughput (Gbit/s)",
                    Unit::Tuples => "throughput (tuples/s)",
                },
                kind: Kind::Amounts,
            },
            series: lines,
            bands: Vec::new(),
        }
    }

    /// What stands over the picture: what it counts, on which paths.
    fn heading(&self, rows: &[Outcome]) -> String {
        let paths = paths(rows.iter()).join(", ");
        let what = match (self.unit, self.shows) {
            (Unit::Tuples, _) => "Tuples a second by size",
            (Unit::Gbit, Shows::BothCodecs) => "Gbit/s by tuple size, facade and normal",
            (Unit::Gbit, _) => "Gbit/s by tuple size",
        };
        format!("{what}: {paths}")
    }

    fn lines(&self, path: &str, rows: &[Outcome], lines: &mut Vec<Series>) {
        let of = |normal: bool| -> Vec<&Outcome> {
            let mine = |o: &&Outcome| o.path == path && is_normal(o) == normal;
            rows.iter().filter(mine).collect()
        };
        let x = |outcome: &Outcome| outcome.size_bytes.map(|size| size as f64);
        let y = |outcome: &Outcome| match self.unit {
            Unit::Gbit => gbit(outcome),
            Unit::Tuples => outcome.tuples_per_s,
        };
        if self.shows == Shows::BesideControl {
            lines.push(series(&of(false), Look::Control, x, control_gbit));
        }
        if self.shows == Shows::BothCodecs {
            lines.push(series(&of(true), Look::Second, x, y));
        }
        lines.push(series(&of(false), Look::Measured, x, y));
        lines.retain(|line| !line.points.is_empty());
    }
}
