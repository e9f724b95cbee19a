//! Units where several origins are mixed, so that everything downstream agrees on how.
//!
//! ```text
//!   A --+        +-> P --+
//!       +-> Mix -+       +-> Join      what Mix takes from A before something from B
//!   B --+        +-> Q --+             comes to Join before that, by P and by Q
//! ```
//! Only a thread that takes all of them knows in which order it has taken them, and says so downstream
//! (`runtime::crossing::order`). So where several threads would enter such a unit, it gets a merge.

use std::collections::{BTreeMap, BTreeSet};

use super::entries::{Entries, Need};
use super::{Ground, Origin};

/// The units that have to become merges for that.
pub(super) fn of(ground: &Ground<'_>, entries: &Entries<'_, '_>) -> BTreeSet<usize> {
    let needs = entries.needs().into_iter();
    let needs = needs.filter(|need| need.origins.len() > 1 && need.edges.len() > 1);
    needs
        .flat_map(|need| of_need(ground, entries, &need))
        .collect()
}

fn of_need(ground: &Ground<'_>, entries: &Entries<'_, '_>, need: &Need) -> BTreeSet<usize> {
    let mut ways: BTreeMap<usize, u32> = BTreeMap::new();
    for &(from, to) in &need.edges {
        if ground.origins.queue(to).is_none() {
            let units = upstream(ground, entries, from.operator.0 as usize, &need.origins);
            units.for_each(|unit| *ways.entry(unit).or_default() += 1);
        }
    }
    let parts = |unit: &usize| ways.get(unit).is_some_and(|&ways| ways > 1);
    let is_mix = |unit: &usize| {
        let is_mixed = parts(unit) || is_behind_timers(ground, entries, *unit, parts);
        is_mixed && entries.threads_of(*unit, &need.origins) > 1
    };
    let all = ways.keys().copied();
    all.filter(|unit| !entries.merged.contains_key(unit))
        .filter(is_mix)
        .collect()
}

/// The units from which something that one of the origins began comes to what an operator submits,
/// and its own.
fn upstream(
    ground: &Ground<'_>,
    entries: &Entries<'_, '_>,
    operator: usize,
    origins: &BTreeSet<Origin>,
) -> impl Iterator<Item = usize> {
    let units = &ground.origins.units;
    let mut seen = BTreeSet::from([units.of[operator]]);
    let mut open = vec![units.of[operator]];
    while let Some(unit) = open.pop() {
        let edges = entries.outside(unit).into_iter();
        let edges =
            edges.filter(|&(from, to)| !ground.origins.arriving(from, to).is_disjoint(origins));
        let edges = edges.filter(|(_, to)| ground.origins.queue(*to).is_none());
        let before = edges.map(|(from, _)| units.of[from.operator.0 as usize]);
        open.extend(before.filter(|&unit| seen.insert(unit)));
    }
    seen.into_iter()
}

/// Whether a unit takes what an operator submits by itself among all else: that is mixed on its way out.
fn is_behind_timers(
    ground: &Ground<'_>,
    entries: &Entries<'_, '_>,
    unit: usize,
    parts: impl Fn(&usize) -> bool,
) -> bool {
    let mut edges = entries.outside(unit).into_iter();
    edges.any(|(from, _)| {
        let at = from.operator.0 as usize;
        ground.program.operators[at].is_timed && parts(&ground.origins.units.of[at])
    })
}
