//! Where paths of one source meet again on several threads, and how they keep their order there.
//!
//! ```text
//!              +-> Trades -> Averages -+         fused: the average of a trade comes to Join before
//!   source ----+                       +-> Join         the quote behind that trade, always
//!              +-> Quotes -------------+         cut:   whichever thread is faster
//! ```
//! So that a program gives the same on every plan, one thread takes both streams for Join, in the
//! order in which the source has brought them about. What crosses says where it stands in that order;
//! `runtime::crossing::order` says how.
//!
//! # Words
//! * An *origin* gives its tuples their order: a source, or something else that submits by itself (an
//!   operator with a thread or a timer of its own, a queue that the program asks for). The order of
//!   two origins is free where they meet first; downstream it is what it was there ([`mixes`]).
//! * A *merge* is a thread that takes streams for some operators in the order of their origins.
//! * A crossing is *ordered* by an origin if a merge that is downstream of it needs that.
//!
//! # Cost
//! Nothing where there is one PE without queues; else a walk over the edges for each origin that
//! reaches a merge.

mod entries;
mod mixes;
mod origins;
mod units;
mod upstream;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::flow::{Consumer, Flow};
use super::homes::Homes;
use super::receivers::Receiver;
use super::{Congestion, Plan, Program, ThreadedPort};
use crate::{Edge, OperatorId};

use entries::Entries;
pub(super) use origins::Origins;
use upstream::Upstream;

/// The number of an origin: the same in every PE of a plan.
pub type Origin = u32;

/// What a plan keeps in order, and where.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The receivers of each PE, in order of their first crossings, but for what merges take.
    pub receivers: Vec<Vec<Receiver>>,
    /// The merges of each PE, in order of their operators.
    pub merges: Vec<Vec<Merge>>,
    /// The origins that each ordered crossing is ordered by.
    crossings: BTreeMap<u32, Vec<Origin>>,
    /// What operators, and their queues, begin.
    begins: BTreeMap<(OperatorId, Option<u32>), Origin>,
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
    pub from: Edge,
    /// The crossing that brings it straight to the merge; `None`: a ring within the PE does.
    pub crossing: Option<u32>,
    /// What it is ordered by.
    pub origins: Vec<Origin>,
    /// The ports that it feeds.
    pub consumers: Vec<Consumer>,
}

impl Order {
    /// What a crossing is ordered by; nothing: it is not.
    pub fn of_crossing(&self, link: u32) -> &[Origin] {
        self.crossings.get(&link).map_or(&[], Vec::as_slice)
    }

    /// The origin that an operator is, with what it submits by itself.
    pub fn begun_by(&self, operator: OperatorId) -> Option<Origin> {
        self.begins.get(&(operator, None)).copied()
    }

    /// The origin that the queue of a port is.
    pub fn begun_by_queue(&self, operator: OperatorId, port: u32) -> Option<Origin> {
        self.begins.get(&(operator, Some(port))).copied()
    }

    /// Whether anything is kept in order.
    pub fn is_free(&self) -> bool {
        self.crossings.is_empty() && self.merges.iter().all(Vec::is_empty)
    }
}

impl Merge {
    /// Whether it brings a port what comes there.
    pub fn feeds(&self, to: Consumer) -> bool {
        let mut inputs = self.inputs.iter();
        inputs.any(|input| input.consumers.contains(&to))
    }
}

impl Plan {
    /// What has to be kept in order. Its crossings are complete.
    pub fn order(&self, program: &Program) -> Order {
        // Each origin has one thread.
        if self.crossings.is_empty() && self.pes.iter().all(|pe| pe.threaded.is_empty()) {
            return Order {
                receivers: vec![Vec::new(); self.pes.len()],
                merges: vec![Vec::new(); self.pes.len()],
                ..Order::default()
            };
        }
        let flow = Flow::new(program);
        let homes = Homes::new(self, program.operators.len());
        let ground = Ground::new(self, program, &flow, &homes);
        ground.order()
    }
}

/// Everything that the steps look at.
pub(super) struct Ground<'a> {
    plan: &'a Plan,
    program: &'a Program,
    flow: &'a Flow,
    homes: &'a Homes,
    origins: Origins,
    /// The receivers of each PE.
    receivers: Vec<Vec<Receiver>>,
    links: HashMap<(Edge, u32), u32>,
    queues: HashMap<Consumer, &'a ThreadedPort>,
}

/// How a tuple gets from a stream to a port.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// By a call.
    Call,
    /// By a queue that gives its own order.
    Queue,
    /// By a queue that only the plan wants.
    Relay,
    /// By a crossing to this PE.
    Crossing(u32),
}

impl<'a> Ground<'a> {
    fn new(plan: &'a Plan, program: &'a Program, flow: &'a Flow, homes: &'a Homes) -> Ground<'a> {
        let queues = plan.pes.iter().flat_map(|pe| &pe.threaded);
        let queues: HashMap<_, _> = queues.map(|queue| (queue.consumer(), queue)).collect();
        let loops = flow.loops();
        let own = queues
            .values()
            .filter(|queue| queue.is_own_order(program, &loops));
        let own: BTreeSet<Consumer> = own.map(|queue| queue.consumer()).collect();
        let origins = Origins::new(program, flow, &own);
        Ground {
            plan,
            program,
            flow,
            homes,
            receivers: super::receivers::receivers(plan, flow, homes, &origins),
            links: plan.links(),
            queues,
            origins,
        }
    }

    fn order(&self) -> Order {
        let entries = self.entries();
        let mut upstream = Upstream::new(self, &entries);
        for need in entries.needs() {
            upstream.mark(need);
        }
        let (merges, crossings) = upstream.found();
        Order {
            receivers: self.without(&merges),
            merges,
            crossings,
            begins: self.origins.begins(),
        }
    }

    /// Who enters what. A merge for those that mix origins can need order itself.
    fn entries(&self) -> Entries<'_, 'a> {
        let mut mixes = BTreeSet::new();
        loop {
            let entries = Entries::of(self, &mixes);
            let more = mixes::of(self, &entries);
            if more.is_empty() {
                return entries;
            }
            mixes.extend(more);
        }
    }

    /// The receivers, without the crossings that merges take.
    fn without(&self, merges: &[Vec<Merge>]) -> Vec<Vec<Receiver>> {
        let mut receivers = self.receivers.clone();
        for (receivers, merges) in receivers.iter_mut().zip(merges) {
            let inputs = merges.iter().flat_map(|merge| &merge.inputs);
            let taken: BTreeSet<u32> = inputs.filter_map(|input| input.crossing).collect();
            for receiver in receivers.iter_mut() {
                receiver.links.retain(|link| !taken.contains(link));
            }
            receivers.retain(|receiver| !receiver.links.is_empty());
        }
        receivers
    }

    /// How a stream gets to a port.
    fn way(&self, from: Edge, to: Consumer) -> Way {
        let home = self.homes.of(to.operator);
        match self.queues.contains_key(&to) {
            true if self.origins.queue(to).is_some() => Way::Queue,
            true => Way::Relay,
            false if self.homes.of(from.operator) == home => Way::Call,
            false => self.crossing(from, to).map_or(Way::Call, Way::Crossing),
        }
    }

    /// The crossing that takes a stream to the PE of a port.
    fn crossing(&self, from: Edge, to: Consumer) -> Option<u32> {
        let home = self.homes.of(to.operator)?;
        self.links.get(&(from, home)).copied()
    }

    /// The streams that feed an operator, by port.
    fn inputs(&self, operator: OperatorId) -> impl Iterator<Item = (Edge, Consumer)> + use<'a> {
        let inputs = &self.program.operators[operator.0 as usize].inputs;
        (0..).zip(inputs).flat_map(move |(port, input)| {
            let to = Consumer { operator, port };
            input.sources.iter().map(move |&from| (from, to))
        })
    }
}

impl ThreadedPort {
    /// The port.
    pub(super) fn consumer(&self) -> Consumer {
        let (operator, port) = (self.operator, self.port);
        Consumer { operator, port }
    }

    /// Whether what comes out has the queue's own order: the program wants it, it drops tuples, or it
    /// is part of a loop.
    fn is_own_order(&self, program: &Program, loops: &[Option<u32>]) -> bool {
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
        self.congestion != Congestion::Wait
            || operator.declares_queue(self.port)
            || own.is_some() && sources.any(|from| number(from.operator) == own)
    }
}
