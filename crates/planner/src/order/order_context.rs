//! The facts of a plan and a program that every step of the order analysis reads.

use std::collections::{BTreeSet, HashMap};

use graph::{
    CongestionPolicy, CrossingId, InPortId, OperatorId, OutPortId, PeAssignment, PeId, Plan,
    PortIndex, Program, ReceiverPlan, ThreadedPort,
};

use super::receiver_sharing::plan_receivers;
use super::stream_origins::StreamOrigins;
use crate::streams::StreamConsumers;

/// The facts that the steps read; nothing in it changes.
pub(super) struct OrderContext<'a> {
    pub plan: &'a Plan,
    pub program: &'a Program,
    pub stream_consumers: &'a StreamConsumers,
    pub pe_assignment: &'a PeAssignment,
    pub origins: StreamOrigins,
    /// The receivers of each PE, as if there were no merges.
    pub receivers: Vec<Vec<ReceiverPlan>>,
    /// The crossing that brings a stream into a PE.
    pub crossing_index: HashMap<(OutPortId, PeId), CrossingId>,
    /// The queues of all PEs, by the input port that each feeds.
    pub queues: HashMap<InPortId, &'a ThreadedPort>,
}

/// The way of a tuple from a stream to an input port.
#[derive(Clone, Copy, Debug)]
pub(super) enum EdgeTransfer {
    /// A direct call of the operator.
    FusedCall,
    /// A queue that is an origin: tuples leave it in an order of its own.
    OwnOrderQueue,
    /// A queue that only the plan wants and that keeps the order of its streams.
    RelayQueue,
    /// A crossing to the PE of the port.
    Crossing(CrossingId),
}

impl<'a> OrderContext<'a> {
    pub fn new(
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
            .filter(|queue| has_own_order(queue, program, &loops));
        let own: BTreeSet<InPortId> = own.map(|queue| queue.in_port()).collect();
        let origins = StreamOrigins::new(program, stream_consumers, &own);
        OrderContext {
            plan,
            program,
            stream_consumers,
            pe_assignment,
            receivers: plan_receivers(plan, stream_consumers, pe_assignment, &origins),
            crossing_index: plan.crossing_index(),
            queues,
            origins,
        }
    }

    /// The way of a stream to an input port that it feeds.
    pub fn transfer(&self, from: OutPortId, to: InPortId) -> EdgeTransfer {
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
    pub fn crossing_to(&self, from: OutPortId, to: InPortId) -> Option<CrossingId> {
        let operator_pe = self.pe_assignment.pe_of(to.operator)?;
        self.crossing_index.get(&(from, operator_pe)).copied()
    }

    /// The streams that feed an operator, each with the input port that it feeds.
    pub fn input_edges(
        &self,
        operator: OperatorId,
    ) -> impl Iterator<Item = (OutPortId, InPortId)> + use<'a> {
        let inputs = &self.program.operators[operator.0 as usize].inputs;
        let ports = (0..).map(PortIndex).zip(inputs);
        ports.flat_map(move |(port, input)| {
            let to = InPortId { operator, port };
            input.sources.iter().map(move |&from| (from, to))
        })
    }
}

/// Whether tuples leave a queue in an order of the queue's own: the program asks for the queue, the
/// queue drops tuples, or a loop leads through it.
fn has_own_order(queue: &ThreadedPort, program: &Program, loops: &[Option<u32>]) -> bool {
    let Some(operator) = program.operators.get(queue.operator.0 as usize) else {
        return true;
    };
    let number = |id: OperatorId| loops.get(id.0 as usize).copied().flatten();
    let own = number(queue.operator);
    let sources = operator
        .inputs
        .get(queue.port.index())
        .map(|port| &port.sources);
    let mut sources = sources.into_iter().flatten();
    queue.congestion != CongestionPolicy::Wait
        || operator.declares_queue(queue.port)
        || own.is_some() && sources.any(|from| number(from.operator) == own)
}
