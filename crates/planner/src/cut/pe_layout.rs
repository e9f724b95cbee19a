//! The operators of a PE's part, in order, and their numbers there.

use std::collections::HashMap;

use graph::{Crossing, CrossingId, InPortId, OperatorId, OutPortId, PeId, Plan, PortIndex};

use super::stream_recipients::StreamRecipients;
use crate::order::PlanOrder;

/// An operator of a PE's part.
pub(super) enum PeOperator {
    /// An operator of the program.
    Program(OperatorId),
    /// The sender of a crossing.
    Send(CrossingId),
    /// The sender that fills a ring, by the ring's index.
    SendToRing(usize),
    /// The ordered call of an input port for a stream.
    OrderedCall(OutPortId, InPortId),
    /// A receiver, by its index in the PE.
    Receive(usize),
    /// A merge, by its index in the PE.
    Merge(usize),
    /// The queue of a threaded port, by its index in the PE.
    Queue(usize),
}

/// The sort key of an operator in its part: an operator of the program, the position before or
/// behind that operator (`RECEIVE` to `SEND`), and a number among operators at one position.
type PeOperatorKey = (OperatorId, u32, u32);

const RECEIVE: u32 = 0;
const SEND_TO_RING: u32 = 1;
const QUEUE: u32 = 2;
const PROGRAM: u32 = 3;
const SEND: u32 = 4;

impl PeOperator {
    /// The number of an operator in the whole program; `None` for inserted operators.
    pub fn program_id(&self) -> Option<OperatorId> {
        match self {
            PeOperator::Program(id) => Some(*id),
            _ => None,
        }
    }
}

/// The numbers of operators and streams in a PE's part.
#[derive(Default)]
pub(super) struct PeLayout {
    /// The operators of the part, in order.
    pub operators: Vec<PeOperator>,
    /// The part's numbers of the program's operators.
    pub program_operators: HashMap<OperatorId, u32>,
    /// The part's numbers of queues, by operator and port.
    pub queues: HashMap<(OperatorId, PortIndex), u32>,
    /// The output port that brings an input port the tuples of a crossing.
    pub received: HashMap<(CrossingId, InPortId), OutPortId>,
    /// The output port, of a merge or an ordered call, that brings a stream to an input port.
    pub merged: HashMap<(OutPortId, InPortId), OutPortId>,
}

impl PeLayout {
    /// Lays out the part of PE `pe`, which sends on the crossings `sent`.
    pub fn new(
        plan: &Plan,
        order: &PlanOrder,
        recipients: &StreamRecipients<'_>,
        sent: &[CrossingId],
        pe: PeId,
    ) -> PeLayout {
        let mut all = keyed_operators(plan, order, recipients, sent, pe);
        all.sort_by_key(|(key, _)| *key);
        let mut layout = PeLayout {
            operators: all.into_iter().map(|(_, operator)| operator).collect(),
            ..PeLayout::default()
        };
        for number in 0..layout.operators.len() as u32 {
            layout.assign_number(plan, order, recipients, pe, number);
        }
        layout
    }

    /// Records the number of an operator, and of the streams that it brings.
    fn assign_number(
        &mut self,
        plan: &Plan,
        order: &PlanOrder,
        recipients: &StreamRecipients<'_>,
        pe: PeId,
        number: u32,
    ) {
        let mut ports = (0..).map(PortIndex).map(|port| OutPortId {
            operator: OperatorId(number),
            port,
        });
        match self.operators[number as usize] {
            PeOperator::Program(id) => {
                self.program_operators.insert(id, number);
            }
            PeOperator::Queue(at) => {
                let queue = &plan.pe(pe).threaded_ports[at];
                self.queues.insert((queue.operator, queue.port), number);
            }
            PeOperator::Receive(at) => {
                let crossings = order.receivers[pe.0 as usize][at].crossings.iter();
                let groups = crossings.flat_map(|&crossing_id| {
                    recipients
                        .consumer_groups(crossing_id)
                        .into_iter()
                        .map(move |g| (crossing_id, g))
                });
                for ((crossing_id, group), port) in groups.zip(&mut ports) {
                    let fed = group.into_iter().map(|to| ((crossing_id, to), port));
                    self.received.extend(fed);
                }
            }
            PeOperator::Merge(at) => {
                let inputs = order.merges[pe.0 as usize][at].inputs.iter();
                let fed =
                    inputs.flat_map(|input| input.consumers.iter().map(|&to| (input.from, to)));
                self.merged.extend(fed.zip(&mut ports));
            }
            PeOperator::OrderedCall(from, to) => self
                .merged
                .extend(ports.next().map(|port| ((from, to), port))),
            PeOperator::Send(_) | PeOperator::SendToRing(_) => {}
        }
    }
}

/// All operators of a PE's part with their sort keys, in no order; `sent` has the crossings that
/// the PE sends on.
fn keyed_operators(
    plan: &Plan,
    order: &PlanOrder,
    recipients: &StreamRecipients<'_>,
    sent: &[CrossingId],
    pe: PeId,
) -> Vec<(PeOperatorKey, PeOperator)> {
    let own = plan.pe(pe);
    let merges = &order.merges[pe.0 as usize];
    let mut keyed: Vec<(PeOperatorKey, PeOperator)> = Vec::new();
    keyed.extend(
        own.operators
            .iter()
            .map(|&id| ((id, PROGRAM, 0), PeOperator::Program(id))),
    );
    for (at, queue) in own.threaded_ports.iter().enumerate() {
        if !recipients.is_merged(queue.in_port()) {
            keyed.push(((queue.operator, QUEUE, queue.port.0), PeOperator::Queue(at)));
        }
    }
    for (at, receiver) in order.receivers[pe.0 as usize].iter().enumerate() {
        let groups = receiver
            .crossings
            .iter()
            .flat_map(|&crossing_id| recipients.consumer_groups(crossing_id));
        if let Some(first) = groups.flatten().map(|to| to.operator).min() {
            keyed.push((
                (first, RECEIVE, receiver.crossings[0].0),
                PeOperator::Receive(at),
            ));
        }
    }
    for (at, merge) in merges.iter().enumerate() {
        if let Some(&first) = merge.operators.first() {
            keyed.push(((first, RECEIVE, u32::MAX), PeOperator::Merge(at)));
        }
    }
    for (at, ring) in recipients.rings.iter().enumerate() {
        keyed.push((
            (ring.to.operator, SEND_TO_RING, ring.crossing_id.0),
            PeOperator::SendToRing(at),
        ));
    }
    for &id in &own.operators {
        for from in recipients.streams(id) {
            let called = recipients.ordered_call_consumers(from).into_iter();
            keyed.extend(called.map(|to| {
                (
                    (to.operator, SEND_TO_RING, to.port.0),
                    PeOperator::OrderedCall(from, to),
                )
            }));
        }
    }
    keyed.extend(sent.iter().map(|&id| {
        let crossing = plan.crossing(id);
        let key = send_key(order, recipients, id, crossing);
        (key, PeOperator::Send(id))
    }));
    keyed
}

/// The sort key of a crossing's sender: behind the sending operator, or, if the sender carries
/// positions, before the first operator that takes the stream.
fn send_key(
    order: &PlanOrder,
    recipients: &StreamRecipients<'_>,
    id: CrossingId,
    crossing: &Crossing,
) -> PeOperatorKey {
    let first = match order.origins_of_crossing(id) {
        [] => None,
        _ => recipients.first_remote_consumer(id),
    };
    match first {
        Some(to) => (to.operator, SEND_TO_RING, id.0),
        None => (crossing.from.operator, SEND, id.0),
    }
}
