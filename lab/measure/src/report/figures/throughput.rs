//! Figures 1 to 9: throughput by tuple size. Also the message rates that SMX is measured by.

use super::question::{BenchKind, bench_kind, control_gbit_per_s, gbit_per_s, is_normal, paths};
use super::section::ReportSection;
use super::series::{chart_series, colour, published_series};
use crate::Outcome;
use crate::report::chart::{AxisKind, Chart, ChartAxis, ChartSeries, SeriesStyle};
use crate::report::published as from;
use crate::report::published::PublishedColumn;

/// A figure of throughput by size.
struct ThroughputFigure {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    description: &'static str,
    bench_kind: BenchKind,
    /// Paths that have lines; all of them if empty.
    paths: &'static [&'static str],
    lines: FigureLines,
    unit: FigureUnit,
    published: &'static [PublishedColumn],
}

/// The lines that a figure has per path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FigureLines {
    Alone,
    BesideControl,
    BothCodecs,
}

/// The unit of the vertical axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FigureUnit {
    Gbit,
    Tuples,
}

/// Paths by `rdma`, one for each mode.
const RDMA_PATHS: &[&str] = &["rdma", "rdma-write", "rdma-channel"];

const FIGURES: &[ThroughputFigure] = &[
    ThroughputFigure {
        id: "ladder",
        title: "The ladder: every way from operator to operator",
        source: "",
        description: "One source, one sink, tuples as they lie in memory. The farther apart source and \
                sink run, the more a tuple costs.",
        bench_kind: BenchKind::Throughput,
        paths: &[],
        lines: FigureLines::Alone,
        unit: FigureUnit::Tuples,
        published: &[],
    },
    ThroughputFigure {
        id: "figure-1",
        title: "Throughput within a host, TCP transports",
        source: "figure 1, table 1",
        description: "Source and sink in two processes of one host. The control writes the same bytes to \
                a bare socket.",
        bench_kind: BenchKind::Throughput,
        paths: &["rum", "tcp"],
        lines: FigureLines::BesideControl,
        unit: FigureUnit::Gbit,
        published: &[from::RUM, from::TCP],
    },
    ThroughputFigure {
        id: "figure-2",
        title: "Throughput within a host, shared memory and RDMA",
        source: "figure 2, table 1",
        description: "Where the report went through an InfiniBand adapter to get from process to process, \
                shared memory does, and RDMA by libfabric. The controls are a bare shared segment and \
                bare calls of libfabric.",
        bench_kind: BenchKind::Throughput,
        paths: &["shm", "rdma-write", "rdma-channel"],
        lines: FigureLines::BesideControl,
        unit: FigureUnit::Gbit,
        published: &[from::INFINIBAND],
    },
    ThroughputFigure {
        id: "figure-3",
        title: "Throughput between hosts, TCP transports",
        source: "figure 3, table 2",
        description: "Source and sink on two hosts, joined by 1 Gbit/s.",
        bench_kind: BenchKind::HostsThroughput,
        paths: &["rum", "tcp"],
        lines: FigureLines::BesideControl,
        unit: FigureUnit::Gbit,
        published: &[from::HOSTS_RUM, from::HOSTS_TCP],
    },
    ThroughputFigure {
        id: "figure-4",
        title: "Throughput between hosts, RDMA",
        source: "figure 4, table 2",
        description: "The same by libfabric: over an adapter that writes into the other host's memory, \
                or, where a result says so, over its provider for sockets.",
        bench_kind: BenchKind::HostsThroughput,
        paths: RDMA_PATHS,
        lines: FigureLines::BesideControl,
        unit: FigureUnit::Gbit,
        published: &[from::HOSTS_INFINIBAND],
    },
    ThroughputFigure {
        id: "figure-5",
        title: "Facade and normal tuples within a host, TCP transports",
        source: "figure 5, table 3",
        description: "Facade tuples cross as they lie in memory, normal ones field by field.",
        bench_kind: BenchKind::Throughput,
        paths: &["rum", "tcp"],
        lines: FigureLines::BothCodecs,
        unit: FigureUnit::Gbit,
        published: &[from::RUM, from::RUM_NORMAL, from::TCP, from::TCP_NORMAL],
    },
    ThroughputFigure {
        id: "figure-6",
        title: "Facade and normal tuples within a host, shared memory and RDMA",
        source: "figure 6, table 3",
        description: "The same through shared memory and by libfabric; the report's line is InfiniBand \
                within a host.",
        bench_kind: BenchKind::Throughput,
        paths: &["shm", "rdma-write", "rdma-channel"],
        lines: FigureLines::BothCodecs,
        unit: FigureUnit::Gbit,
        published: &[from::INFINIBAND, from::INFINIBAND_NORMAL],
    },
    ThroughputFigure {
        id: "figure-7",
        title: "Facade and normal tuples between hosts, TCP transports",
        source: "figure 7, table 4",
        description: "Where the network is the bottleneck, the codec hardly matters.",
        bench_kind: BenchKind::HostsThroughput,
        paths: &["rum", "tcp"],
        lines: FigureLines::BothCodecs,
        unit: FigureUnit::Gbit,
        published: &[
            from::HOSTS_RUM,
            from::HOSTS_RUM_NORMAL,
            from::HOSTS_TCP,
            from::HOSTS_TCP_NORMAL,
        ],
    },
    ThroughputFigure {
        id: "figure-8",
        title: "Facade and normal tuples between hosts, RDMA",
        source: "figure 8, table 4",
        description: "The same by libfabric: over an adapter that writes into the other host's memory, \
                or, where a result says so, over its provider for sockets.",
        bench_kind: BenchKind::HostsThroughput,
        paths: RDMA_PATHS,
        lines: FigureLines::BothCodecs,
        unit: FigureUnit::Gbit,
        published: &[from::HOSTS_INFINIBAND, from::HOSTS_INFINIBAND_NORMAL],
    },
    ThroughputFigure {
        id: "figure-9",
        title: "What a threaded port costs",
        source: "figure 9, table 5",
        description: "Fused operators call each other; a threaded port puts a queue and a thread between \
                them. Bits a second of tuples that nobody copies grow with their size without end.",
        bench_kind: BenchKind::Throughput,
        paths: &["fused", "threaded", "shm", "rdma-write", "rdma-channel"],
        lines: FigureLines::BesideControl,
        unit: FigureUnit::Gbit,
        published: &[from::FUSED, from::THREADED, from::INFINIBAND_TABLE_5],
    },
    ThroughputFigure {
        id: "rates",
        title: "Messages a second through shared memory",
        source: "the SMX table of rates",
        description: "SMX counts messages, not bits. Its spikes at 113 and 128 bytes, where reader and \
                writer just miss each other, it does not claim itself: it claims 14 million.",
        bench_kind: BenchKind::Throughput,
        paths: &["shm"],
        lines: FigureLines::Alone,
        unit: FigureUnit::Tuples,
        published: &[from::SMX_RATES, from::VEGA_RATES[0], from::VEGA_RATES[1]],
    },
];

/// The sections of all figures that have outcomes.
pub fn sections(outcomes: &[Outcome]) -> Vec<ReportSection> {
    FIGURES
        .iter()
        .map(|figure| figure.section(outcomes))
        .collect()
}

impl ThroughputFigure {
    fn section(&self, outcomes: &[Outcome]) -> ReportSection {
        let rows: Vec<Outcome> = outcomes
            .iter()
            .filter(|o| self.includes(o))
            .cloned()
            .collect();
        // Two codecs are compared only where there are two.
        let comparable = self.lines != FigureLines::BothCodecs || rows.iter().any(is_normal);
        let chart = self.chart(&rows);
        ReportSection {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            source: self.source.to_owned(),
            description: self.description.to_owned(),
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

    fn includes(&self, outcome: &Outcome) -> bool {
        let path = self.paths.is_empty() || self.paths.contains(&outcome.path.as_str());
        let codec = self.lines == FigureLines::BothCodecs || !is_normal(outcome);
        bench_kind(outcome) == self.bench_kind && path && codec
    }

    fn chart(&self, rows: &[Outcome]) -> Chart {
        let unit = match self.unit {
            FigureUnit::Gbit => "Gbit/s",
            FigureUnit::Tuples => "tuples/s",
        };
        let columns = self.published.iter().rev();
        let mut lines: Vec<ChartSeries> = columns
            .map(|column| published_series(column, colour(column.path), unit))
            .collect();
        for path in paths(rows.iter()).into_iter().rev() {
            self.add_lines(path, rows, &mut lines);
        }
        Chart {
            title: self.heading(rows),
            x: ChartAxis {
                title: "tuple size (bytes)",
                kind: AxisKind::Sizes,
            },
            y: ChartAxis {
                title: match self.unit {
                    FigureUnit::Gbit => "throughput (Gbit/s)",
                    FigureUnit::Tuples => "throughput (tuples/s)",
                },
                kind: AxisKind::Amounts,
            },
            series: lines,
            bands: Vec::new(),
        }
    }

    /// The heading of the chart: unit and paths.
    fn heading(&self, rows: &[Outcome]) -> String {
        let paths = paths(rows.iter()).join(", ");
        let what = match (self.unit, self.lines) {
            (FigureUnit::Tuples, _) => "Tuples a second by size",
            (FigureUnit::Gbit, FigureLines::BothCodecs) => {
                "Gbit/s by tuple size, facade and normal"
            }
            (FigureUnit::Gbit, _) => "Gbit/s by tuple size",
        };
        format!("{what}: {paths}")
    }

    fn add_lines(&self, path: &str, rows: &[Outcome], lines: &mut Vec<ChartSeries>) {
        let of = |normal: bool| -> Vec<&Outcome> {
            let mine = |o: &&Outcome| o.path == path && is_normal(o) == normal;
            rows.iter().filter(mine).collect()
        };
        let x = |outcome: &Outcome| outcome.size_bytes.map(|size| size as f64);
        let y = |outcome: &Outcome| match self.unit {
            FigureUnit::Gbit => gbit_per_s(outcome),
            FigureUnit::Tuples => outcome.tuples_per_s,
        };
        if self.lines == FigureLines::BesideControl {
            lines.push(chart_series(
                &of(false),
                SeriesStyle::Control,
                x,
                control_gbit_per_s,
            ));
        }
        if self.lines == FigureLines::BothCodecs {
            lines.push(chart_series(&of(true), SeriesStyle::MeasuredSecond, x, y));
        }
        lines.push(chart_series(&of(false), SeriesStyle::Measured, x, y));
        lines.retain(|line| !line.points.is_empty());
    }
}
