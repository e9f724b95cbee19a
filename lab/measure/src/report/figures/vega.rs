//! The microbenchmarks of the Vega paper: fused operators, Vega and RUM over shared memory.
//!
//! The paper's Vega is a ring of one process that another reads, so `shm` stands beside it. Its
//! figure 4, the same over InfiniBand, has no value in a table or a sentence, and none is here.

use super::question::{BenchKind, bench_kind, is_normal, paths};
use super::section::ReportSection;
use super::series::{chart_series, colour, published_series};
use crate::Outcome;
use crate::report::chart::{AxisKind, Chart, ChartAxis, ChartBand, ChartSeries, SeriesStyle};
use crate::report::published as from;

/// Sizes of the paper's figure, in bytes.
const SIZES: std::ops::RangeInclusive<u64> = 32..=16384;

/// The contenders of the paper and those that stand beside them.
const PATHS: &[&str] = &["fused", "shm", "rdma", "rdma-write", "rdma-channel", "rum"];

/// The section of the paper, if its paths were measured.
pub fn sections(outcomes: &[Outcome]) -> Vec<ReportSection> {
    let of = |kind: BenchKind| -> Vec<Outcome> {
        let is_asked = |outcome: &&Outcome| {
            let size = outcome.size_bytes.is_some_and(|size| SIZES.contains(&size));
            let path = PATHS.contains(&outcome.path.as_str());
            bench_kind(outcome) == kind && size && path && !is_normal(outcome)
        };
        outcomes.iter().filter(is_asked).cloned().collect()
    };
    let (rates, trips) = (of(BenchKind::Throughput), of(BenchKind::Latency));
    // Without Vega's counterpart it would be a second ladder.
    if !rates
        .iter()
        .chain(&trips)
        .any(|outcome| outcome.path == "shm")
    {
        return Vec::new();
    }
    let charts = [rate_chart(&rates), latency_chart(&trips)].into_iter();
    vec![ReportSection {
        id: "vega".to_owned(),
        title: "Fused operators, Vega and RUM".to_owned(),
        source: "the Vega paper, figure 7".to_owned(),
        description: "Messages a second by size, and one way from operator to operator: here half of \
                      a round trip at a fixed rate. Vega is the paper's ring between processes; the \
                      values are those of its text. What it only draws, the lines between them and \
                      all of InfiniBand, is left out."
            .to_owned(),
        charts: charts.filter(Chart::has_measured).collect(),
        tables: vec![rates.into(), trips.into()],
        ..ReportSection::default()
    }]
}

fn rate_chart(rows: &[Outcome]) -> Chart {
    let columns = from::VEGA_RATES.iter().zip(["shm", "rum"]);
    let mut series: Vec<ChartSeries> = columns
        .map(|(column, path)| published_series(column, colour(path), "messages/s"))
        .collect();
    series.extend(lines(rows, |outcome| outcome.tuples_per_s));
    Chart {
        title: "Tuples a second by size".to_owned(),
        x: sizes_axis(),
        y: ChartAxis {
            title: "tuples/s",
            kind: AxisKind::Amounts,
        },
        series,
        bands: vec![band(&from::VEGA_FUSED_RATES)],
    }
}

fn latency_chart(rows: &[Outcome]) -> Chart {
    // The lowest rate of a path: there a message finds all others gone, as in the paper.
    let slowest = |outcome: &Outcome| {
        let mine = rows.iter().filter(|row| row.path == outcome.path);
        let rates = mine.filter_map(|row| row.rate_offered);
        rates.fold(f64::INFINITY, f64::min)
    };
    let at_rest = rows
        .iter()
        .filter(|row| row.rate_offered.is_none_or(|rate| rate <= slowest(row)));
    let at_rest: Vec<Outcome> = at_rest.cloned().collect();
    let one_way = |outcome: &Outcome| outcome.latency_ns.map(|latency| latency.p50 as f64 / 2e3);
    Chart {
        title: "One way, median".to_owned(),
        x: sizes_axis(),
        y: ChartAxis {
            title: "one way (µs)",
            kind: AxisKind::Amounts,
        },
        series: lines(&at_rest, one_way),
        bands: from::VEGA_LATENCIES.iter().map(band).collect(),
    }
}

fn sizes_axis() -> ChartAxis {
    ChartAxis {
        title: "tuple size (bytes)",
        kind: AxisKind::Sizes,
    }
}

/// A line for each path, the fastest in front.
fn lines(rows: &[Outcome], y: impl Fn(&Outcome) -> Option<f64>) -> Vec<ChartSeries> {
    let paths = paths(rows.iter()).into_iter().rev();
    let lines = paths.map(|path| {
        let mine: Vec<&Outcome> = rows.iter().filter(|row| row.path == path).collect();
        let x = |outcome: &Outcome| outcome.size_bytes.map(|size| size as f64);
        chart_series(&mine, SeriesStyle::Measured, x, &y)
    });
    lines.filter(|line| !line.points.is_empty()).collect()
}

fn band(&(name, path, low, high): &(&str, &str, f64, f64)) -> ChartBand {
    ChartBand {
        group: from::VEGA.to_owned(),
        name: name.to_owned(),
        from: low,
        to: high,
        colour: colour(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatencyPercentiles;

    fn outcome(bench: &str, path: &str, size: u64) -> Outcome {
        Outcome {
            bench: bench.to_owned(),
            path: path.to_owned(),
            size_bytes: Some(size),
            ..Outcome::default()
        }
    }

    fn rate(path: &str, size: u64) -> Outcome {
        Outcome {
            tuples_per_s: Some(1e6),
            ..outcome("throughput", path, size)
        }
    }

    fn trip(path: &str, rate: f64, p50: u64) -> Outcome {
        Outcome {
            rate_offered: Some(rate),
            latency_ns: Some(LatencyPercentiles {
                p50,
                ..LatencyPercentiles::default()
            }),
            ..outcome("latency", path, 128)
        }
    }

    #[test]
    fn the_paper_stands_beside_its_counterparts() {
        let outcomes = [
            rate("shm", 16),
            rate("shm", 32),
            rate("fused", 32),
            rate("tcp", 32),
            rate("rdma-write", 16384),
            trip("shm", 1000.0, 3000),
            trip("shm", 5000.0, 9000),
        ];
        let sections = sections(&outcomes);
        let [rates, latencies] = &sections[0].charts[..] else {
            panic!("{sections:?}")
        };
        let names: Vec<_> = rates.series.iter().map(|line| &*line.name).collect();
        let expected = [
            "Vega, 32 B and 16 KB",
            "RUM, 256 B and 16 KB",
            "rdma-write",
            "shm",
            "fused",
        ];
        assert_eq!(names, expected);
        let shm = &rates.series[3].points;
        assert_eq!((shm.len(), shm[0].x), (1, 32.0));
        assert_eq!(rates.bands.len(), 1);
        assert_eq!(latencies.bands.len(), 3);
        let points = &latencies.series[0].points;
        assert_eq!((points.len(), points[0].y), (1, 1.5));
    }

    #[test]
    fn without_shared_memory_there_is_no_section() {
        assert!(sections(&[rate("rum", 64)]).is_empty());
    }
}
