//! Where paths of one source meet again on several threads, and how they keep their order there.
//!
//! ```text
//!              +-> Trades -> Averages -+         fused: the average of a trade comes to Join before
//!   source ----+                       +-> Join         the quote behind that trade, always
//!              +-> Quotes -------------+         cut:   whichever thread is faster
//! ```
//! So that a program gives the same on every plan, one thread takes both streams for Join, in the
//! order in which the source has brought them about. What crosses says where it stands in that
//! order; `runtime::crossing_to::order` says how.
//!
//! # Words
//! * An *origin* gives its tuples their order: a source, or something else that submits by itself
//!   (an operator with a thread or a timer of its own, a queue that the program asks for). The
//!   order of two origins is free where they meet first; downstream it is what it was there
//!   ([`mixing_units`]).
//! * A *merge* is a thread that takes streams for some operators in the order of their origins.
//! * A crossing is *ordered* by an origin if a merge that is downstream of it needs that.
//!
//! # Cost
//! Nothing where there is one PE without queues; else a walk over the edges for each origin that
//! reaches a merge.

mod arrival_analysis;
mod mixing_units;
mod origins;
mod units;
mod upstream_marking;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::pe_assignment::PeAssignment;
use super::receivers::ReceiverPlan;
use super::stream_consumers::{InPortId, StreamConsumers};
use super::{CongestionPolicy, Plan, Program, ThreadedPort};
use crate::{OperatorId, OutPortId};

use arrival_analysis::ArrivalAnalysis;
pub(super) use origins::StreamOrigins;
use upstream_marking::UpstreamMarking;

/// The number of an origin: the same in every PE of a plan.
pub type OriginId = u32;

/// What a plan keeps in order, and where.
#[derive(Clone, Debug, Default)]
pub struct PlanOrder {
    /// The receivers of each PE, in order of their first crossings, but for what merges take.
    pub receivers: Vec<Vec<ReceiverPlan>>,
    /// The merges of each PE, in order of their operators.
    pub merges: Vec<Vec<Merge>>,
    /// The origins that each ordered crossing is ordered by.
    crossings: BTreeMap<u32, Vec<OriginId>>,
    /// What operators, and their queues, begin.
    origin_ids: BTreeMap<(OperatorId, Option<u32>), OriginId>,
}

/// A thread of a PE that takes streams for some operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The operators, in order: one, or those of a loop.
    pub operators: Vec<OperatorId>,
    /// The streams, in order of the ports that they feed.
    pub inputs: Vec<MergeInput>,
    /// The core of its thread, if a queue whose place it takes has one.
    pub core: Option<u32>,
}

/// A stream that a merge takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeInput {
    /// The stream.
    pub from: OutPortId,
    /// The crossing that brings it straight to the merge; `None`: a ring within the PE does.
    pub crossing: Option<u32>,
    /// What it is ordered by.
    pub origins: Vec<OriginId>,
    /// The ports that it feeds.
    pub consumers: Vec<InPortId>,
}

impl PlanOrder {
    /// What a crossing is ordered by; nothing: it is not.
    pub fn origins_of_crossing(&self, crossing_number: u32) -> &[OriginId] {
        self.crossings
            .get(&crossing_number)
            .map_or(&[], Vec::as_slice)
    }

    /// The origin that an operator is, with what it submits by itself.
    pub fn origin_of_operator(&self, operator: OperatorId) -> Option<OriginId> {
        self.origin_ids.get(&(operator, None)).copied()
    }

    /// The origin that the queue of a port is.
    pub fn origin_of_queue(&self, operator: OperatorId, port: u32) -> Option<OriginId> {
        self.origin_ids.get(&(operator, Some(port))).copied()
    }

    /// Whether anything is kept in order.
    pub fn is_unordered(&self) -> bool {
        self.crossings.is_empty() && self.merges.iter().all(Vec::is_empty)
    }
}

impl Merge {
    /// Whether it brings a port what comes there.
    pub fn feeds(&self, to: InPortId) -> bool {
        let mut inputs = self.inputs.iter();
        inputs.any(|input| input.consumers.contains(&to))
    }
}

impl Plan {
    /// What has to be kept in order. Its crossings are complete.
    pub fn order(&self, program: &Program) -> PlanOrder {
        // Each origin has one thread.
        if self.crossings.is_empty() && self.pes.iter().all(|pe| pe.threaded_ports.is_empty()) {
            return PlanOrder {
                receivers: vec![Vec::new(); self.pes.len()],
                merges: vec![Vec::new(); self.pes.len()],
                ..PlanOrder::default()
            };
        }
        let stream_consumers = StreamConsumers::new(program);
        let pe_assignment = PeAssignment::new(self, program.operators.len());
        let context = OrderContext::new(self, program, &stream_consumers, &pe_assignment);
        context.order()
    }
}

/// Everything that the steps look at.
pub(super) struct OrderContext<'a> {
    plan: &'a Plan,
    program: &'a Program,
    stream_consumers: &'a StreamConsumers,
    pe_assignment: &'a PeAssignment,
    origins: StreamOrigins,
    /// The receivers of each PE.
    receivers: Vec<Vec<ReceiverPlan>>,
    crossing_index: HashMap<(OutPortId, u32), u32>,
    queues: HashMap<InPortId, &'a ThreadedPort>,
}

/// How a tuple gets from a stream to a port.
#[derive(Clone, Copy, Debug)]
enum EdgeTransfer {
    /// By a call.
    FusedCall,
    /// By a queue that gives its own order.
    OwnOrderQueue,
    /// By a queue that only the plan wants.
    RelayQueue,
    /// By a crossing to this PE.
    Crossing(u32),
}

impl<'a> OrderContext<'a> {
    fn new(
        plan: &'a Plan,
        program: &'a Program,
        stream_consumers: &'a StreamConsumers,
        pe_assignment: &'a PeAssignment,
    ) -> OrderContext<'a> {
        let queues = plan.pes.iter().flat_map(|pe| &pe.threaded_ports);
        let queues: HashMap<_, _> = queues.map(|queue| (queue.in_port(), queue)).collect();
        let loops = stream_consumers.loops();
        let own = queues
            .values()
            .filter(|queue| queue.has_own_order(program, &loops));
        let own: BTreeSet<InPortId> = own.map(|queue| queue.in_port()).collect();
        let origins = StreamOrigins::new(program, stream_consumers, &own);
        OrderContext {
            plan,
            program,
            stream_consumers,
            pe_assignment,
            receivers: super::receivers::plan_receivers(
                plan,
                stream_consumers,
                pe_assignment,
                &origins,
            ),
            crossing_index: plan.crossing_index(),
            queues,
            origins,
        }
    }

    fn order(&self) -> PlanOrder {
        let entries = self.analyse_arrivals();
        let mut upstream = UpstreamMarking::new(self, &entries);
        for need in entries.order_requirements() {
            upstream.mark(need);
        }
        let (merges, crossings) = upstream.into_merges();
        PlanOrder {
            receivers: self.receivers_beside_merges(&merges),
            merges,
            crossings,
            origin_ids: self.origins.origin_ids(),
        }
    }

    /// Who enters what. A merge for those that mix origins can need order itself.
    fn analyse_arrivals(&self) -> ArrivalAnalysis<'_, 'a> {
        let mut mixes = BTreeSet::new();
        loop {
            let entries = ArrivalAnalysis::new(self, &mixes);
            let more = mixing_units::find_mixing_units(self, &entries);
            if more.is_empty() {
                return entries;
            }
            mixes.extend(more);
        }
    }

    /// The receivers, without the crossings that merges take.
    fn receivers_beside_merges(&self, merges: &[Vec<Merge>]) -> Vec<Vec<ReceiverPlan>> {
        let mut receivers = self.receivers.clone();
        for (receivers, merges) in receivers.iter_mut().zip(merges) {
            let inputs = merges.iter().flat_map(|merge| &merge.inputs);
            let taken: BTreeSet<u32> = inputs.filter_map(|input| input.crossing).collect();
            for receiver in receivers.iter_mut() {
                receiver
                    .crossings
                    .retain(|crossing_number| !taken.contains(crossing_number));
            }
            receivers.retain(|receiver| !receiver.crossings.is_empty());
        }
        receivers
    }

    /// How a stream gets to a port.
    fn transfer(&self, from: OutPortId, to: InPortId) -> EdgeTransfer {
        let operator_pe = self.pe_assignment.pe_of(to.operator);
        match self.queues.contains_key(&to) {
            true if self.origins.of_queue(to).is_some() => EdgeTransfer::OwnOrderQueue,
            true => EdgeTransfer::RelayQueue,
            false if self.pe_assignment.pe_of(from.operator) == operator_pe => {
                EdgeTransfer::FusedCall
            }
            false => self
                .crossing_to(from, to)
                .map_or(EdgeTransfer::FusedCall, EdgeTransfer::Crossing),
        }
    }

    /// The crossing that takes a stream to the PE of a port.
    fn crossing_to(&self, from: OutPortId, to: InPortId) -> Option<u32> {
        let operator_pe = self.pe_assignment.pe_of(to.operator)?;
        self.crossing_index.get(&(from, operator_pe)).copied()
    }

    /// The streams that feed an operator, by port.
    fn input_edges(
        &self,
        operator: OperatorId,
    ) -> impl Iterator<Item = (OutPortId, InPortId)> + use<'a> {
        let inputs = &self.program.operators[operator.0 as usize].inputs;
        (0..).zip(inputs).flat_map(move |(port, input)| {
            let to = InPortId { operator, port };
            input.sources.iter().map(move |&from| (from, to))
        })
    }
}

impl ThreadedPort {
    /// The port.
    pub(super) fn in_port(&self) -> InPortId {
        let (operator, port) = (self.operator, self.port);
        InPortId { operator, port }
    }

    /// Whether what comes out has the queue's own order: the program wants it, it drops tuples, or
    /// it is part of a loop.
    fn has_own_order(&self, program: &Program, loops: &[Option<u32>]) -> bool {
        let Some(operator) = program.operators.get(self.operator.0 as usize) else {
            return true;
        };
        let number = |id: OperatorId| loops.get(id.0 as usize).copied().flatten();
        let own = number(self.operator);
        let sources = operator
            .inputs
            .get(self.port as usize)
            .map(|port| &port.sources);
        let mut sources = sources.into_iter().flatten();
        self.congestion != CongestionPolicy::Wait
            || operator.declares_queue(self.port)
            || own.is_some() && sources.any(|from| number(from.operator) == own)
    }
}
