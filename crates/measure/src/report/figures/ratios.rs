//! Benchmarks that no document has a figure for: each result beside its control, as a bar.

use super::{Question, Section, is_normal, note, question};
use crate::Outcome;
use crate::report::bars::{Bar, Bars};

/// A section a benchmark, in their order of coming.
pub fn sections(outcomes: &[Outcome]) -> Vec<Section> {
    let others = outcomes.iter().filter(|o| question(o) == Question::Other);
    let mut benches: Vec<&str> = Vec::new();
    for outcome in others {
        if !benches.contains(&outcome.bench.as_str()) {
            benches.push(&outcome.bench);
        }
    }
    benches
        .iter()
        .map(|bench| section(bench, outcomes))
        .collect()
}

fn section(bench: &str, outcomes: &[Outcome]) -> Section {
    let mine = outcomes.iter().filter(|outcome| outcome.bench == bench);
    let rows: Vec<Outcome> = mine.cloned().collect();
    let bars: Vec<Bar> = rows.iter().filter_map(bar).collect();
    Section {
        id: format!("bench-{bench}"),
        title: title(bench),
        source: String::new(),
        about: "Each result as a share of its control, a loop written by hand that does the same \
                in the same run: at 1 they are level, beyond it the control is beaten."
            .to_owned(),
        charts: Vec::new(),
        bars: (!bars.is_empty()).then(|| Bars {
            title: format!("{}, ratio to the control", title(bench)),
            bars,
        }),
        tables: vec![rows.into()],
    }
}

fn bar(outcome: &Outcome) -> Option<Bar> {
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
        note: note(outcome),
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
