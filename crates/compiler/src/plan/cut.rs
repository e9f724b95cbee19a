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
//! Operators keep their order (whoever makes watermarks comes behind all others), input ports keep the order of their sources, and consumers that are
//! called directly are called in the order in which they were. A PE that holds the whole program and
//! has no threaded port is the program itself, but for those.
//!
//! A sender of an ordered stream ([`graph::Order`]) is called when the first of those would be that it
//! sends to: [`takers`].

mod seats;
mod takers;
mod watermarks;

use std::collections::HashMap;

use graph::{
    Consumer, Edge, Flow, Homes, InPort, Operator, OperatorId, Order, Origin, PinnedThread, Plan,
    Program,
};

use super::inserted;
use seats::{Item, Seats};
use takers::{Ring, Taker, Takers};

/// What one process runs.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Its operators, renumbered. Functions and files are those of the whole program.
    pub program: Program,
    /// The number that each operator has in the whole program; `None` for what was inserted.
    pub numbers: Vec<Option<OperatorId>>,
    /// The crossings that it sends on, in order.
    pub sends: Vec<u32>,
    /// The crossings that it receives from, in order, and its number among their receivers.
    pub receives: Vec<(u32, u32)>,
    /// Sources and receivers whose threads have a core of their own: their numbers and cores.
    pub pins: Vec<(u32, u32)>,
    /// The rings within it: their numbers as links, which no crossing has, and the stream of each.
    pub rings: Vec<(u32, Edge)>,
    /// What each operator gives its tuples an order by; empty: nothing in it is ordered.
    pub begins: Vec<Option<Origin>>,
}

/// Cuts the part of a PE out of a program. The plan is one of that program:
/// [`Plan::check`].
///
/// # Panics
/// If there is no such PE.
pub fn cut(program: &Program, plan: &Plan, pe: u32) -> Part {
    let order = plan.order(program);
    let homes = Homes::new(plan, program.operators.len());
    let cutter = Cutter::new(program, plan, &order, &homes, pe);
    let mut part = Part {
        program: Program {
            name: program.name.clone(),
            files: program.files.clone(),
            functions: program.functions.clone(),
            operators: Vec::with_capacity(cutter.seats.order.len()),
        },
        numbers: cutter.seats.order.iter().map(Item::number).collect(),
        rings: cutter
            .takers
            .rings
            .iter()
            .map(|ring| (ring.link, ring.from))
            .collect(),
        begins: cutter.begins(),
        ..Part::default()
    };
    for (number, item) in (0..).zip(&cutter.seats.order) {
        part.program.operators.push(cutter.operator(item));
        part.pins
            .extend(cutter.core(item).map(|core| (number, core)));
    }
    watermarks::insert(&mut part);
    for (link, crossing) in (0..).zip(&plan.crossings) {
        if cutter.homes.of(crossing.from.operator) == Some(pe) {
            part.sends.push(link);
        }
        if let Some(receiver) = crossing.to.iter().position(|&to| to == pe) {
            part.receives.push((link, receiver as u32));
        }
    }
    part
}

struct Cutter<'a> {
    program: &'a Program,
    plan: &'a Plan,
    order: &'a Order,
    pe: u32,
    homes: &'a Homes,
    links: HashMap<(Edge, u32), u32>,
    takers: Takers<'a>,
    seats: Seats,
}

impl<'a> Cutter<'a> {
    fn new(
        program: &'a Program,
        plan: &'a Plan,
        order: &'a Order,
        homes: &'a Homes,
        pe: u32,
    ) -> Cutter<'a> {
        let takers = Takers::new(plan, order, Flow::new(program), homes, pe);
        let seats = Seats::new(plan, order, &takers, homes, pe);
        let links = plan.links();
        Cutter {
            program,
            plan,
            order,
            pe,
            homes,
            links,
            takers,
            seats,
        }
    }

    fn operator(&self, item: &Item) -> Operator {
        match item {
            Item::Own(id) => self.own(*id),
            Item::Send(link) => {
                let crossing = &self.plan.crossings[*link as usize];
                let name = self.program.sender_name(crossing);
                let at = self.near(crossing.from);
                let numbering = self.takers.numbering(crossing.from, Taker::Link(*link));
                inserted::send(self.program, name, *link, (crossing.from, at), &numbering)
            }
            Item::Fill(at) => self.fill(&self.takers.rings[*at]),
            Item::Turn(from, to) => {
                let name = self.program.turn_name(*from, *to);
                let numbering = self.takers.numbering(*from, Taker::Call(*to));
                let rank = self.takers.rank(*from, *to);
                let stream = (*from, self.near(*from));
                inserted::turn(self.program, name, stream, rank, &numbering)
            }
            Item::Receive(at) => {
                let receiver = &self.order.receivers[self.pe as usize][*at];
                let name = self.program.receiver_name(self.plan, self.homes, receiver);
                let arrivals = self.takers.arrivals(&receiver.links);
                let carried = self.takers.carried(&receiver.links);
                inserted::receive(self.program, name, &arrivals, &carried)
            }
            Item::Merge(at) => {
                let merge = &self.order.merges[self.pe as usize][*at];
                let name = self.program.merge_name(merge);
                let arrivals = self.takers.merged(*at);
                let carried = self.takers.merge_carries(*at);
                inserted::receive(self.program, name, &arrivals, &carried)
            }
            Item::Queue(at) => {
                let queue = &self.plan.pes[self.pe as usize].threaded[*at];
                let operator = &self.program.operators[queue.operator.0 as usize];
                let to = Consumer {
                    operator: queue.operator,
                    port: queue.port,
                };
                let sources = self.sources(&operator.inputs[queue.port as usize], to);
                inserted::queue(self.program, queue, sources)
            }
        }
    }

    /// The core of its thread, if that is no queue's and has one of its own.
    fn core(&self, item: &Item) -> Option<u32> {
        let pe = &self.plan.pes[self.pe as usize];
        match item {
            Item::Own(id) => pe.core_of(PinnedThread::Source(*id)),
            Item::Receive(at) => {
                let receiver = &self.order.receivers[self.pe as usize][*at];
                self.plan.core_of_receiver(pe, receiver)
            }
            Item::Merge(at) => self.order.merges[self.pe as usize][*at].core,
            Item::Send(_) | Item::Fill(_) | Item::Turn(..) | Item::Queue(_) => None,
        }
    }

    /// What fills a ring.
    fn fill(&self, ring: &Ring) -> Operator {
        let merge = &self.order.merges[self.pe as usize][ring.merge];
        let name = self.program.ring_name(ring.from, ring.to, merge);
        let is_near = self.homes.of(ring.from.operator) == Some(self.pe);
        let at = match is_near {
            true => self.near(ring.from),
            false => {
                let link = self.links[&(ring.from, self.pe)];
                self.seats.received[&(link, ring.to)]
            }
        };
        let numbering = match is_near {
            true => self.takers.numbering(ring.from, Taker::Link(ring.link)),
            // The receiver gives each of its consumers a place of its own.
            false => inserted::Numbering {
                origins: ring.origins.clone(),
                ..Default::default()
            },
        };
        inserted::send(self.program, name, ring.link, (ring.from, at), &numbering)
    }

    fn own(&self, id: OperatorId) -> Operator {
        let mut operator = self.program.operators[id.0 as usize].clone();
        for (port, input) in (0..).zip(&mut operator.inputs) {
            input.sources = match self.seats.queues.get(&(id, port)) {
                Some(&queue) => {
                    input.unmarked.clear();
                    vec![Edge {
                        operator: OperatorId(queue),
                        port: 0,
                    }]
                }
                None => self.sources(input, Consumer { operator: id, port }),
            };
        }
        operator
    }

    /// What feeds a port in this part.
    fn sources(&self, port: &InPort, to: Consumer) -> Vec<Edge> {
        let sources = port.sources.iter();
        sources.map(|&from| self.source(from, to)).collect()
    }

    fn source(&self, from: Edge, to: Consumer) -> Edge {
        if let Some(&merged) = self.seats.merged.get(&(from, to)) {
            return merged;
        }
        match self.seats.numbers.contains_key(&from.operator) {
            true => self.near(from),
            false => self.seats.received[&(self.links[&(from, self.pe)], to)],
        }
    }

    /// A stream of the PE's own.
    fn near(&self, from: Edge) -> Edge {
        Edge {
            operator: OperatorId(self.seats.numbers[&from.operator]),
            ..from
        }
    }

    fn begins(&self) -> Vec<Option<Origin>> {
        if self.order.is_free() {
            return Vec::new();
        }
        let begins = self.seats.order.iter().map(|item| match item {
            Item::Own(id) => self.order.begun_by(*id),
            Item::Queue(at) => {
                let queue = &self.plan.pes[self.pe as usize].threaded[*at];
                self.order.begun_by_queue(queue.operator, queue.port)
            }
            _ => None,
        });
        begins.collect()
    }
}
