//! Two paths for one stream, beside what channel bonding gave in its document.

use super::question::{BenchKind, bench_kind};
use super::ratios::bar;
use super::section::ReportSection;
use crate::Outcome;
use crate::report::bar_chart::{Bar, BarChart};
use crate::report::published as from;

/// The section of streams over two paths, if they were measured.
pub fn sections(outcomes: &[Outcome]) -> Vec<ReportSection> {
    let rows = outcomes
        .iter()
        .filter(|o| bench_kind(o) == BenchKind::Rails);
    let rows: Vec<Outcome> = rows.cloned().collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let measured: Vec<Bar> = rows.iter().filter_map(bar).collect();
    let published = from::BONDING_GAINS.iter().map(|&(name, ratio)| Bar {
        name: name.to_owned(),
        ratio,
        note: format!("{}: {name}", from::BONDING),
    });
    let bars = (!measured.is_empty()).then(|| BarChart {
        title: "Throughput over two paths, ratio to one".to_owned(),
        bars: measured.into_iter().chain(published).collect(),
    });
    vec![ReportSection {
        id: "rails".to_owned(),
        title: "Two paths for one stream".to_owned(),
        source: "the channel bonding document".to_owned(),
        description: "A stream by rum over two links of 1 Gbit/s, as a share of a bare socket over \
                      one of them in the same run: 2 is all that two links have. The other bars are \
                      from sentences of the document, where the kernel bonded two adapters of 1 \
                      Gbit/s, as a share of the same transport over one; its figures are pictures \
                      without values."
            .to_owned(),
        bars,
        tables: vec![rows.into()],
        ..ReportSection::default()
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(bench: &str, ratio: Option<f64>) -> Outcome {
        Outcome {
            bench: bench.to_owned(),
            path: "rum".to_owned(),
            size_bytes: Some(1024),
            ratio,
            ..Outcome::default()
        }
    }

    #[test]
    fn the_document_stands_beside_the_results() {
        let found = sections(&[outcome("rails", Some(1.9)), outcome("hosts", Some(1.0))]);
        let bars = found[0].bars.as_ref().expect("bars");
        let ratios: Vec<_> = bars.bars.iter().map(|bar| bar.ratio).collect();
        assert_eq!(ratios, [1.9, 1.60, 1.40, 1.68]);
        assert_eq!(found[0].tables[0].rows.len(), 1);
    }

    #[test]
    fn nothing_is_drawn_of_what_was_not_measured() {
        assert!(sections(&[outcome("hosts", Some(1.0))]).is_empty());
        let refused = sections(&[outcome("rails", None)]);
        assert_eq!(refused[0].bars, None);
    }
}
