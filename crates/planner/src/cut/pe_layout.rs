//! The operators of a part, in order, and their new numbers.

use std::collections::HashMap;

use graph::{Crossing, InPortId, OperatorId, OutPortId, PeAssignment, Plan, PlanOrder};

use super::stream_recipients::StreamRecipients;

/// An operator of a part.
pub(super) enum PeOperator {
    /// One of the program's.
    Program(OperatorId),
    /// The sender of a crossing.
    Send(u32),
    /// What fills a ring, by its index.
    SendToRing(usize),
    /// A turn of an operator that is called for a stream.
    Turn(OutPortId, InPortId),
    /// A receiver of some crossings, by its index.
    Receive(usize),
    /// A merge, by its index.
    Merge(usize),
    /// The queue of a threaded port, by its index in the PE.
    Queue(usize),
}

/// Before or behind the operator that it stands by.
type PeOperatorKey = (OperatorId, u32, u32);

const RECEIVE: u32 = 0;
const SEND_TO_RING: u32 = 1;
const QUEUE: u32 = 2;
const PROGRAM: u32 = 3;
const SEND: u32 = 4;

impl PeOperator {
    /// The number in the whole program; `None`: it was inserted.
    pub fn program_id(&self) -> Option<OperatorId> {
        match self {
            PeOperator::Program(id) => Some(*id),
            _ => None,
        }
    }
}

/// Where everything stands.
#[derive(Default)]
pub(super) struct PeLayout {
    pub operators: Vec<PeOperator>,
    /// The new numbers of the program's operators.
    pub program_operators: HashMap<OperatorId, u32>,
    /// The new numbers of queues by operator and port.
    pub queues: HashMap<(OperatorId, u32), u32>,
    /// The output port that brings what comes by a crossing to a port.
    pub received: HashMap<(u32, InPortId), OutPortId>,
    /// The output port that brings a stream to a port: of a merge, or of a turn.
    pub merged: HashMap<(OutPortId, InPortId), OutPortId>,
}

impl PeLayout {
    pub fn new(
        plan: &Plan,
        order: &PlanOrder,
        recipients: &StreamRecipients<'_>,
        pe_assignment: &PeAssignment,
        pe: u32,
    ) -> PeLayout {
        let mut all = keyed_operators(plan, order, recipients, pe_assignment, pe);
        all.sort_by_key(|(seat, _)| *seat);
        let mut layout = PeLayout {
            operators: all.into_iter().map(|(_, item)| item).collect(),
            ..PeLayout::default()
        };
        for number in 0..layout.operators.len() as u32 {
            layout.assign_number(plan, order, recipients, pe, number);
        }
        layout
    }

    fn assign_number(
        &mut self,
        plan: &Plan,
        order: &PlanOrder,
        recipients: &StreamRecipients<'_>,
        pe: u32,
        number: u32,
    ) {
        let mut ports = (0..).map(|port| OutPortId {
            operator: OperatorId(number),
            port,
        });
        match self.operators[number as usize] {
            PeOperator::Program(id) => {
                self.program_operators.insert(id, number);
            }
            PeOperator::Queue(at) => {
                let queue = &plan.pes[pe as usize].threaded_ports[at];
                self.queues.insert((queue.operator, queue.port), number);
            }
            PeOperator::Receive(at) => {
                let crossings = order.receivers[pe as usize][at].crossings.iter();
                let groups = crossings.flat_map(|&crossing_number| {
                    recipients
                        .consumer_groups(crossing_number)
                        .into_iter()
                        .map(move |g| (crossing_number, g))
                });
                for ((link, group), port) in groups.zip(&mut ports) {
                    let taken = group.into_iter().map(|to| ((link, to), port));
                    self.received.extend(taken);
                }
            }
            PeOperator::Merge(at) => {
                let inputs = order.merges[pe as usize][at].inputs.iter();
                let taken =
                    inputs.flat_map(|input| input.consumers.iter().map(|&to| (input.from, to)));
                self.merged.extend(taken.zip(&mut ports));
            }
            PeOperator::Turn(from, to) => self
                .merged
                .extend(ports.next().map(|port| ((from, to), port))),
            PeOperator::Send(_) | PeOperator::SendToRing(_) => {}
        }
    }
}

fn keyed_operators(
    plan: &Plan,
    order: &PlanOrder,
    recipients: &StreamRecipients<'_>,
    pe_assignment: &PeAssignment,
    pe: u32,
) -> Vec<(PeOperatorKey, PeOperator)> {
    let own = &plan.pes[pe as usize];
    let merges = &order.merges[pe as usize];
    let mut items: Vec<(PeOperatorKey, PeOperator)> = Vec::new();
    items.extend(
        own.operators
            .iter()
            .map(|&id| ((id, PROGRAM, 0), PeOperator::Program(id))),
    );
    for (at, queue) in own.threaded_ports.iter().enumerate() {
        let to = InPortId {
            operator: queue.operator,
            port: queue.port,
        };
        if !merges.iter().any(|merge| merge.feeds(to)) {
            items.push(((queue.operator, QUEUE, queue.port), PeOperator::Queue(at)));
        }
    }
    for (at, receiver) in order.receivers[pe as usize].iter().enumerate() {
        let groups = receiver
            .crossings
            .iter()
            .flat_map(|&crossing_number| recipients.consumer_groups(crossing_number));
        if let Some(first) = groups.flatten().map(|to| to.operator).min() {
            items.push((
                (first, RECEIVE, receiver.crossings[0]),
                PeOperator::Receive(at),
            ));
        }
    }
    for (at, merge) in merges.iter().enumerate() {
        if let Some(&first) = merge.operators.first() {
            items.push(((first, RECEIVE, u32::MAX), PeOperator::Merge(at)));
        }
    }
    for (at, ring) in recipients.rings.iter().enumerate() {
        items.push((
            (ring.to.operator, SEND_TO_RING, ring.crossing_number),
            PeOperator::SendToRing(at),
        ));
    }
    for &id in &own.operators {
        for from in recipients.streams(id) {
            let turns = recipients.turn_consumers(from).into_iter();
            items.extend(turns.map(|to| {
                (
                    (to.operator, SEND_TO_RING, to.port),
                    PeOperator::Turn(from, to),
                )
            }));
        }
    }
    let sent = (0..)
        .zip(&plan.crossings)
        .filter(|(_, crossing)| pe_assignment.pe_of(crossing.from.operator) == Some(pe));
    items.extend(sent.map(|(number, crossing)| {
        let key = send_key(order, recipients, number, crossing);
        (key, PeOperator::Send(number))
    }));
    items
}

/// A Send stands behind its operator; one that carries positions stands before the operators that
/// take its stream on other threads of the PE.
fn send_key(
    order: &PlanOrder,
    recipients: &StreamRecipients<'_>,
    number: u32,
    crossing: &Crossing,
) -> PeOperatorKey {
    let first = match order.origins_of_crossing(number) {
        [] => None,
        _ => recipients.first_remote_consumer(number),
    };
    match first {
        Some(to) => (to.operator, SEND_TO_RING, number),
        None => (crossing.from.operator, SEND, number),
    }
}
