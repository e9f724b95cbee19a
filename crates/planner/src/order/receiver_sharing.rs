//! Streams that share a receiver of a PE, and so a thread.
//!
//! Streams that feed the same input port share one, so that no needless thread spins; so do streams
//! of one origin that one operator takes, so that their tuples come in its order
//! ([`order`](super::order)). Sharing is transitive.
//!
//! ```text
//!   PE 0: A ---------> U :PE 1        A and B both feed U: one receiver, one thread
//!   PE 2: B ---------> U
//!
//!   PE 0: A ---------> U :PE 1        V, which A's receiver runs, feeds B: two receivers
//!          `---------> V :PE 1
//!   PE 2: B <--------- V
//!         B ---------> U
//! ```
//!
//! # Why not always
//! A receiver whose thread waits for room to send polls nothing meanwhile. In the second picture
//! one thread for both streams could wait in V for PE 2, while PE 2 waits for that thread to poll
//! B: for ever. So streams share a receiver only if no thread can come to wait for itself: the
//! graph of receivers, with an edge from each to those that it waits for, stays free of cycles.
//! Without sharing it is free of them, because the operators of a loop are in one PE.
//!
//! # Cost
//! One walk downstream for each group of streams that could share.

use std::collections::{HashMap, HashSet};

use graph::{
    CrossingId, InPortId, OperatorId, OriginId, OutPortId, PeAssignment, PeId, Plan, ReceiverPlan,
};

use super::stream_origins::StreamOrigins;
use crate::streams::{DisjointSets, StreamConsumers};

/// The receivers of each PE, in order of their first crossings, as if there were no merges.
pub(super) fn plan_receivers(
    plan: &Plan,
    stream_consumers: &StreamConsumers,
    pe_assignment: &PeAssignment,
    origins: &StreamOrigins,
) -> Vec<Vec<ReceiverPlan>> {
    let mut sharing = ReceiverSharing::new(plan, stream_consumers, pe_assignment);
    for pe in plan.pe_ids() {
        for group in sharing
            .sharing_candidates(pe, origins)
            .iter()
            .filter(|g| g.len() > 1)
        {
            sharing.share(pe, group);
        }
    }
    for receivers in &mut sharing.groups {
        receivers.retain(|receiver| !receiver.crossings.is_empty());
    }
    sharing.groups
}

struct ReceiverSharing<'a> {
    plan: &'a Plan,
    stream_consumers: &'a StreamConsumers,
    pe_assignment: &'a PeAssignment,
    /// The receivers of each PE; one that another has absorbed has no crossings.
    groups: Vec<Vec<ReceiverPlan>>,
    /// The index of a crossing's receiver in a PE, by crossing and PE.
    group_of: HashMap<(CrossingId, PeId), usize>,
    /// The crossings of each stream.
    crossings_of: HashMap<OutPortId, Vec<CrossingId>>,
}

impl<'a> ReceiverSharing<'a> {
    /// A receiver of its own for each crossing in each PE.
    fn new(
        plan: &'a Plan,
        stream_consumers: &'a StreamConsumers,
        pe_assignment: &'a PeAssignment,
    ) -> ReceiverSharing<'a> {
        let mut sharing = ReceiverSharing {
            plan,
            stream_consumers,
            pe_assignment,
            groups: vec![Vec::new(); plan.pes.len()],
            group_of: HashMap::new(),
            crossings_of: plan.crossings_of(),
        };
        for (crossing_id, crossing) in plan.crossing_ids().zip(&plan.crossings) {
            for &pe in &crossing.to {
                let Some(groups) = sharing.groups.get_mut(pe.0 as usize) else {
                    continue;
                };
                sharing.group_of.insert((crossing_id, pe), groups.len());
                groups.push(ReceiverPlan {
                    crossings: vec![crossing_id],
                });
            }
        }
        sharing
    }

    /// Groups of crossings that feed common input ports of a PE, or that bring an operator tuples
    /// of one origin.
    fn sharing_candidates(&self, pe: PeId, origins: &StreamOrigins) -> Vec<Vec<CrossingId>> {
        let alone = &self.groups[pe.0 as usize];
        let crossings: Vec<CrossingId> = alone.iter().flat_map(|r| r.crossings.clone()).collect();
        if crossings.len() < 2 {
            return Vec::new();
        }
        let mut sets = DisjointSets::new(crossings.len());
        let mut by_port: HashMap<InPortId, usize> = HashMap::new();
        let mut by_origin: HashMap<(OperatorId, OriginId), usize> = HashMap::new();
        for (at, &crossing_id) in crossings.iter().enumerate() {
            for consumer in self.consumers(crossing_id, pe) {
                let other = *by_port.entry(consumer).or_insert(at);
                sets.join(other, at);
            }
            let from = self.plan.crossing(crossing_id).from;
            for operator in self.reached_operators(crossing_id, pe, origins) {
                for &origin in origins.of_stream(from) {
                    let other = *by_origin.entry((operator, origin)).or_insert(at);
                    sets.join(other, at);
                }
            }
        }
        let sets = sets.sets().into_iter();
        sets.map(|set| set.into_iter().map(|at| crossings[at]).collect())
            .collect()
    }

    /// The operators of a PE that a receiver of a crossing calls, directly or not.
    fn reached_operators(
        &self,
        crossing_id: CrossingId,
        pe: PeId,
        origins: &StreamOrigins,
    ) -> HashSet<OperatorId> {
        let queues = &self.plan.pe(pe).threaded_ports;
        let is_call = |to: &InPortId| {
            let is_near = self.pe_assignment.pe_of(to.operator) == Some(pe);
            is_near && queues.iter().all(|queue| queue.in_port() != *to)
        };
        let first = self.consumers(crossing_id, pe).filter(is_call);
        let mut reached: HashSet<OperatorId> = first.map(|to| to.operator).collect();
        let mut open: Vec<OperatorId> = reached.iter().copied().collect();
        while let Some(operator) = open.pop() {
            if origins.has_own_thread(operator) {
                continue;
            }
            for stream in self.stream_consumers.streams_of(operator) {
                let called = self
                    .stream_consumers
                    .consumers_of(stream)
                    .iter()
                    .copied()
                    .filter(is_call);
                open.extend(
                    called
                        .map(|to| to.operator)
                        .filter(|&to| reached.insert(to)),
                );
            }
        }
        reached
    }

    /// Lets crossings share receivers: one for all if possible, else each joins the first it can.
    fn share(&mut self, pe: PeId, crossings: &[CrossingId]) {
        if self.can_share(pe, crossings) {
            self.merge_groups(pe, crossings);
            return;
        }
        let mut shared: Vec<Vec<CrossingId>> = Vec::new();
        for &crossing_id in crossings {
            let fits = |group: &&mut Vec<CrossingId>| {
                let both: Vec<CrossingId> = group.iter().copied().chain([crossing_id]).collect();
                self.can_share(pe, &both)
            };
            match shared.iter_mut().find(fits) {
                Some(group) => {
                    group.push(crossing_id);
                    let group = group.clone();
                    self.merge_groups(pe, &group);
                }
                None => shared.push(vec![crossing_id]),
            }
        }
    }

    /// Whether no tuple that these crossings bring into a PE leads to another that comes back to
    /// the PE by one of them.
    fn can_share(&self, pe: PeId, crossings: &[CrossingId]) -> bool {
        let mut open: Vec<OperatorId> = Vec::new();
        let mut seen: HashSet<OperatorId> = HashSet::new();
        let mut entered: HashSet<(PeId, usize)> = HashSet::new();
        let first = crossings
            .iter()
            .flat_map(|&crossing_id| self.consumers(crossing_id, pe));
        open.extend(first.map(|to| to.operator).filter(|&o| seen.insert(o)));
        while let Some(operator) = open.pop() {
            for stream in self.stream_consumers.streams_of(operator) {
                let operator_pe = self.pe_assignment.pe_of(operator);
                let near = self
                    .stream_consumers
                    .consumers_of(stream)
                    .iter()
                    .map(|to| to.operator);
                let near = near.filter(|&to| self.pe_assignment.pe_of(to) == operator_pe);
                open.extend(near.filter(|&o| seen.insert(o)));
                for (crossing_id, to) in self.crossings(stream) {
                    if to == pe && crossings.contains(&crossing_id) {
                        return false;
                    }
                    let Some(&group) = self.group_of.get(&(crossing_id, to)) else {
                        continue;
                    };
                    if entered.insert((to, group)) {
                        let receiver = &self.groups[to.0 as usize][group];
                        let all = receiver.crossings.iter();
                        let all = all.flat_map(|&crossing_id| self.consumers(crossing_id, to));
                        open.extend(all.map(|to| to.operator).filter(|&o| seen.insert(o)));
                    }
                }
            }
        }
        true
    }

    /// Moves crossings to the receiver of the first of them.
    fn merge_groups(&mut self, pe: PeId, crossings: &[CrossingId]) {
        let Some((&first, rest)) = crossings.split_first() else {
            return;
        };
        let first_group = self.group_of[&(first, pe)];
        for &crossing_id in rest {
            let old = self.group_of.insert((crossing_id, pe), first_group);
            if let Some(old) = old.filter(|&old| old != first_group) {
                self.groups[pe.0 as usize][old].crossings.clear();
                self.groups[pe.0 as usize][first_group]
                    .crossings
                    .push(crossing_id);
            }
        }
    }

    /// The input ports of a PE that a crossing feeds.
    fn consumers(&self, crossing_id: CrossingId, pe: PeId) -> impl Iterator<Item = InPortId> + 'a {
        let pe_assignment = self.pe_assignment;
        let from = self.plan.crossing(crossing_id).from;
        let all = self.stream_consumers.consumers_of(from).iter().copied();
        all.filter(move |to| pe_assignment.pe_of(to.operator) == Some(pe))
    }

    /// The crossings of a stream with their PEs.
    fn crossings(&self, stream: OutPortId) -> impl Iterator<Item = (CrossingId, PeId)> {
        let crossings = self.crossings_of.get(&stream).into_iter().flatten();
        crossings.flat_map(|&crossing_id| {
            let to = &self.plan.crossing(crossing_id).to;
            to.iter().map(move |&pe| (crossing_id, pe))
        })
    }
}
