//! Which streams that come into a PE share a receiver, and so a thread.
//!
//! Streams that feed the same input port share one, so that no needless loop spins; so do those that
//! one origin has begun and one operator takes, so that they come in its order ([`super::order`]);
//! and those that share with one that shares.
//!
//! ```text
//!   PE 0: A ---------> U :PE 1        A and B both feed U: one receiver, one thread
//!   PE 2: B ---------> U
//!
//!   PE 0: A ---------> U :PE 1        B is fed by what A's receiver runs: two receivers
//!          `---------> V :PE 1
//!   PE 2: B <--------- V
//!         B ---------> U
//! ```
//!
//! # Why not always
//! A receiver whose thread waits for room to send polls nothing meanwhile. In the second picture one
//! thread for both streams could wait in V for PE 2, while PE 2 waits for that thread to poll B: for
//! ever. So streams share a receiver only if no thread can come to wait for itself: taking receivers
//! for nodes, who waits for whom stays free of cycles. It is free of cycles without sharing, because
//! the operators of a loop are in one PE.
//!
//! # Cost
//! One walk downstream for each group of streams that could share.

use std::collections::{HashMap, HashSet};

use super::flow::{Consumer, Flow};
use super::homes::Homes;
use super::order::{Origin, Origins};
use super::sets::DisjointSets;
use super::{Edge, OperatorId, Plan};

/// A receiver of a PE: it brings in streams and hands their tuples on by a thread of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receiver {
    /// The crossings that it receives, in order: an output port each.
    pub links: Vec<u32>,
}

/// The receivers of each PE, in order of their first crossings.
pub(super) fn receivers(
    plan: &Plan,
    flow: &Flow,
    homes: &Homes,
    origins: &Origins,
) -> Vec<Vec<Receiver>> {
    let mut sharing = Sharing::new(plan, flow, homes);
    for pe in 0..plan.pes.len() as u32 {
        for group in sharing
            .candidates(pe, origins)
            .iter()
            .filter(|g| g.len() > 1)
        {
            sharing.share(pe, group);
        }
    }
    for receivers in &mut sharing.groups {
        receivers.retain(|receiver| !receiver.links.is_empty());
    }
    sharing.groups
}

struct Sharing<'a> {
    plan: &'a Plan,
    flow: &'a Flow,
    homes: &'a Homes,
    groups: Vec<Vec<Receiver>>,
    /// Crossing and PE to the index in the PE's groups.
    group_of: HashMap<(u32, u32), usize>,
    /// The crossings of each stream.
    links_of: HashMap<Edge, Vec<u32>>,
}

impl<'a> Sharing<'a> {
    /// A receiver for each crossing in each PE.
    fn new(plan: &'a Plan, flow: &'a Flow, homes: &'a Homes) -> Sharing<'a> {
        let mut sharing = Sharing {
            plan,
            flow,
            homes,
            groups: vec![Vec::new(); plan.pes.len()],
            group_of: HashMap::new(),
            links_of: HashMap::new(),
        };
        for (link, crossing) in (0..).zip(&plan.crossings) {
            sharing
                .links_of
                .entry(crossing.from)
                .or_default()
                .push(link);
            for &pe in &crossing.to {
                let Some(groups) = sharing.groups.get_mut(pe as usize) else {
                    continue;
                };
                sharing.group_of.insert((link, pe), groups.len());
                groups.push(Receiver { links: vec![link] });
            }
        }
        sharing
    }

    /// Groups of crossings that feed common input ports of a PE, or that bring an operator what one
    /// origin has begun.
    fn candidates(&self, pe: u32, origins: &Origins) -> Vec<Vec<u32>> {
        let alone = &self.groups[pe as usize];
        let links: Vec<u32> = alone.iter().flat_map(|r| r.links.clone()).collect();
        if links.len() < 2 {
            return Vec::new();
        }
        let mut sets = DisjointSets::new(links.len());
        let mut first: HashMap<Consumer, usize> = HashMap::new();
        let mut met: HashMap<(OperatorId, Origin), usize> = HashMap::new();
        for (at, &link) in links.iter().enumerate() {
            for consumer in self.consumers(link, pe) {
                let other = *first.entry(consumer).or_insert(at);
                sets.join(other, at);
            }
            let from = self.plan.crossings[link as usize].from;
            for operator in self.reached(link, pe, origins) {
                for &origin in origins.of(from) {
                    let other = *met.entry((operator, origin)).or_insert(at);
                    sets.join(other, at);
                }
            }
        }
        let sets = sets.sets().into_iter();
        sets.map(|set| set.into_iter().map(|at| links[at]).collect())
            .collect()
    }

    /// The operators of a PE that a receiver of a crossing calls, directly or not.
    fn reached(&self, link: u32, pe: u32, origins: &Origins) -> HashSet<OperatorId> {
        let queues = &self.plan.pes[pe as usize].threaded;
        let is_call = |to: &Consumer| {
            let is_near = self.homes.of(to.operator) == Some(pe);
            is_near && queues.iter().all(|queue| queue.consumer() != *to)
        };
        let first = self.consumers(link, pe).filter(is_call);
        let mut reached: HashSet<OperatorId> = first.map(|to| to.operator).collect();
        let mut open: Vec<OperatorId> = reached.iter().copied().collect();
        while let Some(operator) = open.pop() {
            if origins.has_own_thread(operator) {
                continue;
            }
            for stream in self.flow.streams(operator) {
                let called = self.flow.of(stream).iter().copied().filter(is_call);
                open.extend(
                    called
                        .map(|to| to.operator)
                        .filter(|&to| reached.insert(to)),
                );
            }
        }
        reached
    }

    /// Lets crossings share a receiver as far as they can: all of them, else one after the other.
    fn share(&mut self, pe: u32, links: &[u32]) {
        if self.can_share(pe, links) {
            self.join(pe, links);
            return;
        }
        let mut shared: Vec<Vec<u32>> = Vec::new();
        for &link in links {
            let fits = |group: &&mut Vec<u32>| {
                let both: Vec<u32> = group.iter().copied().chain([link]).collect();
                self.can_share(pe, &both)
            };
            match shared.iter_mut().find(fits) {
                Some(group) => {
                    group.push(link);
                    let group = group.clone();
                    self.join(pe, &group);
                }
                None => shared.push(vec![link]),
            }
        }
    }

    /// Whether nothing that these crossings bring about in a PE comes back by one of them.
    fn can_share(&self, pe: u32, links: &[u32]) -> bool {
        let mut open: Vec<OperatorId> = Vec::new();
        let mut seen: HashSet<OperatorId> = HashSet::new();
        let mut entered: HashSet<(u32, usize)> = HashSet::new();
        let first = links.iter().flat_map(|&link| self.consumers(link, pe));
        open.extend(first.map(|to| to.operator).filter(|&o| seen.insert(o)));
        while let Some(operator) = open.pop() {
            for stream in self.flow.streams(operator) {
                let home = self.homes.of(operator);
                let near = self.flow.of(stream).iter().map(|to| to.operator);
                let near = near.filter(|&to| self.homes.of(to) == home);
                open.extend(near.filter(|&o| seen.insert(o)));
                for (link, to) in self.crossings(stream) {
                    if to == pe && links.contains(&link) {
                        return false;
                    }
                    let Some(&group) = self.group_of.get(&(link, to)) else {
                        continue;
                    };
                    if entered.insert((to, group)) {
                        let receiver = &self.groups[to as usize][group];
                        let all = receiver.links.iter();
                        let all = all.flat_map(|&link| self.consumers(link, to));
                        open.extend(all.map(|to| to.operator).filter(|&o| seen.insert(o)));
                    }
                }
            }
        }
        true
    }

    fn join(&mut self, pe: u32, links: &[u32]) {
        let Some((&first, rest)) = links.split_first() else {
            return;
        };
        let home = self.group_of[&(first, pe)];
        for &link in rest {
            let old = self.group_of.insert((link, pe), home);
            if let Some(old) = old.filter(|&old| old != home) {
                self.groups[pe as usize][old].links.clear();
                self.groups[pe as usize][home].links.push(link);
            }
        }
    }

    /// The input ports of a PE that a crossing feeds.
    fn consumers(&self, link: u32, pe: u32) -> impl Iterator<Item = Consumer> + 'a {
        let homes = self.homes;
        let from = self.plan.crossings[link as usize].from;
        let all = self.flow.of(from).iter().copied();
        all.filter(move |to| homes.of(to.operator) == Some(pe))
    }

    /// The crossings of a stream with their PEs.
    fn crossings(&self, stream: Edge) -> impl Iterator<Item = (u32, u32)> {
        let links = self.links_of.get(&stream).into_iter().flatten();
        links.flat_map(|&link| {
            let to = &self.plan.crossings[link as usize].to;
            to.iter().map(move |&pe| (link, pe))
        })
    }
}
