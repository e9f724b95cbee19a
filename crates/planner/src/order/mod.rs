//! Paths of one source that meet again on several threads, and how their tuples keep their order.
//!
//! ```text
//!              +-> Trades -> Averages -+      fused: the average of a trade comes to Join before
//!   source ----+                       +-> Join      the quote behind that trade, always
//!              +-> Quotes -------------+      cut:   the faster thread comes first
//! ```
//! So that a program gives the same on every plan, one thread takes both streams for Join, in the
//! order in which the source's tuples led to them. Each frame that crosses carries its position in
//! that order; `runtime::order` defines positions.
//!
//! # Words
//! * An *origin* gives its tuples their order: a source, or anything else that submits by itself
//!   (an operator with a thread or a timer of its own, a queue that the program asks for). The
//!   order of two origins is free where they meet first; downstream of there it is kept
//!   ([`mixing_units`]).
//! * A *merge* is a thread that takes streams for some operators in the order of their origins.
//! * A crossing is *ordered* by an origin if a merge downstream of it needs that.
//! * A *unit* is an operator outside of loops, or all operators of a loop.
//!
//! # Steps
//! ```text
//!   origins of each stream -> streams that share a receiver -> threads that enter each unit
//!   -> units that need a merge -> crossings upstream of merges, which carry positions
//! ```
//!
//! # Cost
//! Nothing where there is one PE without queues; else a walk over the edges for each origin that
//! reaches a merge.

mod arrival_analysis;
mod mixing_units;
mod order_context;
mod plan_order;
mod receiver_sharing;
mod stream_origins;
mod upstream_marking;

use std::collections::BTreeSet;

use arrival_analysis::ArrivalAnalysis;
use graph::{CrossingId, Merge, PeAssignment, Plan, Program, ReceiverPlan};
use order_context::OrderContext;
pub use plan_order::PlanOrder;
use upstream_marking::UpstreamMarking;

use crate::streams::StreamConsumers;

/// The order that a plan has to keep, with the receivers and merges of each PE. The plan's
/// crossings are complete; receivers and merges that it already has are not looked at.
pub fn order(plan: &Plan, program: &Program) -> PlanOrder {
    // Without crossings and queues each origin has one thread.
    if plan.crossings.is_empty() && plan.pes.iter().all(|pe| pe.threaded_ports.is_empty()) {
        return PlanOrder {
            receivers: vec![Vec::new(); plan.pes.len()],
            merges: vec![Vec::new(); plan.pes.len()],
            ..PlanOrder::default()
        };
    }
    let stream_consumers = StreamConsumers::new(program);
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let context = OrderContext::new(plan, program, &stream_consumers, &pe_assignment);
    let arrivals = analyse_arrivals(&context);
    let mut upstream = UpstreamMarking::new(&context, &arrivals);
    for requirement in arrivals.order_requirements() {
        upstream.mark(requirement);
    }
    let (merges, crossings) = upstream.into_merges();
    PlanOrder {
        receivers: receivers_beside_merges(&context, &merges),
        merges,
        crossings,
        origin_ids: context.origins.origin_ids(),
    }
}

/// The threads that enter each unit. A merge for units that mix origins can itself need order
/// upstream, so the analysis is repeated until no further unit gets a merge.
fn analyse_arrivals<'g, 'a>(context: &'g OrderContext<'a>) -> ArrivalAnalysis<'g, 'a> {
    let mut mixing_units = BTreeSet::new();
    loop {
        let arrivals = ArrivalAnalysis::new(context, &mixing_units);
        let more = mixing_units::find_mixing_units(context, &arrivals);
        if more.is_empty() {
            return arrivals;
        }
        mixing_units.extend(more);
    }
}

/// The receivers of each PE, without the crossings that merges take.
fn receivers_beside_merges(
    context: &OrderContext<'_>,
    merges: &[Vec<Merge>],
) -> Vec<Vec<ReceiverPlan>> {
    let mut receivers = context.receivers.clone();
    for (receivers, merges) in receivers.iter_mut().zip(merges) {
        let inputs = merges.iter().flat_map(|merge| &merge.inputs);
        let taken: BTreeSet<CrossingId> = inputs.filter_map(|input| input.crossing).collect();
        for receiver in receivers.iter_mut() {
            receiver.crossings.retain(|id| !taken.contains(id));
        }
        receivers.retain(|receiver| !receiver.crossings.is_empty());
    }
    receivers
}
