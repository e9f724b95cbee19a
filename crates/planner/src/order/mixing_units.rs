//! Units that mix several origins, so that everything downstream agrees on the mixture.
//!
//! ```text
//!   A --+        +-> P --+
//!       +-> Mix -+       +-> Join      a tuple that Mix takes from A before one from B
//!   B --+        +-> Q --+             comes to Join before it, by P and by Q
//! ```
//! Only a thread that takes the tuples of all these origins knows in which order it took them, and
//! sends that order downstream (`runtime::order`). So a unit that several threads would
//! enter gets a merge.

use std::collections::{BTreeMap, BTreeSet};

use graph::OriginId;

use super::arrival_analysis::{ArrivalAnalysis, OrderRequirement};
use super::order_context::OrderContext;

/// The units that need a merge because they mix origins whose order counts downstream.
pub(super) fn find_mixing_units(
    context: &OrderContext<'_>,
    arrivals: &ArrivalAnalysis<'_, '_>,
) -> BTreeSet<usize> {
    let requirements = arrivals.order_requirements().into_iter();
    let several = requirements.filter(|r| r.origins.len() > 1 && r.edges.len() > 1);
    several
        .flat_map(|requirement| mixing_units_of(context, arrivals, &requirement))
        .collect()
}

fn mixing_units_of(
    context: &OrderContext<'_>,
    arrivals: &ArrivalAnalysis<'_, '_>,
    requirement: &OrderRequirement,
) -> BTreeSet<usize> {
    // How many of the edges tuples come to from each unit.
    let mut path_counts: BTreeMap<usize, u32> = BTreeMap::new();
    for &(from, to) in &requirement.edges {
        if context.origins.of_queue(to).is_none() {
            let from = from.operator.0 as usize;
            let units = upstream_units(context, arrivals, from, &requirement.origins);
            units.for_each(|unit| *path_counts.entry(unit).or_default() += 1);
        }
    }
    let parts = |unit: &usize| path_counts.get(unit).is_some_and(|&count| count > 1);
    let is_mix = |unit: &usize| {
        let is_mixed = parts(unit) || is_behind_timers(context, arrivals, *unit, parts);
        is_mixed && arrivals.threads_of(*unit, &requirement.origins) > 1
    };
    let all = path_counts.keys().copied();
    all.filter(|unit| !arrivals.contested_units.contains_key(unit))
        .filter(is_mix)
        .collect()
}

/// The units upstream of an operator whose tuples of these origins contribute to the tuples that it
/// submits, and the operator's own unit.
fn upstream_units(
    context: &OrderContext<'_>,
    arrivals: &ArrivalAnalysis<'_, '_>,
    operator: usize,
    origins: &BTreeSet<OriginId>,
) -> impl Iterator<Item = usize> {
    let units = &context.origins.units;
    let mut seen = BTreeSet::from([units.unit_of[operator]]);
    let mut open = vec![units.unit_of[operator]];
    while let Some(unit) = open.pop() {
        let edges = arrivals.edges_into(unit).into_iter();
        let edges =
            edges.filter(|&(from, to)| !context.origins.of_arrivals(from, to).is_disjoint(origins));
        let edges = edges.filter(|(_, to)| context.origins.of_queue(*to).is_none());
        let before = edges.map(|(from, _)| units.unit_of[from.operator.0 as usize]);
        open.extend(before.filter(|&unit| seen.insert(unit)));
    }
    seen.into_iter()
}

/// Whether an operator that also submits by timers feeds a unit, and `parts` holds for its own
/// unit: timers mix an origin into the operator's stream as it leaves.
fn is_behind_timers(
    context: &OrderContext<'_>,
    arrivals: &ArrivalAnalysis<'_, '_>,
    unit: usize,
    parts: impl Fn(&usize) -> bool,
) -> bool {
    let mut edges = arrivals.edges_into(unit).into_iter();
    edges.any(|(from, _)| {
        let at = from.operator.0 as usize;
        context.program.operators[at].timers.submit() && parts(&context.origins.units.unit_of[at])
    })
}
