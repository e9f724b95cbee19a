//! Who takes each stream of a part: operators that are called, senders, and what fills the rings of
//! merges; and the ports by which streams come in.
//!
//! Takers are called in the order of the consumers that they stand for, and each gives what it
//! sends a number of its own. Where a sender stands for consumers before and behind another taker,
//! that is not enough: then all takers of the stream use one number, and the ranks of the consumers
//! tell them apart. So do operators that are called, by a *turn* before them.

use std::collections::HashMap;

use graph::{
    InPortId, Merge, MergeInput, OperatorId, OriginId, OutPortId, PeAssignment, Plan, PlanOrder,
    StreamConsumers,
};

use super::super::inserted::{ReceiverOutput, SenderNumbering};

/// A ring within a PE: from a stream to a merge.
pub(super) struct MergeRing {
    /// Its number as a link.
    pub crossing_number: u32,
    /// The stream.
    pub from: OutPortId,
    /// The merge, by its index in the PE.
    pub merge: usize,
    /// The port that the merge feeds with it.
    pub to: InPortId,
    /// What it is ordered by.
    pub origins: Vec<OriginId>,
}

/// Who takes what in a PE.
pub(super) struct StreamRecipients<'a> {
    plan: &'a Plan,
    order: &'a PlanOrder,
    stream_consumers: StreamConsumers,
    pe_assignment: &'a PeAssignment,
    pe: u32,
    merges: &'a [Merge],
    /// The crossings of each stream.
    crossings_of: HashMap<OutPortId, Vec<u32>>,
    /// In order of the merges and their inputs.
    pub rings: Vec<MergeRing>,
}

/// One that takes a stream in its PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamRecipient {
    /// An operator, by a call.
    Operator(InPortId),
    /// What sends on a link.
    Crossing(u32),
}

/// A taker and the ranks of the consumers that it stands for, the first and the last.
type RecipientRanks = (u32, u32, StreamRecipient);

impl<'a> StreamRecipients<'a> {
    pub fn new(
        plan: &'a Plan,
        order: &'a PlanOrder,
        stream_consumers: StreamConsumers,
        homes: &'a PeAssignment,
        pe: u32,
    ) -> StreamRecipients<'a> {
        let merges = &order.merges[pe as usize];
        let mut rings = Vec::new();
        for (merge, inputs) in merges.iter().map(|merge| &merge.inputs).enumerate() {
            for input in inputs.iter().filter(|input| input.crossing.is_none()) {
                for &to in &input.consumers {
                    rings.push(MergeRing {
                        crossing_number: (plan.crossings.len() + rings.len()) as u32,
                        from: input.from,
                        merge,
                        to,
                        origins: input.origins.clone(),
                    });
                }
            }
        }
        let mut links_of: HashMap<OutPortId, Vec<u32>> = HashMap::new();
        for (crossing_number, crossing) in (0..).zip(&plan.crossings) {
            links_of
                .entry(crossing.from)
                .or_default()
                .push(crossing_number);
        }
        StreamRecipients {
            plan,
            order,
            stream_consumers,
            pe_assignment: homes,
            pe,
            merges,
            crossings_of: links_of,
            rings,
        }
    }

    /// The streams of an operator.
    pub fn streams(&self, operator: OperatorId) -> impl Iterator<Item = OutPortId> {
        self.stream_consumers.streams_of(operator)
    }

    /// The first port that a crossing brings a stream to.
    pub fn first_remote_consumer(&self, crossing_number: u32) -> Option<InPortId> {
        self.remote_consumers(crossing_number).next()
    }

    fn remote_consumers(&self, crossing_number: u32) -> impl Iterator<Item = InPortId> {
        let crossing = &self.plan.crossings[crossing_number as usize];
        let is_there = |to: &InPortId| {
            let pe = self.pe_assignment.pe_of(to.operator);
            pe.is_some_and(|pe| crossing.to.contains(&pe))
        };
        self.stream_consumers
            .consumers_of(crossing.from)
            .iter()
            .copied()
            .filter(is_there)
    }

    /// How a taker numbers a stream of this PE.
    pub fn numbering(&self, from: OutPortId, recipient: StreamRecipient) -> SenderNumbering {
        let origins = match recipient {
            StreamRecipient::Crossing(link) => self.origins(link),
            StreamRecipient::Operator(_) => Vec::new(),
        };
        let numbered_together = self.numbered_together(from);
        let at = numbered_together
            .iter()
            .position(|other| *other == recipient);
        SenderNumbering {
            origins,
            is_again: at.is_some_and(|at| at > 0),
            has_more: at.is_some_and(|at| at + 1 < numbered_together.len()),
        }
    }

    /// The takers of a stream of this PE that use one number, in order; none, if each has its own.
    pub fn numbered_together(&self, from: OutPortId) -> Vec<StreamRecipient> {
        let spans = self.recipient_ranks(from);
        let is_inside = |&(first, last, taker): &RecipientRanks| {
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
    pub fn turn_consumers(&self, from: OutPortId) -> Vec<InPortId> {
        let numbered_together = self.numbered_together(from).into_iter();
        let turns = numbered_together.filter_map(|recipient| match recipient {
            StreamRecipient::Operator(to) => Some(to),
            StreamRecipient::Crossing(_) => None,
        });
        turns.collect()
    }

    /// The output ports of a receiver of these crossings: one for each, but one for each consumer
    /// where the order of these counts.
    pub fn receiver_outputs(&self, crossings: &[u32]) -> Vec<ReceiverOutput> {
        let arrivals = crossings.iter().flat_map(|&crossing_number| {
            let groups = self.consumer_groups(crossing_number);
            let from = self.plan.crossings[crossing_number as usize].from;
            groups.into_iter().map(move |group| ReceiverOutput {
                crossing_number,
                from,
                rank: self.rank(from, group[0]),
            })
        });
        arrivals.collect()
    }

    /// The consumers behind each output port of a crossing's receiver.
    pub fn consumer_groups(&self, crossing_number: u32) -> Vec<Vec<InPortId>> {
        let from = self.plan.crossings[crossing_number as usize].from;
        let consumers = self.stream_consumers.consumers_of(from).iter().copied();
        let near: Vec<InPortId> = consumers.filter(|to| self.is_local(to)).collect();
        if self.order.origins_of_crossing(crossing_number).is_empty() {
            return vec![near];
        }
        near.into_iter().map(|to| vec![to]).collect()
    }

    /// The output ports of a merge: one for each stream and consumer.
    pub fn merge_outputs(&self, merge: usize) -> Vec<ReceiverOutput> {
        let inputs = self.merges[merge].inputs.iter();
        let arrivals = inputs.flat_map(|input| {
            input.consumers.iter().map(move |&to| ReceiverOutput {
                crossing_number: self.merge_crossing(merge, input, to),
                from: input.from,
                rank: self.rank(input.from, to),
            })
        });
        arrivals.collect()
    }

    /// The origins of each of these crossings that is ordered.
    pub fn crossing_origins(&self, crossings: &[u32]) -> Vec<(u32, OriginId)> {
        let all = crossings.iter().map(|&crossing_number| {
            (
                crossing_number,
                self.order.origins_of_crossing(crossing_number),
            )
        });
        all.flat_map(|(link, origins)| origins.iter().map(move |&origin| (link, origin)))
            .collect()
    }

    /// The same of what a merge takes.
    pub fn merge_origins(&self, merge: usize) -> Vec<(u32, OriginId)> {
        let mut carried = Vec::new();
        for input in &self.merges[merge].inputs {
            let crossings = input
                .consumers
                .iter()
                .map(|&to| self.merge_crossing(merge, input, to));
            let mut crossings: Vec<u32> = crossings.collect();
            crossings.dedup();
            let origins = |crossing_number| {
                input
                    .origins
                    .iter()
                    .map(move |&origin| (crossing_number, origin))
            };
            carried.extend(crossings.into_iter().flat_map(origins));
        }
        carried
    }

    fn is_local(&self, to: &InPortId) -> bool {
        self.pe_assignment.pe_of(to.operator) == Some(self.pe)
    }

    /// The merge that takes a stream for a port.
    fn merge(&self, from: OutPortId, to: InPortId) -> Option<usize> {
        self.merges.iter().position(|merge| {
            let mut inputs = merge.inputs.iter();
            inputs.any(|input| input.from == from && input.consumers.contains(&to))
        })
    }

    /// The link that brings a stream to a merge, for a port.
    fn merge_crossing(&self, merge: usize, input: &MergeInput, to: InPortId) -> u32 {
        let ring = || {
            let mut rings = self.rings.iter();
            let is_it =
                |ring: &&MergeRing| (ring.merge, ring.from, ring.to) == (merge, input.from, to);
            rings.find(is_it).map(|ring| ring.crossing_number)
        };
        input.crossing.or_else(ring).unwrap_or_default()
    }

    /// Where a port stands among those that a stream feeds.
    pub fn rank(&self, from: OutPortId, to: InPortId) -> u32 {
        let mut consumers = self.stream_consumers.consumers_of(from).iter();
        consumers.position(|other| *other == to).unwrap_or_default() as u32
    }

    fn origins(&self, crossing_number: u32) -> Vec<OriginId> {
        let ring = (crossing_number as usize).checked_sub(self.plan.crossings.len());
        match ring {
            Some(at) => self.rings[at].origins.clone(),
            None => self.order.origins_of_crossing(crossing_number).to_vec(),
        }
    }

    /// Who takes a stream of this PE and counts in its order, in order of the calls.
    fn recipient_ranks(&self, from: OutPortId) -> Vec<RecipientRanks> {
        let called = self.stream_consumers.consumers_of(from).iter().copied();
        let called = called.filter(|to| self.is_local(to) && self.merge(from, *to).is_none());
        let called = called.filter(|to| self.order.origin_of_queue(to.operator, to.port).is_none());
        let mut spans: Vec<RecipientRanks> = called
            .map(|to| {
                (
                    self.rank(from, to),
                    self.rank(from, to),
                    StreamRecipient::Operator(to),
                )
            })
            .collect();
        let crossings = self.crossings_of.get(&from).into_iter().flatten();
        for &link in crossings.filter(|link| !self.order.origins_of_crossing(**link).is_empty()) {
            let beyond: Vec<u32> = self
                .remote_consumers(link)
                .map(|to| self.rank(from, to))
                .collect();
            if let (Some(&first), Some(&last)) = (beyond.first(), beyond.last()) {
                spans.push((first, last, StreamRecipient::Crossing(link)));
            }
        }
        let rings = self
            .rings
            .iter()
            .filter(|ring| ring.from == from && !ring.origins.is_empty());
        spans.extend(rings.map(|ring| {
            let rank = self.rank(from, ring.to);
            (rank, rank, StreamRecipient::Crossing(ring.crossing_number))
        }));
        spans.sort_by_key(|(first, _, _)| *first);
        spans
    }
}
