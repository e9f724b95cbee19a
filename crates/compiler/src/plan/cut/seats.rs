//! The operators of a part, in order, and their new numbers.

use std::collections::HashMap;

use graph::{Consumer, Edge, Homes, OperatorId, Order, Plan};

use super::takers::Takers;

/// An operator of a part.
pub(super) enum Item {
    /// One of the program's.
    Own(OperatorId),
    /// The sender of a crossing.
    Send(u32),
    /// What fills a ring, by its index.
    Fill(usize),
    /// A turn of an operator that is called for a stream.
    Turn(Edge, Consumer),
    /// A receiver of some crossings, by its index.
    Receive(usize),
    /// A merge, by its index.
    Merge(usize),
    /// The queue of a threaded port, by its index in the PE.
    Queue(usize),
}

/// Before or behind the operator that it stands by.
type Seat = (OperatorId, u32, u32);

const RECEIVE: u32 = 0;
const FILL: u32 = 1;
const QUEUE: u32 = 2;
const OWN: u32 = 3;
const SEND: u32 = 4;

impl Item {
    /// The number in the whole program; `None`: it was inserted.
    pub fn number(&self) -> Option<OperatorId> {
        match self {
            Item::Own(id) => Some(*id),
            _ => None,
        }
    }
}

/// Where everything stands.
#[derive(Default)]
pub(super) struct Seats {
    pub order: Vec<Item>,
    /// The new numbers of the program's operators.
    pub numbers: HashMap<OperatorId, u32>,
    /// The new numbers of queues by operator and port.
    pub queues: HashMap<(OperatorId, u32), u32>,
    /// The output port that brings what comes by a crossing to a port.
    pub received: HashMap<(u32, Consumer), Edge>,
    /// The output port that brings a stream to a port: of a merge, or of a turn.
    pub merged: HashMap<(Edge, Consumer), Edge>,
}

impl Seats {
    pub fn new(plan: &Plan, order: &Order, takers: &Takers<'_>, homes: &Homes, pe: u32) -> Seats {
        let mut all = items(plan, order, takers, homes, pe);
        all.sort_by_key(|(seat, _)| *seat);
        let mut seats = Seats {
            order: all.into_iter().map(|(_, item)| item).collect(),
            ..Seats::default()
        };
        for number in 0..seats.order.len() as u32 {
            seats.number(plan, order, takers, pe, number);
        }
        seats
    }

    fn number(&mut self, plan: &Plan, order: &Order, takers: &Takers<'_>, pe: u32, number: u32) {
        let mut ports = (0..).map(|port| Edge {
            operator: OperatorId(number),
            port,
        });
        match self.order[number as usize] {
            Item::Own(id) => {
                self.numbers.insert(id, number);
            }
            Item::Queue(at) => {
                let queue = &plan.pes[pe as usize].threaded[at];
                self.queues.insert((queue.operator, queue.port), number);
            }
            Item::Receive(at) => {
                let links = order.receivers[pe as usize][at].links.iter();
                let groups =
                    links.flat_map(|&link| takers.groups(link).into_iter().map(move |g| (link, g)));
                for ((link, group), port) in groups.zip(&mut ports) {
                    let taken = group.into_iter().map(|to| ((link, to), port));
                    self.received.extend(taken);
                }
            }
            Item::Merge(at) => {
                let inputs = order.merges[pe as usize][at].inputs.iter();
                let taken =
                    inputs.flat_map(|input| input.consumers.iter().map(|&to| (input.from, to)));
                self.merged.extend(taken.zip(&mut ports));
            }
            Item::Turn(from, to) => self
                .merged
                .extend(ports.next().map(|port| ((from, to), port))),
            Item::Send(_) | Item::Fill(_) => {}
        }
    }
}

fn items(
    plan: &Plan,
    order: &Order,
    takers: &Takers<'_>,
    homes: &Homes,
    pe: u32,
) -> Vec<(Seat, Item)> {
    let own = &plan.pes[pe as usize];
    let merges = &order.merges[pe as usize];
    let mut items: Vec<(Seat, Item)> = Vec::new();
    items.extend(
        own.operators
            .iter()
            .map(|&id| ((id, OWN, 0), Item::Own(id))),
    );
    for (at, queue) in own.threaded.iter().enumerate() {
        let to = Consumer {
            operator: queue.operator,
            port: queue.port,
        };
        if !merges.iter().any(|merge| merge.feeds(to)) {
            items.push(((queue.operator, QUEUE, queue.port), Item::Queue(at)));
        }
    }
    for (at, receiver) in order.receivers[pe as usize].iter().enumerate() {
        let groups = receiver.links.iter().flat_map(|&link| takers.groups(link));
        if let Some(first) = groups.flatten().map(|to| to.operator).min() {
            items.push(((first, RECEIVE, receiver.links[0]), Item::Receive(at)));
        }
    }
    for (at, merge) in merges.iter().enumerate() {
        if let Some(&first) = merge.operators.first() {
            items.push(((first, RECEIVE, u32::MAX), Item::Merge(at)));
        }
    }
    for (at, ring) in takers.rings.iter().enumerate() {
        items.push(((ring.to.operator, FILL, ring.link), Item::Fill(at)));
    }
    for &id in &own.operators {
        for from in takers.streams(id) {
            let turns = takers.turns(from).into_iter();
            items.extend(turns.map(|to| ((to.operator, FILL, to.port), Item::Turn(from, to))));
        }
    }
    for (link, crossing) in (0..).zip(&plan.crossings) {
        if homes.of(crossing.from.operator) != Some(pe) {
            continue;
        }
        let first = match order.of_crossing(link) {
            [] => None,
            _ => takers.first_beyond(link),
        };
        let seat = match first {
            Some(to) => (to.operator, FILL, link),
            None => (crossing.from.operator, SEND, link),
        };
        items.push((seat, Item::Send(link)));
    }
    items
}
