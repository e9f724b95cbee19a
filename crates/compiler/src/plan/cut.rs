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
//! Operators keep their order, input ports keep the order of their sources, and consumers that are
//! called directly are called in the order in which they were. A PE that holds the whole program and
//! has no threaded port is the program itself.

use std::collections::HashMap;

use graph::{Edge, Homes, InPort, Operator, OperatorId, PinnedThread, Plan, Program, Receiver};

use super::inserted;

/// What one process runs.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Its operators, renumbered. Functions and files are those of the whole program.
    pub program: Program,
    /// The number that each operator has in the whole program; `None` for what was inserted.
    pub origins: Vec<Option<OperatorId>>,
    /// The crossings that it sends on, in order.
    pub sends: Vec<u32>,
    /// The crossings that it receives from, in order, and its number among their receivers.
    pub receives: Vec<(u32, u32)>,
    /// Sources and receivers whose threads have a core of their own: their numbers and cores.
    pub pins: Vec<(u32, u32)>,
}

/// Cuts the part of a PE out of a program. The plan is one of that program:
/// [`Plan::check`].
///
/// # Panics
/// If there is no such PE.
pub fn cut(program: &Program, plan: &Plan, pe: u32) -> Part {
    let cutter = Cutter::new(program, plan, pe);
    let mut part = Part {
        program: Program {
            name: program.name.clone(),
            files: program.files.clone(),
            functions: program.functions.clone(),
            operators: Vec::with_capacity(cutter.order.len()),
        },
        origins: cutter.order.iter().map(Item::origin).collect(),
        sends: Vec::new(),
        receives: Vec::new(),
        pins: Vec::new(),
    };
    for (number, item) in (0..).zip(&cutter.order) {
        part.program.operators.push(cutter.operator(item));
        part.pins
            .extend(cutter.core(item).map(|core| (number, core)));
    }
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

/// An operator of a part.
enum Item {
    /// One of the program's.
    Own(OperatorId),
    /// The sender of a crossing.
    Send(u32),
    /// The receiver of some crossings.
    Receive(Receiver),
    /// The queue of a threaded port, by its index in the PE.
    Queue(usize),
}

impl Item {
    fn origin(&self) -> Option<OperatorId> {
        match self {
            Item::Own(id) => Some(*id),
            _ => None,
        }
    }
}

struct Cutter<'a> {
    program: &'a Program,
    plan: &'a Plan,
    pe: u32,
    homes: Homes,
    links: HashMap<(Edge, u32), u32>,
    order: Vec<Item>,
    /// The new numbers of the program's operators.
    numbers: HashMap<OperatorId, u32>,
    /// The new numbers of queues by operator and port.
    queues: HashMap<(OperatorId, u32), u32>,
    /// The output port that each crossing comes out of.
    received: HashMap<u32, Edge>,
}

impl<'a> Cutter<'a> {
    fn new(program: &'a Program, plan: &'a Plan, pe: u32) -> Cutter<'a> {
        let mut cutter = Cutter {
            program,
            plan,
            pe,
            homes: Homes::new(plan, program.operators.len()),
            links: plan.links(),
            order: order(program, plan, pe),
            numbers: HashMap::new(),
            queues: HashMap::new(),
            received: HashMap::new(),
        };
        for (number, item) in (0..).zip(&cutter.order) {
            match item {
                Item::Own(id) => {
                    cutter.numbers.insert(*id, number);
                }
                Item::Queue(at) => {
                    let queue = &plan.pes[pe as usize].threaded[*at];
                    let port = (queue.operator, queue.port);
                    cutter.queues.insert(port, number);
                }
                Item::Receive(receiver) => {
                    let operator = OperatorId(number);
                    let ports = (0..).map(|port| Edge { operator, port });
                    let links = receiver.links.iter();
                    cutter.received.extend(links.copied().zip(ports));
                }
                Item::Send(_) => {}
            }
        }
        cutter
    }

    fn operator(&self, item: &Item) -> Operator {
        match item {
            Item::Own(id) => self.own(*id),
            Item::Send(link) => {
                let crossing = &self.plan.crossings[*link as usize];
                let from = self.source(crossing.from);
                inserted::send(self.program, crossing, *link, from)
            }
            Item::Receive(receiver) => {
                inserted::receive(self.program, self.plan, &self.homes, receiver)
            }
            Item::Queue(at) => {
                let queue = &self.plan.pes[self.pe as usize].threaded[*at];
                let operator = &self.program.operators[queue.operator.0 as usize];
                let sources = self.sources(&operator.inputs[queue.port as usize]);
                inserted::queue(self.program, queue, sources)
            }
        }
    }

    /// The core of its thread, if that is no queue's and has one of its own.
    fn core(&self, item: &Item) -> Option<u32> {
        let pe = &self.plan.pes[self.pe as usize];
        match item {
            Item::Own(id) => pe.core_of(PinnedThread::Source(*id)),
            Item::Receive(receiver) => self.plan.core_of_receiver(pe, receiver),
            Item::Send(_) | Item::Queue(_) => None,
        }
    }

    fn own(&self, id: OperatorId) -> Operator {
        let mut operator = self.program.operators[id.0 as usize].clone();
        for (port, input) in (0..).zip(&mut operator.inputs) {
            input.sources = match self.queues.get(&(id, port)) {
                Some(&queue) => vec![Edge {
                    operator: OperatorId(queue),
                    port: 0,
                }],
                None => self.sources(input),
            };
        }
        operator
    }

    /// What feeds a port in this part.
    fn sources(&self, port: &InPort) -> Vec<Edge> {
        port.sources.iter().map(|&from| self.source(from)).collect()
    }

    fn source(&self, from: Edge) -> Edge {
        match self.numbers.get(&from.operator) {
            Some(&number) => Edge {
                operator: OperatorId(number),
                ..from
            },
            None => self.received[&self.links[&(from, self.pe)]],
        }
    }
}

/// The operators of a part: a receiver before the first operator that it feeds, a queue before its
/// operator, a sender behind it.
fn order(program: &Program, plan: &Plan, pe: u32) -> Vec<Item> {
    let own = &plan.pes[pe as usize];
    let mut receivers: HashMap<OperatorId, Vec<Receiver>> = HashMap::new();
    let first = firsts(program, plan, pe);
    for receiver in plan.receivers(program).swap_remove(pe as usize) {
        let feeds = receiver.links.iter().filter_map(|link| first.get(link));
        if let Some(&before) = feeds.min() {
            receivers.entry(before).or_default().push(receiver);
        }
    }
    let mut sends: HashMap<OperatorId, Vec<u32>> = HashMap::new();
    for (link, crossing) in (0..).zip(&plan.crossings) {
        sends.entry(crossing.from.operator).or_default().push(link);
    }
    let mut order = Vec::new();
    for &id in &own.operators {
        let received = receivers.remove(&id).unwrap_or_default();
        order.extend(received.into_iter().map(Item::Receive));
        let queues = own.threaded.iter().enumerate();
        let queues = queues.filter(|(_, queue)| queue.operator == id);
        order.extend(queues.map(|(at, _)| Item::Queue(at)));
        order.push(Item::Own(id));
        let sent = sends.remove(&id).unwrap_or_default();
        order.extend(sent.into_iter().map(Item::Send));
    }
    order
}

/// The first operator of a PE that each crossing feeds.
fn firsts(program: &Program, plan: &Plan, pe: u32) -> HashMap<u32, OperatorId> {
    let links = plan.links();
    let mut firsts = HashMap::new();
    for &id in &plan.pes[pe as usize].operators {
        let inputs = program.operators[id.0 as usize].inputs.iter();
        for from in inputs.flat_map(|input| &input.sources) {
            if let Some(&link) = links.get(&(*from, pe)) {
                firsts.entry(link).or_insert(id);
            }
        }
    }
    firsts
}
