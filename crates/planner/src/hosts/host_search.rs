//! Hosts for items: backtracking that is cut short by matching.
//!
//! An item that has the fewest hosts left is next, and gets the least loaded of them. A choice
//! takes that host from all items that have to be apart, and ends if some items that must all be
//! apart can no longer be matched with hosts. Where all items are apart the first check decides
//! alone; otherwise the problem is one of colouring, and steps are bounded.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bipartite_matching::{UnmatchedItems, match_hosts};
use super::host_item::{HostItem, SharedRules};

/// Choices of one search at most.
const STEPS_MAX: u32 = 20_000;

/// Items up to which the ones to blame are looked for by leaving out each.
const BLAMED_MAX: usize = 64;

/// The reason why items have no hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoHosts {
    /// Items that must all be apart, and have too few hosts together.
    TooFew(UnmatchedItems),
    /// Items that cannot be placed together, though each two of them can; without any one of them
    /// the others could.
    Together(Vec<usize>),
    /// The search has ended before it was complete.
    NotFound,
}

/// A search for the hosts of some items.
pub(super) struct HostSearch<'a> {
    /// Items to be placed; their indices are those of the result.
    pub items: &'a [HostItem],
    /// Work of each item.
    pub work: &'a [f64],
    /// Cores of each host.
    pub cores: &'a [f64],
    /// Number of hosts that each pool has at most.
    pub pool_sizes: &'a [Option<usize>],
}

/// Hosts that items may still have, and those that are chosen.
#[derive(Clone)]
struct SearchState {
    /// Whether each item may still have each host: the hosts of the first item, then of the next.
    may_have: Vec<bool>,
    host_of: Vec<Option<usize>>,
    /// Hosts that each pool uses.
    pool_hosts: Vec<BTreeSet<usize>>,
    /// Work on each host.
    work: Vec<f64>,
}

impl HostSearch<'_> {
    /// The host of each item.
    ///
    /// # Errors
    /// The items that cannot be placed together, if they are found.
    pub fn place(&self) -> Result<Vec<usize>, NoHosts> {
        // Items that may share a host and have the same rules can be wherever one of them can.
        let mut first_of: HashMap<SharedRules<'_>, usize> = HashMap::new();
        let (mut searched, mut others) = (Vec::new(), Vec::new());
        for (at, item) in self.items.iter().enumerate() {
            let alike = item.shared_rules().and_then(|rules| {
                let first = *first_of.entry(rules).or_insert(at);
                (first != at).then_some(first)
            });
            match alike {
                Some(first) => others.push((at, first)),
                None => searched.push(at),
            }
        }
        let start = self.start();
        let matched = self.check_matchings(&searched, &start);
        matched.map_err(NoHosts::TooFew)?;
        let mut steps = STEPS_MAX;
        let Some(mut state) = self.search(&searched, start, &mut steps) else {
            return Err(match steps {
                0 => NoHosts::NotFound,
                _ => self.blame(searched),
            });
        };
        self.spread(&searched, others, &mut state);
        let hosts = state.host_of.into_iter().map(Option::unwrap_or_default);
        Ok(hosts.collect())
    }

    fn start(&self) -> SearchState {
        let may_have = self.items.iter().flat_map(|item| {
            let hosts = item.may_have.iter();
            hosts.map(|may| *may && !item.is_torn)
        });
        SearchState {
            may_have: may_have.collect(),
            host_of: vec![None; self.items.len()],
            pool_hosts: vec![BTreeSet::new(); self.pool_sizes.len()],
            work: vec![0.0; self.cores.len()],
        }
    }

    fn search(
        &self,
        items: &[usize],
        mut state: SearchState,
        steps: &mut u32,
    ) -> Option<SearchState> {
        loop {
            let left = |at: usize| self.left(at, &state).filter(|may| **may).count();
            let open = items
                .iter()
                .copied()
                .filter(|&at| state.host_of[at].is_none());
            let Some(next) = open.min_by_key(|&at| (left(at), at)) else {
                return Some(state);
            };
            let hosts = self.hosts_by_load(next, &state);
            // An item with one host left is no choice.
            if let [host] = hosts[..] {
                if !self.choose(next, host, items, &mut state) {
                    return None;
                }
                continue;
            }
            for host in hosts {
                if *steps == 0 {
                    return None;
                }
                *steps -= 1;
                let mut after = state.clone();
                let is_possible = self.choose(next, host, items, &mut after)
                    && self.check_matchings(items, &after).is_ok();
                if is_possible && let Some(found) = self.search(items, after, steps) {
                    return Some(found);
                }
            }
            return None;
        }
    }

    /// Whether an item may still have each host.
    fn left<'s>(&self, item: usize, state: &'s SearchState) -> std::slice::Iter<'s, bool> {
        let hosts = self.cores.len();
        state.may_have[item * hosts..(item + 1) * hosts].iter()
    }

    fn has_any(&self, item: usize, state: &SearchState) -> bool {
        self.left(item, state).any(|may| *may)
    }

    /// The hosts that an item may have, the least loaded first.
    fn hosts_by_load(&self, item: usize, state: &SearchState) -> Vec<usize> {
        let hosts = self.left(item, state).enumerate();
        let mut hosts: Vec<usize> = hosts.filter(|(_, may)| **may).map(|(at, _)| at).collect();
        let load = |host: usize| (state.work[host] + self.work[item]) / self.cores[host];
        hosts.sort_by(|&a, &b| load(a).total_cmp(&load(b)).then(a.cmp(&b)));
        hosts
    }

    /// Gives an item a host; `false` if another item has none left then.
    fn choose(&self, item: usize, host: usize, items: &[usize], state: &mut SearchState) -> bool {
        state.host_of[item] = Some(host);
        state.work[host] += self.work[item];
        let hosts = self.cores.len();
        let may_have = |item: usize| item * hosts..(item + 1) * hosts;
        state.may_have[may_have(item)].fill(false);
        state.may_have[item * hosts + host] = true;
        for &pool in &self.items[item].pools {
            state.pool_hosts[pool].insert(host);
        }
        for &other in items.iter().filter(|other| **other != item) {
            if self.items[item].is_apart(&self.items[other]) {
                state.may_have[other * hosts + host] = false;
            }
            for &pool in &self.items[other].pools {
                let used = &state.pool_hosts[pool];
                if self.pool_sizes[pool].is_some_and(|size| used.len() >= size) {
                    for (at, may) in state.may_have[may_have(other)].iter_mut().enumerate() {
                        *may &= used.contains(&at);
                    }
                }
            }
            if !self.has_any(other, state) {
                return false;
            }
        }
        true
    }

    /// Checks that all items that have to be apart from each other can be.
    fn check_matchings(&self, items: &[usize], state: &SearchState) -> Result<(), UnmatchedItems> {
        let isolated = items.iter().filter(|&&at| self.items[at].is_isolated);
        let isolated: Vec<usize> = isolated.copied().collect();
        let mut sets: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for &at in items.iter().filter(|&&at| !self.items[at].is_isolated) {
            for &id in &self.items[at].exlocations {
                sets.entry(Some(id)).or_default().push(at);
            }
            // Any one of the others is apart from all isolated ones.
            if !isolated.is_empty() {
                sets.entry(None).or_insert_with(|| vec![at]);
            }
        }
        if !isolated.is_empty() {
            sets.entry(None).or_default();
        }
        let nowhere = items.iter().find(|&&at| !self.has_any(at, state));
        let alone = nowhere.map(|&at| vec![at]);
        let apart = sets.into_values().map(|mut set| {
            set.extend(&isolated);
            set.sort_unstable();
            set
        });
        for set in alone.into_iter().chain(apart) {
            let may_have =
                |item: usize, host: usize| state.may_have[set[item] * self.cores.len() + host];
            match_hosts(set.len(), self.cores.len(), may_have).map_err(|found| UnmatchedItems {
                items: found.items.iter().map(|&at| set[at]).collect(),
                ..found
            })?;
        }
        Ok(())
    }

    /// The fewest items that cannot be placed together, as far as leaving out each one shows.
    fn blame(&self, mut items: Vec<usize>) -> NoHosts {
        if items.len() > BLAMED_MAX {
            return NoHosts::NotFound;
        }
        for at in items.clone() {
            let others: Vec<usize> = items.iter().copied().filter(|&other| other != at).collect();
            let mut steps = STEPS_MAX / 10;
            let found = self.search(&others, self.start(), &mut steps);
            if found.is_none() && steps > 0 {
                items = others;
            }
        }
        NoHosts::Together(items)
    }

    /// Puts the other items, each with the rules of a placed one, onto the least loaded hosts that
    /// they may have beside those that are there.
    fn spread(&self, searched: &[usize], mut others: Vec<(usize, usize)>, state: &mut SearchState) {
        others.sort_by(|&(a, _), &(b, _)| self.work[b].total_cmp(&self.work[a]).then(a.cmp(&b)));
        // The searched items that have the rules of what is on each host.
        let mut there: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.cores.len()];
        for &at in searched {
            if let Some(host) = state.host_of[at] {
                there[host].insert(at);
            }
        }
        for (at, first) in others {
            let item = &self.items[first];
            let may_have = |host: usize| {
                there[host].contains(&first)
                    || item.may_have[host]
                        && there[host]
                            .iter()
                            .all(|&other| !self.items[other].is_apart(item))
                        && item.pools.iter().all(|&pool| {
                            let used = &state.pool_hosts[pool];
                            let size = self.pool_sizes[pool].unwrap_or(usize::MAX);
                            used.contains(&host) || used.len() < size
                        })
            };
            let load = |host: usize| (state.work[host] + self.work[at]) / self.cores[host];
            let hosts = (0..self.cores.len()).filter(|&host| may_have(host));
            let least = hosts.min_by(|&a, &b| load(a).total_cmp(&load(b)).then(a.cmp(&b)));
            // The host of the first one is among them.
            let host = least.or(state.host_of[first]).unwrap_or_default();
            there[host].insert(first);
            state.work[host] += self.work[at];
            state.host_of[at] = Some(host);
            for &pool in &item.pools {
                state.pool_hosts[pool].insert(host);
            }
        }
    }
}
