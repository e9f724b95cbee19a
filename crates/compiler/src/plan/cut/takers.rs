//! Who takes each stream of a part: operators that are called, senders, and what fills the rings of
//! merges; and the ports by which streams come in.
//!
//! Takers are called in the order of the consumers that they stand for, and each gives what it sends a
//! number of its own. Where a sender stands for consumers before and behind another taker, that is not
//! enough: then all takers of the stream use one number, and the ranks of the consumers tell them apart.
//! So do operators that are called, by a *turn* before them.

use std::collections::HashMap;

use graph::{Consumer, Edge, Flow, Homes, Merge, MergeInput, OperatorId, Order, Origin, Plan};

use super::super::inserted::{Arrival, Numbering};

/// A ring within a PE: from a stream to a merge.
pub(super) struct Ring {
    /// Its number as a link.
    pub link: u32,
    /// The stream.
    pub from: Edge,
    /// The merge, by its index in the PE.
    pub merge: usize,
    /// The port that the merge feeds with it.
    pub to: Consumer,
    /// What it is ordered by.
    pub origins: Vec<Origin>,
}

/// Who takes what in a PE.
pub(super) struct Takers<'a> {
    plan: &'a Plan,
    order: &'a Order,
    flow: Flow,
    homes: &'a Homes,
    pe: u32,
    merges: &'a [Merge],
    /// The crossings of each stream.
    links_of: HashMap<Edge, Vec<u32>>,
    /// In order of the merges and their inputs.
    pub rings: Vec<Ring>,
}

/// One that takes a stream in its PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taker {
    /// An operator, by a call.
    Call(Consumer),
    /// What sends on a link.
    Link(u32),
}

/// A taker and the ranks of the consumers that it stands for, the first and the last.
type Span = (u32, u32, Taker);

impl<'a> Takers<'a> {
    pub fn new(
        plan: &'a Plan,
        order: &'a Order,
        flow: Flow,
        homes: &'a Homes,
        pe: u32,
    ) -> Takers<'a> {
        let merges = &order.merges[pe as usize];
        let mut rings = Vec::new();
        for (merge, inputs) in merges.iter().map(|merge| &merge.inputs).enumerate() {
            for input in inputs.iter().filter(|input| input.crossing.is_none()) {
                for &to in &input.consumers {
                    rings.push(Ring {
                        link: (plan.crossings.len() + rings.len()) as u32,
                        from: input.from,
                        merge,
                        to,
                        origins: input.origins.clone(),
                    });
                }
            }
        }
        let mut links_of: HashMap<Edge, Vec<u32>> = HashMap::new();
        for (link, crossing) in (0..).zip(&plan.crossings) {
            links_of.entry(crossing.from).or_default().push(link);
        }
        Takers {
            plan,
            order,
            flow,
            homes,
            pe,
            merges,
            links_of,
            rings,
        }
    }

    /// The streams of an operator.
    pub fn streams(&self, operator: OperatorId) -> impl Iterator<Item = Edge> {
        self.flow.streams(operator)
    }

    /// The first port that a crossing brings a stream to.
    pub fn first_beyond(&self, link: u32) -> Option<Consumer> {
        self.beyond(link).next()
    }

    fn beyond(&self, link: u32) -> impl Iterator<Item = Consumer> {
        let crossing = &self.plan.crossings[link as usize];
        let is_there = |to: &Consumer| {
            let pe = self.homes.of(to.operator);
            pe.is_some_and(|pe| crossing.to.contains(&pe))
        };
        self.flow.of(crossing.from).iter().copied().filter(is_there)
    }

    /// How a taker numbers a stream of this PE.
    pub fn numbering(&self, from: Edge, taker: Taker) -> Numbering {
        let origins = match taker {
            Taker::Link(link) => self.origins(link),
            Taker::Call(_) => Vec::new(),
        };
        let tangle = self.tangle(from);
        let at = tangle.iter().position(|other| *other == taker);
        Numbering {
            origins,
            is_again: at.is_some_and(|at| at > 0),
            has_more: at.is_some_and(|at| at + 1 < tangle.len()),
        }
    }

    /// The takers of a stream of this PE that use one number, in order; none, if each has its own.
    pub fn tangle(&self, from: Edge) -> Vec<Taker> {
        let spans = self.spans(from);
        let is_inside = |&(first, last, taker): &Span| {
            let others = spans.iter().filter(|(_, _, other)| *other != taker);
            others
                .into_iter()
                .any(|(other, _, _)| (first..last).contains(other))
        };
        match spans.iter().any(is_inside) {
            true => spans.iter().map(|&(_, _, taker)| taker).collect(),
            false => Vec::new(),
        }
    }

    /// The operators that are called for a stream of this PE by a turn.
    pub fn turns(&self, from: Edge) -> Vec<Consumer> {
        let tangle = self.tangle(from).into_iter();
        let turns = tangle.filter_map(|taker| match taker {
            Taker::Call(to) => Some(to),
            Taker::Link(_) => None,
        });
        turns.collect()
    }

    /// The output ports of a receiver of these crossings: one for each, but one for each consumer
    /// where the order of these counts.
    pub fn arrivals(&self, links: &[u32]) -> Vec<Arrival> {
        let arrivals = links.iter().flat_map(|&link| {
            let groups = self.groups(link);
            let from = self.plan.crossings[link as usize].from;
            groups.into_iter().map(move |group| Arrival {
                link,
                from,
                rank: self.rank(from, group[0]),
            })
        });
        arrivals.collect()
    }

    /// The consumers behind each output port of a crossing's receiver.
    pub fn groups(&self, link: u32) -> Vec<Vec<Consumer>> {
        let from = self.plan.crossings[link as usize].from;
        let consumers = self.flow.of(from).iter().copied();
        let near: Vec<Consumer> = consumers.filter(|to| self.is_near(to)).collect();
        if self.order.of_crossing(link).is_empty() {
            return vec![near];
        }
        near.into_iter().map(|to| vec![to]).collect()
    }

    /// The output ports of a merge: one for each stream and consumer.
    pub fn merged(&self, merge: usize) -> Vec<Arrival> {
        let inputs = self.merges[merge].inputs.iter();
        let arrivals = inputs.flat_map(|input| {
            input.consumers.iter().map(move |&to| Arrival {
                link: self.link(merge, input, to),
                from: input.from,
                rank: self.rank(input.from, to),
            })
        });
        arrivals.collect()
    }

    /// The origins of each of these crossings that is ordered.
    pub fn carried(&self, links: &[u32]) -> Vec<(u32, Origin)> {
        let all = links
            .iter()
            .map(|&link| (link, self.order.of_crossing(link)));
        all.flat_map(|(link, origins)| origins.iter().map(move |&origin| (link, origin)))
            .collect()
    }

    /// The same of what a merge takes.
    pub fn merge_carries(&self, merge: usize) -> Vec<(u32, Origin)> {
        let mut carried = Vec::new();
        for input in &self.merges[merge].inputs {
            let links = input
                .consumers
                .iter()
                .map(|&to| self.link(merge, input, to));
            let mut links: Vec<u32> = links.collect();
            links.dedup();
            let origins = |link| input.origins.iter().map(move |&origin| (link, origin));
            carried.extend(links.into_iter().flat_map(origins));
        }
        carried
    }

    fn is_near(&self, to: &Consumer) -> bool {
        self.homes.of(to.operator) == Some(self.pe)
    }

    /// The merge that takes a stream for a port.
    fn merge(&self, from: Edge, to: Consumer) -> Option<usize> {
        self.merges.iter().position(|merge| {
            let mut inputs = merge.inputs.iter();
            inputs.any(|input| input.from == from && input.consumers.contains(&to))
        })
    }

    /// The link that brings a stream to a merge, for a port.
    fn link(&self, merge: usize, input: &MergeInput, to: Consumer) -> u32 {
        let ring = || {
            let mut rings = self.rings.iter();
            let is_it = |ring: &&Ring| (ring.merge, ring.from, ring.to) == (merge, input.from, to);
            rings.find(is_it).map(|ring| ring.link)
        };
        input.crossing.or_else(ring).unwrap_or_default()
    }

    /// Where a port stands among those that a stream feeds.
    pub fn rank(&self, from: Edge, to: Consumer) -> u32 {
        let mut consumers = self.flow.of(from).iter();
        consumers.position(|other| *other == to).unwrap_or_default() as u32
    }

    fn origins(&self, link: u32) -> Vec<Origin> {
        let ring = (link as usize).checked_sub(self.plan.crossings.len());
        match ring {
            Some(at) => self.rings[at].origins.clone(),
            None => self.order.of_crossing(link).to_vec(),
        }
    }

    /// Who takes a stream of this PE and counts in its order, in order of the calls.
    fn spans(&self, from: Edge) -> Vec<Span> {
        let called = self.flow.of(from).iter().copied();
        let called = called.filter(|to| self.is_near(to) && self.merge(from, *to).is_none());
        let called = called.filter(|to| self.order.begun_by_queue(to.operator, to.port).is_none());
        let mut spans: Vec<Span> = called
            .map(|to| (self.rank(from, to), self.rank(from, to), Taker::Call(to)))
            .collect();
        let links = self.links_of.get(&from).into_iter().flatten();
        for &link in links.filter(|link| !self.order.of_crossing(**link).is_empty()) {
            let beyond: Vec<u32> = self.beyond(link).map(|to| self.rank(from, to)).collect();
            if let (Some(&first), Some(&last)) = (beyond.first(), beyond.last()) {
                spans.push((first, last, Taker::Link(link)));
            }
        }
        let rings = self
            .rings
            .iter()
            .filter(|ring| ring.from == from && !ring.origins.is_empty());
        spans.extend(rings.map(|ring| {
            let rank = self.rank(from, ring.to);
            (rank, rank, Taker::Link(ring.link))
        }));
        spans.sort_by_key(|(first, _, _)| *first);
        spans
    }
}
