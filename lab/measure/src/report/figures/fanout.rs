//! Figure 11: throughput by the number of receivers, a chart for each size of tuples.

use super::question::{BenchKind, bench_kind, gbit_per_s, is_normal, paths};
use super::section::ReportSection;
use super::series::{chart_series, colour, published_series};
use crate::Outcome;
use crate::report::chart::{AxisKind, Chart, ChartAxis, ChartSeries, SeriesStyle};
use crate::report::published as from;

/// The section, with a chart for each size.
pub fn sections(outcomes: &[Outcome]) -> Vec<ReportSection> {
    let fanout = |outcome: &&Outcome| bench_kind(outcome) == BenchKind::Fanout;
    let rows: Vec<Outcome> = outcomes.iter().filter(fanout).cloned().collect();
    let mut sizes: Vec<u64> = rows.iter().filter_map(|row| row.size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let charts = sizes.into_iter().map(|size| chart(size, &rows));
    vec![ReportSection {
        id: "figure-11".to_owned(),
        title: "From one sender to several receivers".to_owned(),
        source: "figure 11, table 6".to_owned(),
        description:
            "Every receiver gets every tuple; what all of them get together is counted. The \
                report's values stand as its table prints them; it does not say whether they count \
                one receiver or all."
                .to_owned(),
        charts: charts.filter(Chart::has_measured).collect(),
        bars: None,
        tables: vec![rows.into()],
    }]
}

fn chart(size: u64, rows: &[Outcome]) -> Chart {
    let columns = from::FANOUT.iter().rev().filter(|(of, _)| *of == size);
    let mut lines: Vec<ChartSeries> = columns
        .map(|(_, column)| published_series(column, colour(column.path), "Gbit/s"))
        .collect();
    let rows: Vec<&Outcome> = rows
        .iter()
        .filter(|row| row.size_bytes == Some(size))
        .collect();
    for path in paths(rows.iter().copied()).into_iter().rev() {
        for (normal, look) in [
            (true, SeriesStyle::MeasuredSecond),
            (false, SeriesStyle::Measured),
        ] {
            let mine = |row: &&&Outcome| row.path == path && is_normal(row) == normal;
            let mine: Vec<&Outcome> = rows.iter().filter(mine).copied().collect();
            lines.push(chart_series(
                &mine,
                look,
                |row| row.receivers.map(f64::from),
                gbit_per_s,
            ));
        }
    }
    lines.retain(|line| !line.points.is_empty());
    Chart {
        title: format!("Fan-out of tuples of {size} bytes"),
        x: ChartAxis {
            title: "receivers",
            kind: AxisKind::Numbers,
        },
        y: ChartAxis {
            title: "throughput (Gbit/s)",
            kind: AxisKind::Amounts,
        },
        series: lines,
        bands: Vec::new(),
    }
}
