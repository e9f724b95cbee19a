//! A plan and its PEs: operators, threads, edges, and the core that each thread has.

use std::collections::HashMap;
use std::sync::Arc;

use super::plan_ids::{CrossingId, PeId};
use super::{Crossing, Merge, Pin, PinnedThread, ReceiverPlan, ThreadPool, ThreadedPort};
use crate::{OperatorId, OutPortId, PortIndex};

/// The processes, threads and crossings that run a program.
///
/// A plan is a value: the planner makes it, or `planner::parse_plan` reads it from its text. It has
/// no meaning without its program, whose operators it names by number. `planner::check` says
/// whether the two fit together; other functions assume that they do and may panic if not.
///
/// # Example
/// ```
/// use thalweg_graph::{OperatorId, PePlan, Plan, Program};
///
/// // All operators of a program in one PE, which may use two cores.
/// fn fused(program: &Program) -> Plan {
///     let operators = (0..program.operators.len() as u32).map(OperatorId).collect();
///     let pe = PePlan { operators, cores: vec![0, 1], ..PePlan::default() };
///     Plan { pes: vec![pe], crossings: Vec::new() }
/// }
/// let plan = fused(&Program::default());
/// assert_eq!(plan.pes[0].cores, [0, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The processes, by [`PeId`].
    pub pes: Vec<PePlan>,
    /// The streams that cross from one PE to others, in order of the program. A
    /// crossing's [`CrossingId`] is its index here.
    pub crossings: Vec<Crossing>,
}

/// A processing element: a fused set of operators in one process.
///
/// `operators`, `threaded_ports`, `pool`, `cores`, `host` and `pins` are chosen; the other fields
/// follow from them and from the crossings, and `planner::derive` fills them in. The threads that
/// run the operators are [`PeThreads`](super::PeThreads).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PePlan {
    /// The operators of the PE, in order of the program.
    pub operators: Vec<OperatorId>,
    /// The receivers of the PE, in order of their first crossings, without the crossings that
    /// merges take.
    pub receivers: Vec<ReceiverPlan>,
    /// The merges of the PE, in order of the input ports that they feed.
    pub merges: Vec<Merge>,
    /// Every edge that ends in this PE, in order of the receiving ports.
    pub edges: Vec<PlanEdge>,
    /// Input ports with a queue, in order of the ports.
    pub threaded_ports: Vec<ThreadedPort>,
    /// The threads that run the pooled queues.
    pub pool: Option<ThreadPool>,
    /// The cores that the PE's threads may run on; empty for any.
    pub cores: Vec<u32>,
    /// The name of the host that the PE's process runs on; `None` for the launcher's.
    pub host: Option<Arc<str>>,
    /// Threads of sources and receivers that have a core of their own, in order.
    pub pins: Vec<Pin>,
}

/// An edge from an output port to an input port, with its medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEdge {
    /// The output port that sends.
    pub from: OutPortId,
    /// The operator that receives.
    pub operator: OperatorId,
    /// The number of the receiving operator's input port, from 0.
    pub port: PortIndex,
    /// The way that tuples take.
    pub medium: EdgeMedium,
}

/// The way that tuples take along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeMedium {
    /// A direct call of the receiving operator.
    Fused,
    /// The queue of the input port: [`PePlan::threaded_ports`].
    Queue,
    /// A ring to the thread that takes the operator's streams in order: [`Merge`].
    Merge,
    /// A crossing from another PE.
    Crossing(CrossingId),
}

impl Plan {
    /// A PE of the plan.
    ///
    /// # Panics
    /// If the plan has no such PE.
    pub fn pe(&self, id: PeId) -> &PePlan {
        &self.pes[id.0 as usize]
    }

    /// The ids of all PEs, in order.
    pub fn pe_ids(&self) -> impl Iterator<Item = PeId> + use<> {
        (0..self.pes.len() as u32).map(PeId)
    }

    /// A crossing of the plan.
    ///
    /// # Panics
    /// If the plan has no such crossing: the id may be that of a ring.
    pub fn crossing(&self, id: CrossingId) -> &Crossing {
        &self.crossings[id.0 as usize]
    }

    /// The ids of all crossings, in order.
    pub fn crossing_ids(&self) -> impl Iterator<Item = CrossingId> + use<> {
        (0..self.crossings.len() as u32).map(CrossingId)
    }

    /// The crossing that brings a stream into a PE, by stream and PE. A pair without an entry has
    /// no crossing: the stream does not leave its PE for this one.
    pub fn crossing_index(&self) -> HashMap<(OutPortId, PeId), CrossingId> {
        let numbered = self.crossing_ids().zip(&self.crossings);
        let all = numbered.flat_map(|(id, crossing)| {
            let to = crossing.to.iter();
            to.map(move |&pe| ((crossing.from, pe), id))
        });
        all.collect()
    }

    /// The crossings that take each stream to other PEs, in order.
    pub fn crossings_of(&self) -> HashMap<OutPortId, Vec<CrossingId>> {
        let mut crossings_of: HashMap<OutPortId, Vec<CrossingId>> = HashMap::new();
        for (id, crossing) in self.crossing_ids().zip(&self.crossings) {
            crossings_of.entry(crossing.from).or_default().push(id);
        }
        crossings_of
    }

    /// The core of one of a PE's receivers, if the receiver has one of its own.
    pub fn core_of_receiver(&self, pe: &PePlan, receiver: &ReceiverPlan) -> Option<u32> {
        let crossings = receiver.crossings.iter();
        let streams = crossings.map(|&id| self.crossing(id).from);
        let mut cores = streams.filter_map(|from| pe.core_of(PinnedThread::Receiver(from)));
        cores.next()
    }
}

impl PePlan {
    /// The core of a thread, if the thread has one of its own.
    pub fn core_of(&self, thread: PinnedThread) -> Option<u32> {
        let pin = self.pins.iter().find(|pin| pin.thread == thread);
        pin.map(|pin| pin.core)
    }
}
