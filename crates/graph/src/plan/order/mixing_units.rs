//! Units where several origins are mixed, so that everything downstream agrees on how.
//!
//! ```text
//!   A --+        +-> P --+
//!       +-> Mix -+       +-> Join      what Mix takes from A before something from B
//!   B --+        +-> Q --+             comes to Join before that, by P and by Q
//! ```
//! Only a thread that takes all of them knows in which order it has taken them, and says so
//! downstream (`runtime::crossing::order`). So where several threads would enter such a unit, it
//! gets a merge.

use std::collections::{BTreeMap, BTreeSet};

use super::arrival_analysis::{ArrivalAnalysis, OrderRequirement};
use super::{OrderContext, OriginId};

/// The units that have to become merges for that.
pub(super) fn find_mixing_units(
    context: &OrderContext<'_>,
    entries: &ArrivalAnalysis<'_, '_>,
) -> BTreeSet<usize> {
    let needs = entries.order_requirements().into_iter();
    let needs = needs.filter(|need| need.origins.len() > 1 && need.edges.len() > 1);
    needs
        .flat_map(|need| mixing_units_of(context, entries, &need))
        .collect()
}

fn mixing_units_of(
    context: &OrderContext<'_>,
    entries: &ArrivalAnalysis<'_, '_>,
    need: &OrderRequirement,
) -> BTreeSet<usize> {
    let mut ways: BTreeMap<usize, u32> = BTreeMap::new();
    for &(from, to) in &need.edges {
        if context.origins.of_queue(to).is_none() {
            let units = upstream_units(context, entries, from.operator.0 as usize, &need.origins);
            units.for_each(|unit| *ways.entry(unit).or_default() += 1);
        }
    }
    let parts = |unit: &usize| ways.get(unit).is_some_and(|&ways| ways > 1);
    let is_mix = |unit: &usize| {
        let is_mixed = parts(unit) || is_behind_timers(context, entries, *unit, parts);
        is_mixed && entries.threads_of(*unit, &need.origins) > 1
    };
    let all = ways.keys().copied();
    all.filter(|unit| !entries.contested_units.contains_key(unit))
        .filter(is_mix)
        .collect()
}

/// The units from which something that one of the origins began comes to what an operator submits,
/// and its own.
fn upstream_units(
    context: &OrderContext<'_>,
    entries: &ArrivalAnalysis<'_, '_>,
    operator: usize,
    origins: &BTreeSet<OriginId>,
) -> impl Iterator<Item = usize> {
    let units = &context.origins.units;
    let mut seen = BTreeSet::from([units.unit_of[operator]]);
    let mut open = vec![units.unit_of[operator]];
    while let Some(unit) = open.pop() {
        let edges = entries.edges_into(unit).into_iter();
        let edges =
            edges.filter(|&(from, to)| !context.origins.of_arrivals(from, to).is_disjoint(origins));
        let edges = edges.filter(|(_, to)| context.origins.of_queue(*to).is_none());
        let before = edges.map(|(from, _)| units.unit_of[from.operator.0 as usize]);
        open.extend(before.filter(|&unit| seen.insert(unit)));
    }
    seen.into_iter()
}

/// Whether a unit takes what an operator submits by itself among all else: that is mixed on its way
/// out.
fn is_behind_timers(
    context: &OrderContext<'_>,
    entries: &ArrivalAnalysis<'_, '_>,
    unit: usize,
    parts: impl Fn(&usize) -> bool,
) -> bool {
    let mut edges = entries.edges_into(unit).into_iter();
    edges.any(|(from, _)| {
        let at = from.operator.0 as usize;
        context.program.operators[at].submits_by_timer && parts(&context.origins.units.unit_of[at])
    })
}
