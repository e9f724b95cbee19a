//! The recipients of each stream of a part: operators that are called, senders of crossings, and
//! senders that fill the rings of merges; and the ports by which streams come in.
//!
//! Recipients are called in the order of the consumers that they stand for, and each gives its
//! tuples numbers of their own. Where a sender stands for consumers both before and behind another
//! recipient, that does not give the consumers' order: then all recipients of the stream share one
//! number, and the ranks of the consumers tell them apart. An operator is then called by an
//! *ordered call*, which gives it the shared number.

use std::collections::{HashMap, HashSet};

use graph::{CrossingId, InPortId, Merge, MergeInput, OperatorId, OriginId, OutPortId, PeId};

use super::cut_facts::CutFacts;
use super::inserted::{ReceiverOutput, SenderNumbering};

/// A ring within a PE: from a stream to a merge.
pub(super) struct MergeRing {
    /// The ring's id, which no crossing has.
    pub crossing_id: CrossingId,
    /// The stream that the ring carries.
    pub from: OutPortId,
    /// The merge, by its index in the PE.
    pub merge: usize,
    /// The input port that the merge feeds from the ring.
    pub to: InPortId,
    /// The origins that the ring's tuples are ordered by.
    pub origins: Vec<OriginId>,
}

/// The recipients of the streams of a PE.
pub(super) struct StreamRecipients<'a> {
    facts: &'a CutFacts<'a>,
    pe: PeId,
    /// The rings of the PE, in order of the merges and their inputs.
    pub rings: Vec<MergeRing>,
    /// The rings that a stream fills, by their indexes.
    rings_of: HashMap<OutPortId, Vec<usize>>,
    /// The ring that brings a merge a stream for an input port.
    ring_index: HashMap<(usize, OutPortId, InPortId), CrossingId>,
    /// The streams that merges take, each with an input port that a merge feeds with it.
    merged: HashSet<(OutPortId, InPortId)>,
    /// The input ports that merges feed.
    merged_ports: HashSet<InPortId>,
}

/// A recipient of a stream in its PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamRecipient {
    /// An operator, which is called.
    Operator(InPortId),
    /// The sender of a crossing or ring.
    Crossing(CrossingId),
}

/// A recipient after the ranks of the first and the last consumer that it stands for.
type RecipientRanks = (u32, u32, StreamRecipient);

impl<'a> StreamRecipients<'a> {
    /// The recipients in PE `pe` of a plan.
    pub fn new(facts: &'a CutFacts<'a>, pe: PeId) -> StreamRecipients<'a> {
        let mut recipients = StreamRecipients {
            facts,
            pe,
            rings: Vec::new(),
            rings_of: HashMap::new(),
            ring_index: HashMap::new(),
            merged: HashSet::new(),
            merged_ports: HashSet::new(),
        };
        for (merge, inputs) in recipients.merges().iter().map(|m| &m.inputs).enumerate() {
            for input in inputs {
                for &to in &input.consumers {
                    recipients.merged.insert((input.from, to));
                    recipients.merged_ports.insert(to);
                    if input.crossing.is_none() {
                        recipients.add_ring(merge, input, to);
                    }
                }
            }
        }
        recipients
    }

    fn add_ring(&mut self, merge: usize, input: &MergeInput, to: InPortId) {
        let (at, from) = (self.rings.len(), input.from);
        let crossing_id = CrossingId((self.facts.plan.crossings.len() + at) as u32);
        self.rings_of.entry(from).or_default().push(at);
        self.ring_index
            .entry((merge, from, to))
            .or_insert(crossing_id);
        self.rings.push(MergeRing {
            crossing_id,
            from,
            merge,
            to,
            origins: input.origins.clone(),
        });
    }

    fn merges(&self) -> &'a [Merge] {
        &self.facts.order.merges[self.pe.0 as usize]
    }

    /// Whether a merge feeds an input port of the PE.
    pub fn is_merged(&self, to: InPortId) -> bool {
        self.merged_ports.contains(&to)
    }

    /// The streams that leave an operator.
    pub fn streams(&self, operator: OperatorId) -> impl Iterator<Item = OutPortId> {
        self.facts.stream_consumers.streams_of(operator)
    }

    /// The first input port that a crossing feeds, in any PE.
    pub fn first_remote_consumer(&self, crossing_id: CrossingId) -> Option<InPortId> {
        self.remote_consumers(crossing_id).next()
    }

    /// The input ports that a crossing feeds, in all of its PEs.
    fn remote_consumers(&self, crossing_id: CrossingId) -> impl Iterator<Item = InPortId> {
        let crossing = self.facts.plan.crossing(crossing_id);
        let is_there = |to: &InPortId| {
            let pe = self.facts.pe_assignment.pe_of(to.operator);
            pe.is_some_and(|pe| crossing.to.contains(&pe))
        };
        self.facts
            .stream_consumers
            .consumers_of(crossing.from)
            .iter()
            .copied()
            .filter(is_there)
    }

    /// The way in which a recipient numbers a stream of this PE.
    pub fn numbering(&self, from: OutPortId, recipient: StreamRecipient) -> SenderNumbering {
        let origins = match recipient {
            StreamRecipient::Crossing(id) => self.origins(id),
            StreamRecipient::Operator(_) => Vec::new(),
        };
        let numbered_together = self.numbered_together(from);
        let at = numbered_together
            .iter()
            .position(|other| *other == recipient);
        SenderNumbering {
            origins,
            repeats_position: at.is_some_and(|at| at > 0),
            is_repeated_next: at.is_some_and(|at| at + 1 < numbered_together.len()),
        }
    }

    /// The recipients of a stream of this PE that share one number, in order; none, if each has its
    /// own.
    pub fn numbered_together(&self, from: OutPortId) -> Vec<StreamRecipient> {
        let ranked = self.recipient_ranks(from);
        let encloses_another = |&(first, last, recipient): &RecipientRanks| {
            let mut others = ranked.iter().filter(|(_, _, other)| *other != recipient);
            others.any(|(other, _, _)| (first..last).contains(other))
        };
        match ranked.iter().any(encloses_another) {
            true => ranked.iter().map(|&(_, _, recipient)| recipient).collect(),
            false => Vec::new(),
        }
    }

    /// The input ports that ordered calls call for a stream of this PE.
    pub fn ordered_call_consumers(&self, from: OutPortId) -> Vec<InPortId> {
        let numbered_together = self.numbered_together(from).into_iter();
        let called = numbered_together.filter_map(|recipient| match recipient {
            StreamRecipient::Operator(to) => Some(to),
            StreamRecipient::Crossing(_) => None,
        });
        called.collect()
    }

    /// The output ports of a receiver of these crossings: one for each crossing, or one for each
    /// consumer of an ordered crossing.
    pub fn receiver_outputs(&self, crossings: &[CrossingId]) -> Vec<ReceiverOutput> {
        let outputs = crossings.iter().flat_map(|&crossing_id| {
            let groups = self.consumer_groups(crossing_id);
            let from = self.facts.plan.crossing(crossing_id).from;
            groups.into_iter().map(move |group| ReceiverOutput {
                crossing_id,
                from,
                rank: self.rank(from, group[0]),
            })
        });
        outputs.collect()
    }

    /// The consumers behind each output port of a crossing's receiver.
    pub fn consumer_groups(&self, crossing_id: CrossingId) -> Vec<Vec<InPortId>> {
        let from = self.facts.plan.crossing(crossing_id).from;
        let consumers = self
            .facts
            .stream_consumers
            .consumers_of(from)
            .iter()
            .copied();
        let near: Vec<InPortId> = consumers.filter(|to| self.is_local(to)).collect();
        if self.facts.order.origins_of_crossing(crossing_id).is_empty() {
            return vec![near];
        }
        near.into_iter().map(|to| vec![to]).collect()
    }

    /// The output ports of a merge: one for each stream and consumer.
    pub fn merge_outputs(&self, merge: usize) -> Vec<ReceiverOutput> {
        let inputs = self.merges()[merge].inputs.iter();
        let outputs = inputs.flat_map(|input| {
            input.consumers.iter().map(move |&to| ReceiverOutput {
                crossing_id: self.merge_crossing(merge, input, to),
                from: input.from,
                rank: self.rank(input.from, to),
            })
        });
        outputs.collect()
    }

    /// The crossings of these that are ordered, once for each of their origins.
    pub fn crossing_origins(&self, crossings: &[CrossingId]) -> Vec<(CrossingId, OriginId)> {
        let all = crossings.iter().map(|&crossing_id| {
            (
                crossing_id,
                self.facts.order.origins_of_crossing(crossing_id),
            )
        });
        all.flat_map(|(id, origins)| origins.iter().map(move |&origin| (id, origin)))
            .collect()
    }

    /// The crossings and rings that a merge takes, once for each origin that orders them.
    pub fn merge_origins(&self, merge: usize) -> Vec<(CrossingId, OriginId)> {
        let mut carried = Vec::new();
        for input in &self.merges()[merge].inputs {
            let crossings = input
                .consumers
                .iter()
                .map(|&to| self.merge_crossing(merge, input, to));
            let mut crossings: Vec<CrossingId> = crossings.collect();
            crossings.dedup();
            let origins = |crossing_id| {
                input
                    .origins
                    .iter()
                    .map(move |&origin| (crossing_id, origin))
            };
            carried.extend(crossings.into_iter().flat_map(origins));
        }
        carried
    }

    fn is_local(&self, to: &InPortId) -> bool {
        self.facts.pe_assignment.pe_of(to.operator) == Some(self.pe)
    }

    /// The crossing or ring that brings a merge a stream for an input port.
    fn merge_crossing(&self, merge: usize, input: &MergeInput, to: InPortId) -> CrossingId {
        let ring = || self.ring_index.get(&(merge, input.from, to)).copied();
        let crossing_id = input.crossing.or_else(ring);
        crossing_id.expect("an input without a crossing has a ring for each consumer")
    }

    /// The rank of an input port among those that a stream feeds, from 0.
    pub fn rank(&self, from: OutPortId, to: InPortId) -> u32 {
        let mut consumers = self.facts.stream_consumers.consumers_of(from).iter();
        consumers.position(|other| *other == to).unwrap_or_default() as u32
    }

    /// The origins that a crossing or ring is ordered by.
    fn origins(&self, crossing_id: CrossingId) -> Vec<OriginId> {
        let ring = (crossing_id.0 as usize).checked_sub(self.facts.plan.crossings.len());
        match ring {
            Some(at) => self.rings[at].origins.clone(),
            None => self.facts.order.origins_of_crossing(crossing_id).to_vec(),
        }
    }

    /// The recipients of a stream of this PE that count in its order, in order of the calls.
    fn recipient_ranks(&self, from: OutPortId) -> Vec<RecipientRanks> {
        let called = self
            .facts
            .stream_consumers
            .consumers_of(from)
            .iter()
            .copied();
        let called = called.filter(|to| self.is_local(to) && !self.merged.contains(&(from, *to)));
        let called = called.filter(|to| {
            self.facts
                .order
                .origin_of_queue(to.operator, to.port)
                .is_none()
        });
        let mut ranked: Vec<RecipientRanks> = called
            .map(|to| {
                (
                    self.rank(from, to),
                    self.rank(from, to),
                    StreamRecipient::Operator(to),
                )
            })
            .collect();
        let crossings = self.facts.crossings_of.get(&from).into_iter().flatten();
        let is_ordered = |id: &&CrossingId| !self.facts.order.origins_of_crossing(**id).is_empty();
        for &id in crossings.filter(is_ordered) {
            let consumers = self.remote_consumers(id);
            let ranks: Vec<u32> = consumers.map(|to| self.rank(from, to)).collect();
            if let (Some(&first), Some(&last)) = (ranks.first(), ranks.last()) {
                ranked.push((first, last, StreamRecipient::Crossing(id)));
            }
        }
        let rings = self.rings_of.get(&from).into_iter().flatten();
        let rings = rings.map(|&at| &self.rings[at]);
        let rings = rings.filter(|ring| !ring.origins.is_empty());
        ranked.extend(rings.map(|ring| {
            let rank = self.rank(from, ring.to);
            (rank, rank, StreamRecipient::Crossing(ring.crossing_id))
        }));
        ranked.sort_by_key(|(first, _, _)| *first);
        ranked
    }
}
