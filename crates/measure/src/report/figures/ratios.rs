//! Benchmarks that no document has a figure for: each result beside its control, as a bar.

use super::{Question, Section, is_normal, note, question};
use crate::Outcome;
use crate::report::bars::{Bar, Bars};

/// A section a benchmark, in their order of coming; what was measured beside other projects apart.
pub fn sections(outcomes: &[Outcome]) -> Vec<Section> {
    let others = || outcomes.iter().filter(|o| question(o) == Question::Other);
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in others().map(kind) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let rows = |of: Kind| others().filter(|o| kind(o) == of).cloned().collect();
    kinds
        .iter()
        .map(|kind| section(*kind, rows(*kind)))
        .collect()
}

/// The benchmark's name, and whether its controls are other projects.
type Kind<'a> = (&'a str, bool);

fn kind(outcome: &Outcome) -> Kind<'_> {
    (&outcome.bench, outcome.peer.is_some())
}

fn section((bench, is_beside_peers): Kind, rows: Vec<Outcome>) -> Section {
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
    Section {
        id,
        bars: (!bars.is_empty()).then(|| Bars {
            title: format!("{title}, ratio to the control"),
            bars,
        }),
        title,
        about: about.to_owned(),
        tables: vec![rows.into()],
        ..Section::default()
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
