//! The operators of a PE's part: those of the program with their sources replaced, and those that
//! the plan inserts.

use graph::{
    CrossingId, InPort, InPortId, OperatorId, OperatorNode, OriginId, OutPortId, PeId,
    PinnedThread, PortIndex,
};

use super::cut_facts::CutFacts;
use super::inserted;
use super::pe_layout::{PeLayout, PeOperator};
use super::stream_recipients::{MergeRing, StreamRecipient, StreamRecipients};

/// A PE that is being cut out of a program: the facts that its operators are made from.
pub(super) struct Cutter<'a> {
    facts: &'a CutFacts<'a>,
    pe: PeId,
    recipients: StreamRecipients<'a>,
    layout: PeLayout,
}

impl<'a> Cutter<'a> {
    /// Lays out the part of PE `pe`, which sends on the crossings `sent`.
    pub fn new(facts: &'a CutFacts<'a>, pe: PeId, sent: &[CrossingId]) -> Cutter<'a> {
        let recipients = StreamRecipients::new(facts, pe);
        let layout = PeLayout::new(facts.plan, &facts.order, &recipients, sent, pe);
        Cutter {
            facts,
            pe,
            recipients,
            layout,
        }
    }

    /// The operators of the part, in order.
    pub fn operators(&self) -> &[PeOperator] {
        &self.layout.operators
    }

    /// The rings within the part, each with the stream that it carries.
    pub fn rings(&self) -> impl Iterator<Item = (CrossingId, OutPortId)> {
        let rings = self.recipients.rings.iter();
        rings.map(|ring| (ring.crossing_id, ring.from))
    }

    /// An operator of the part.
    pub fn operator(&self, operator: &PeOperator) -> OperatorNode {
        match operator {
            PeOperator::Program(id) => self.program_operator(*id),
            PeOperator::Send(crossing_id) => {
                let crossing = self.facts.plan.crossing(*crossing_id);
                let name = self.facts.program.sender_name(crossing);
                let at = self.local_edge(crossing.from);
                let numbering = self
                    .recipients
                    .numbering(crossing.from, StreamRecipient::Crossing(*crossing_id));
                inserted::send(
                    self.facts.program,
                    name,
                    *crossing_id,
                    (crossing.from, at),
                    &numbering,
                )
            }
            PeOperator::SendToRing(at) => self.ring_sender(&self.recipients.rings[*at]),
            PeOperator::OrderedCall(from, to) => {
                let name = self.facts.program.ordered_call_name(*from, *to);
                let numbering = self
                    .recipients
                    .numbering(*from, StreamRecipient::Operator(*to));
                let rank = self.recipients.rank(*from, *to);
                let stream = (*from, self.local_edge(*from));
                inserted::ordered_call(self.facts.program, name, stream, rank, &numbering)
            }
            PeOperator::Receive(at) => {
                let receiver = &self.facts.order.receivers[self.pe.0 as usize][*at];
                let name = self.facts.program.receiver_name(
                    self.facts.plan,
                    &self.facts.pe_assignment,
                    receiver,
                );
                let outputs = self.recipients.receiver_outputs(&receiver.crossings);
                let carried = self.recipients.crossing_origins(&receiver.crossings);
                inserted::receive(self.facts.program, name, &outputs, &carried)
            }
            PeOperator::Merge(at) => {
                let merge = &self.facts.order.merges[self.pe.0 as usize][*at];
                let name = self.facts.program.merge_name(merge);
                let outputs = self.recipients.merge_outputs(*at);
                let carried = self.recipients.merge_origins(*at);
                inserted::receive(self.facts.program, name, &outputs, &carried)
            }
            PeOperator::Queue(at) => {
                let queue = &self.facts.plan.pe(self.pe).threaded_ports[*at];
                let operator = &self.facts.program.operators[queue.operator.0 as usize];
                let port = &operator.inputs[queue.port.index()];
                let sources = self.sources(port, queue.in_port());
                let pool = self.facts.plan.pe(self.pe).pool;
                let pool = pool.filter(|_| queue.is_pooled);
                inserted::queue(self.facts.program, queue, pool, sources)
            }
        }
    }

    /// The core of the thread that begins at an operator, if the thread has one of its own and is
    /// not a queue's.
    pub fn core(&self, operator: &PeOperator) -> Option<u32> {
        let pe = self.facts.plan.pe(self.pe);
        match operator {
            PeOperator::Program(id) => pe.core_of(PinnedThread::Source(*id)),
            PeOperator::Receive(at) => {
                let receiver = &self.facts.order.receivers[self.pe.0 as usize][*at];
                self.facts.plan.core_of_receiver(pe, receiver)
            }
            PeOperator::Merge(at) => self.facts.order.merges[self.pe.0 as usize][*at].core,
            PeOperator::Send(_)
            | PeOperator::SendToRing(_)
            | PeOperator::OrderedCall(..)
            | PeOperator::Queue(_) => None,
        }
    }

    /// The sender that fills a ring.
    fn ring_sender(&self, ring: &MergeRing) -> OperatorNode {
        let merge = &self.facts.order.merges[self.pe.0 as usize][ring.merge];
        let name = self.facts.program.ring_name(ring.from, ring.to, merge);
        let is_near = self.facts.pe_assignment.pe_of(ring.from.operator) == Some(self.pe);
        let at = match is_near {
            true => self.local_edge(ring.from),
            false => {
                let crossing_id = self.facts.crossing_index[&(ring.from, self.pe)];
                self.layout.received[&(crossing_id, ring.to)]
            }
        };
        let numbering = match is_near {
            true => self
                .recipients
                .numbering(ring.from, StreamRecipient::Crossing(ring.crossing_id)),
            // The receiver gives each of its consumers a rank of its own.
            false => inserted::SenderNumbering {
                origins: ring.origins.clone(),
                ..Default::default()
            },
        };
        inserted::send(
            self.facts.program,
            name,
            ring.crossing_id,
            (ring.from, at),
            &numbering,
        )
    }

    fn program_operator(&self, id: OperatorId) -> OperatorNode {
        let mut operator = self.facts.program.operators[id.0 as usize].clone();
        for (port, input) in (0..).map(PortIndex).zip(&mut operator.inputs) {
            input.sources = match self.layout.queues.get(&(id, port)) {
                Some(&queue) => {
                    input.sources_without_markers.clear();
                    vec![OutPortId {
                        operator: OperatorId(queue),
                        port: PortIndex(0),
                    }]
                }
                None => self.sources(input, InPortId { operator: id, port }),
            };
        }
        operator
    }

    /// The streams that feed a port, as the part has them.
    fn sources(&self, port: &InPort, to: InPortId) -> Vec<OutPortId> {
        let sources = port.sources.iter();
        sources.map(|&from| self.source(from, to)).collect()
    }

    fn source(&self, from: OutPortId, to: InPortId) -> OutPortId {
        if let Some(&merged) = self.layout.merged.get(&(from, to)) {
            return merged;
        }
        match self.layout.program_operators.contains_key(&from.operator) {
            true => self.local_edge(from),
            false => self.layout.received[&(self.facts.crossing_index[&(from, self.pe)], to)],
        }
    }

    /// A stream that an operator of the PE sends, as the part has it.
    fn local_edge(&self, from: OutPortId) -> OutPortId {
        OutPortId {
            operator: OperatorId(self.layout.program_operators[&from.operator]),
            ..from
        }
    }

    /// The origin that each operator of the part is; empty if nothing in the plan is ordered.
    pub fn origins(&self) -> Vec<Option<OriginId>> {
        if self.facts.order.is_unordered() {
            return Vec::new();
        }
        let origins = self.layout.operators.iter().map(|operator| match operator {
            PeOperator::Program(id) => self.facts.order.origin_of_operator(*id),
            PeOperator::Queue(at) => {
                let queue = &self.facts.plan.pe(self.pe).threaded_ports[*at];
                self.facts.order.origin_of_queue(queue.operator, queue.port)
            }
            _ => None,
        });
        origins.collect()
    }
}
