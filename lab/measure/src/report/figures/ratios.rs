//! Benchmarks that no document has a figure for: each result beside its control, as a bar.

use super::question::{BenchKind, bench_kind, is_normal};
use super::section::ReportSection;
use super::series::tooltip;
use crate::Outcome;
use crate::report::bar_chart::{Bar, BarChart};

/// A section per benchmark, in the order of results; comparisons with other projects have their
/// own.
pub fn sections(outcomes: &[Outcome]) -> Vec<ReportSection> {
    let others = || {
        outcomes
            .iter()
            .filter(|o| bench_kind(o) == BenchKind::Other)
    };
    let mut kinds: Vec<RatioGroup> = Vec::new();
    for kind in others().map(ratio_group) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let rows = |of: RatioGroup| others().filter(|o| ratio_group(o) == of).cloned().collect();
    kinds
        .iter()
        .map(|kind| section(*kind, rows(*kind)))
        .collect()
}

/// The benchmark's name, and whether its controls are other projects.
type RatioGroup<'a> = (&'a str, bool);

fn ratio_group(outcome: &Outcome) -> RatioGroup<'_> {
    (&outcome.bench, outcome.peer.is_some())
}

fn section((bench, is_beside_peers): RatioGroup, rows: Vec<Outcome>) -> ReportSection {
    let bars: Vec<Bar> = rows.iter().filter_map(bar).collect();
    let (id, title, about) = match is_beside_peers {
        true => (
            format!("peers-{bench}"),
            format!("{} beside other projects", title(bench)),
            "Each result as a share of what the other project did in the same run: at 1 they are \
             level, beyond it Thalweg is faster.",
        ),
        false => (
            format!("bench-{bench}"),
            title(bench),
            "Each result as a share of its control, a loop written by hand that does the same in \
             the same run: at 1 they are level, beyond it the control is beaten.",
        ),
    };
    ReportSection {
        id,
        bars: (!bars.is_empty()).then(|| BarChart {
            title: format!("{title}, ratio to the control"),
            bars,
        }),
        title,
        description: about.to_owned(),
        tables: vec![rows.into()],
        ..ReportSection::default()
    }
}

/// The bar of a result; `None` if it has no ratio.
pub fn bar(outcome: &Outcome) -> Option<Bar> {
    let mut name = outcome.path.clone();
    if is_normal(outcome) {
        name += ", normal";
    }
    if let Some(peer) = &outcome.peer {
        name += &format!(" beside {peer}");
    }
    if let Some(size) = outcome.size_bytes {
        name += &format!(", {size} B");
    }
    Some(Bar {
        name,
        ratio: outcome
            .ratio
            .filter(|ratio| ratio.is_finite() && *ratio >= 0.0)?,
        note: tooltip(outcome),
    })
}

/// The benchmark's name as a heading.
fn title(bench: &str) -> String {
    let mut letters = bench.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "Without a name".to_owned(),
    }
}
