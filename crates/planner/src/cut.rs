//! The program that one process runs: the operators of its PE, and those that a plan puts between.
//!
//! ```text
//!   Trades -> Filter -> Sink, Filter in PE 1        PE 0: Trades, [Trades -> pe 1]
//!             with a threaded port                        [pe 1 -> Filter], Sink
//!                                                   PE 1: [pe 0 -> Trades], [queue of Filter.0],
//!                                                         Filter, [Filter -> pe 0]
//! ```
//!
//! # Invariants
//! Operators keep their order (whoever makes watermarks comes behind all others), input ports keep
//! the order of their sources, and consumers that are called directly are called in the order in
//! which they were. A PE that holds the whole program and has no threaded port is the program
//! itself, but for those.
//!
//! A sender of an ordered stream ([`graph::PlanOrder`]) is called when the first of those would be
//! that it sends to: [`takers`].

mod pe_layout;
mod stream_recipients;
mod watermarks;

use std::collections::HashMap;

use graph::{
    InPort, InPortId, OperatorId, OperatorNode, OriginId, OutPortId, PeAssignment, PinnedThread,
    Plan, PlanOrder, Program, StreamConsumers,
};

use super::inserted;
use pe_layout::{PeLayout, PeOperator};
use stream_recipients::{MergeRing, StreamRecipient, StreamRecipients};

/// What one process runs.
#[derive(Clone, Debug, Default)]
pub struct PeProgram {
    /// Its operators, renumbered. Functions and files are those of the whole program.
    pub program: Program,
    /// The number that each operator has in the whole program; `None` for what was inserted.
    pub operator_ids: Vec<Option<OperatorId>>,
    /// The crossings that it sends on, in order.
    pub sent_crossings: Vec<u32>,
    /// The crossings that it receives from, in order, and its number among their receivers.
    pub received_crossings: Vec<(u32, u32)>,
    /// Sources and receivers whose threads have a core of their own: their numbers and cores.
    pub pins: Vec<(u32, u32)>,
    /// The rings within it: their numbers as links, which no crossing has, and the stream of each.
    pub rings: Vec<(u32, OutPortId)>,
    /// What each operator gives its tuples an order by; empty: nothing in it is ordered.
    pub origins: Vec<Option<OriginId>>,
}

/// Cuts the part of a PE out of a program. The plan is one of that program:
/// [`Plan::check`].
///
/// # Panics
/// If there is no such PE.
pub fn cut(program: &Program, plan: &Plan, pe: u32) -> PeProgram {
    let order = plan.order(program);
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let cutter = Cutter::new(program, plan, &order, &pe_assignment, pe);
    let mut part = PeProgram {
        program: Program {
            name: program.name.clone(),
            files: program.files.clone(),
            functions: program.functions.clone(),
            operators: Vec::with_capacity(cutter.layout.operators.len()),
        },
        operator_ids: cutter
            .layout
            .operators
            .iter()
            .map(PeOperator::program_id)
            .collect(),
        rings: cutter
            .recipients
            .rings
            .iter()
            .map(|ring| (ring.crossing_number, ring.from))
            .collect(),
        origins: cutter.origins(),
        ..PeProgram::default()
    };
    for (number, item) in (0..).zip(&cutter.layout.operators) {
        part.program.operators.push(cutter.operator(item));
        part.pins
            .extend(cutter.core(item).map(|core| (number, core)));
    }
    watermarks::insert(&mut part);
    for (crossing_number, crossing) in (0..).zip(&plan.crossings) {
        if cutter.pe_assignment.pe_of(crossing.from.operator) == Some(pe) {
            part.sent_crossings.push(crossing_number);
        }
        if let Some(receiver) = crossing.to.iter().position(|&to| to == pe) {
            part.received_crossings
                .push((crossing_number, receiver as u32));
        }
    }
    part
}

struct Cutter<'a> {
    program: &'a Program,
    plan: &'a Plan,
    order: &'a PlanOrder,
    pe: u32,
    pe_assignment: &'a PeAssignment,
    crossing_index: HashMap<(OutPortId, u32), u32>,
    recipients: StreamRecipients<'a>,
    layout: PeLayout,
}

impl<'a> Cutter<'a> {
    fn new(
        program: &'a Program,
        plan: &'a Plan,
        order: &'a PlanOrder,
        homes: &'a PeAssignment,
        pe: u32,
    ) -> Cutter<'a> {
        let recipients =
            StreamRecipients::new(plan, order, StreamConsumers::new(program), homes, pe);
        let layout = PeLayout::new(plan, order, &recipients, homes, pe);
        let crossing_index = plan.crossing_index();
        Cutter {
            program,
            plan,
            order,
            pe,
            pe_assignment: homes,
            crossing_index,
            recipients,
            layout,
        }
    }

    fn operator(&self, item: &PeOperator) -> OperatorNode {
        match item {
            PeOperator::Program(id) => self.program_operator(*id),
            PeOperator::Send(link) => {
                let crossing = &self.plan.crossings[*link as usize];
                let name = self.program.sender_name(crossing);
                let at = self.local_edge(crossing.from);
                let numbering = self
                    .recipients
                    .numbering(crossing.from, StreamRecipient::Crossing(*link));
                inserted::send(self.program, name, *link, (crossing.from, at), &numbering)
            }
            PeOperator::SendToRing(at) => self.ring_sender(&self.recipients.rings[*at]),
            PeOperator::Turn(from, to) => {
                let name = self.program.turn_name(*from, *to);
                let numbering = self
                    .recipients
                    .numbering(*from, StreamRecipient::Operator(*to));
                let rank = self.recipients.rank(*from, *to);
                let stream = (*from, self.local_edge(*from));
                inserted::turn(self.program, name, stream, rank, &numbering)
            }
            PeOperator::Receive(at) => {
                let receiver = &self.order.receivers[self.pe as usize][*at];
                let name = self
                    .program
                    .receiver_name(self.plan, self.pe_assignment, receiver);
                let arrivals = self.recipients.receiver_outputs(&receiver.crossings);
                let carried = self.recipients.crossing_origins(&receiver.crossings);
                inserted::receive(self.program, name, &arrivals, &carried)
            }
            PeOperator::Merge(at) => {
                let merge = &self.order.merges[self.pe as usize][*at];
                let name = self.program.merge_name(merge);
                let arrivals = self.recipients.merge_outputs(*at);
                let carried = self.recipients.merge_origins(*at);
                inserted::receive(self.program, name, &arrivals, &carried)
            }
            PeOperator::Queue(at) => {
                let queue = &self.plan.pes[self.pe as usize].threaded_ports[*at];
                let operator = &self.program.operators[queue.operator.0 as usize];
                let to = InPortId {
                    operator: queue.operator,
                    port: queue.port,
                };
                let sources = self.sources(&operator.inputs[queue.port as usize], to);
                inserted::queue(self.program, queue, sources)
            }
        }
    }

    /// The core of its thread, if that is no queue's and has one of its own.
    fn core(&self, item: &PeOperator) -> Option<u32> {
        let pe = &self.plan.pes[self.pe as usize];
        match item {
            PeOperator::Program(id) => pe.core_of(PinnedThread::Source(*id)),
            PeOperator::Receive(at) => {
                let receiver = &self.order.receivers[self.pe as usize][*at];
                self.plan.core_of_receiver(pe, receiver)
            }
            PeOperator::Merge(at) => self.order.merges[self.pe as usize][*at].core,
            PeOperator::Send(_)
            | PeOperator::SendToRing(_)
            | PeOperator::Turn(..)
            | PeOperator::Queue(_) => None,
        }
    }

    /// What fills a ring.
    fn ring_sender(&self, ring: &MergeRing) -> OperatorNode {
        let merge = &self.order.merges[self.pe as usize][ring.merge];
        let name = self.program.ring_name(ring.from, ring.to, merge);
        let is_near = self.pe_assignment.pe_of(ring.from.operator) == Some(self.pe);
        let at = match is_near {
            true => self.local_edge(ring.from),
            false => {
                let crossing_number = self.crossing_index[&(ring.from, self.pe)];
                self.layout.received[&(crossing_number, ring.to)]
            }
        };
        let numbering = match is_near {
            true => self
                .recipients
                .numbering(ring.from, StreamRecipient::Crossing(ring.crossing_number)),
            // The receiver gives each of its consumers a place of its own.
            false => inserted::SenderNumbering {
                origins: ring.origins.clone(),
                ..Default::default()
            },
        };
        inserted::send(
            self.program,
            name,
            ring.crossing_number,
            (ring.from, at),
            &numbering,
        )
    }

    fn program_operator(&self, id: OperatorId) -> OperatorNode {
        let mut operator = self.program.operators[id.0 as usize].clone();
        for (port, input) in (0..).zip(&mut operator.inputs) {
            input.sources = match self.layout.queues.get(&(id, port)) {
                Some(&queue) => {
                    input.sources_without_markers.clear();
                    vec![OutPortId {
                        operator: OperatorId(queue),
                        port: 0,
                    }]
                }
                None => self.sources(input, InPortId { operator: id, port }),
            };
        }
        operator
    }

    /// What feeds a port in this part.
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
            false => self.layout.received[&(self.crossing_index[&(from, self.pe)], to)],
        }
    }

    /// A stream of the PE's own.
    fn local_edge(&self, from: OutPortId) -> OutPortId {
        OutPortId {
            operator: OperatorId(self.layout.program_operators[&from.operator]),
            ..from
        }
    }

    fn origins(&self) -> Vec<Option<OriginId>> {
        if self.order.is_unordered() {
            return Vec::new();
        }
        let begins = self.layout.operators.iter().map(|item| match item {
            PeOperator::Program(id) => self.order.origin_of_operator(*id),
            PeOperator::Queue(at) => {
                let queue = &self.plan.pes[self.pe as usize].threaded_ports[*at];
                self.order.origin_of_queue(queue.operator, queue.port)
            }
            _ => None,
        });
        begins.collect()
    }
}
