//! The rules for hosts of a program: groups of operators that share a host, and their hosts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use graph::Program;

use super::host_failure::HostFailure;
use super::host_item::{HostItem, SharedRules};
use super::host_pool::{HostPool, quoted_words};
use super::host_search::{HostSearch, NoHosts};
use crate::choice::{PlanError, PlanHost};
use crate::fusion::{OperatorPlacement, PlacementRules, PlacementValue};

/// Hosts that groups of operators may have, and rules on hosts of several groups.
pub(crate) struct HostRules {
    /// The group of each block of the placement rules.
    group_of: Vec<usize>,
    /// The groups; blocks without rules are groups of one.
    groups: Vec<HostItem>,
    /// Groups with one number have the same rules, and may share a host.
    class_of: Vec<usize>,
    /// Number of hosts that each pool has at most.
    pool_sizes: Vec<Option<usize>>,
    /// Cores of each host.
    cores: Vec<f64>,
    /// Whether any group is bound by a rule, or has several blocks.
    are_any: bool,
}

/// A place in the program that binds a group: an operator, and its placement.
pub(super) type GroupPlacement<'a> = (usize, PlacementValue<'a>);

impl HostRules {
    /// The rules of a program on these hosts.
    ///
    /// # Errors
    /// Placements that cannot be kept on these hosts, however its operators are fused.
    pub fn new(
        program: &Program,
        rules: &PlacementRules<'_>,
        hosts: &[PlanHost<'_>],
    ) -> Result<HostRules, Vec<PlanError>> {
        let pools = HostPool::all(program, hosts);
        let exclusive = (0..pools.len()).filter(|&at| pools[at].is_exclusive);
        let exclusive: BTreeSet<usize> = exclusive.collect();
        let placements = OperatorPlacement::all(program);
        let group_of = group_of_blocks(&placements, rules, &pools);
        let count = group_of.iter().max().map_or(0, |last| last + 1);
        let mut found = HostRules {
            groups: vec![HostItem::free(hosts.len(), &exclusive); count],
            group_of,
            class_of: Vec::new(),
            pool_sizes: pools.iter().map(|pool| pool.size).collect(),
            cores: hosts
                .iter()
                .map(|host| f64::from(host.cores.max(1)))
                .collect(),
            are_any: false,
        };
        let mut said: Vec<Vec<GroupPlacement<'_>>> = vec![Vec::new(); count];
        let mut ids: HashMap<&str, usize> = HashMap::new();
        let failure = |said| HostFailure {
            program,
            hosts,
            pools: &pools,
            said,
        };
        let mut errors = Vec::new();
        for (at, placement) in placements.iter().enumerate() {
            let group = found.group_of[rules.block_of()[at]];
            let values = [
                placement.host,
                placement.host_exlocation,
                placement.host_isolation,
            ];
            said[group].extend(values.into_iter().flatten().map(|value| (at, value)));
            let item = &mut found.groups[group];
            item.is_isolated |= placement.host_isolation.is_some();
            if let Some(exlocation) = placement.host_exlocation {
                let next = ids.len();
                let id = *ids.entry(exlocation.value).or_insert(next);
                // One place of a pool may hold operators together that this keeps apart.
                item.is_torn |= !item.exlocations.insert(id);
            }
            let Some(host) = placement.host else {
                continue;
            };
            match HostDomain::new(host.value, hosts, &pools) {
                Ok(domain) => {
                    let next = ids.len();
                    domain.bind(item, |pool| *ids.entry(pool).or_insert(next));
                }
                Err(why) => errors.push(failure(&[]).wrong_host((at, host), &why)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        found.settle();
        let work = vec![1.0; count];
        match found.search(&found.groups, &work) {
            Ok(_) => Ok(found),
            Err(why) => Err(vec![failure(&said).error(&why)]),
        }
    }

    /// Leaves out rules that keep nothing apart, and finds groups of the same rules, when all
    /// placements are known.
    fn settle(&mut self) {
        let mut with_id: HashMap<usize, u32> = HashMap::new();
        for id in self.groups.iter().flat_map(|item| &item.exlocations) {
            *with_id.entry(*id).or_default() += 1;
        }
        for item in &mut self.groups {
            // An id that no other group has keeps nothing apart.
            item.exlocations.retain(|id| with_id[id] > 1);
            item.outside = item.outside.difference(&item.pools).copied().collect();
        }
        self.class_of = classes(&self.groups);
        let are_together = self.group_of.len() > self.groups.len();
        self.are_any = are_together || self.groups.iter().any(HostItem::is_bound);
    }

    /// Number of the hosts.
    pub fn host_count(&self) -> usize {
        self.cores.len()
    }

    /// Whether the program says nothing about hosts.
    pub fn are_free(&self) -> bool {
        !self.are_any
    }

    fn search(&self, items: &[HostItem], work: &[f64]) -> Result<Vec<usize>, NoHosts> {
        let search = HostSearch {
            items,
            work,
            cores: &self.cores,
            pool_sizes: &self.pool_sizes,
        };
        search.place()
    }

    /// Whether blocks may be in these processes on these hosts.
    pub fn allow(&self, pe_of: impl Fn(usize) -> u32, host_of: impl Fn(u32) -> u32) -> bool {
        if !self.are_any {
            return true;
        }
        let mut host_of_group: Vec<Option<usize>> = vec![None; self.groups.len()];
        for (block, &group) in self.group_of.iter().enumerate() {
            let host = host_of(pe_of(block)) as usize;
            if *host_of_group[group].get_or_insert(host) != host {
                return false;
            }
        }
        let mut on_host: BTreeMap<usize, HostItem> = BTreeMap::new();
        let mut pool_hosts = vec![BTreeSet::new(); self.pool_sizes.len()];
        let mut checked: HashSet<(usize, usize)> = HashSet::new();
        for (group, host) in host_of_group.into_iter().enumerate() {
            let (item, Some(host)) = (&self.groups[group], host) else {
                continue;
            };
            if !checked.insert((host, self.class_of[group])) {
                continue;
            }
            if !item.may_have.get(host).copied().unwrap_or_default() {
                return false;
            }
            for &pool in &item.pools {
                pool_hosts[pool].insert(host);
            }
            let mut is_torn = false;
            let joined = on_host.entry(host).and_modify(|joined| {
                is_torn = joined.is_apart(item);
                // Hosts are checked group by group.
                joined.exlocations.extend(&item.exlocations);
                joined.is_isolated |= item.is_isolated;
                joined.pools.extend(&item.pools);
                joined.outside.extend(&item.outside);
            });
            joined.or_insert_with(|| item.clone());
            if is_torn {
                return false;
            }
        }
        let sizes = self.pool_sizes.iter().zip(&pool_hosts);
        let mut sizes = sizes.filter_map(|(size, used)| Some((*size)?.cmp(&used.len())));
        sizes.all(std::cmp::Ordering::is_ge)
    }

    /// Processes that have to be on the host of one of `pes`, with those themselves.
    pub fn together(&self, pes: &[u32], pe_of: impl Fn(usize) -> u32) -> BTreeSet<u32> {
        let mut all: BTreeSet<u32> = pes.iter().copied().collect();
        if !self.are_any {
            return all;
        }
        loop {
            let blocks = self.group_of.iter().enumerate();
            let groups = blocks.filter(|(block, _)| all.contains(&pe_of(*block)));
            let groups: BTreeSet<usize> = groups.map(|(_, &group)| group).collect();
            let blocks = self.group_of.iter().enumerate();
            let more = blocks.filter(|(_, group)| groups.contains(group));
            let more: BTreeSet<u32> = more.map(|(block, _)| pe_of(block)).collect();
            if more.is_subset(&all) {
                return all;
            }
            all.extend(more);
        }
    }

    /// Hosts for processes with some work each: by number of the process. `None` if rules keep
    /// blocks that share a process on different hosts, or no hosts are found.
    pub fn place(
        &self,
        pe_of: impl Fn(usize) -> u32,
        work: &BTreeMap<u32, f64>,
    ) -> Option<BTreeMap<u32, u32>> {
        // Processes that share a group share a host.
        let pes: Vec<u32> = work.keys().copied().collect();
        let number: HashMap<u32, usize> = pes.iter().copied().zip(0..).collect();
        let mut sets = crate::streams::DisjointSets::new(pes.len());
        let mut first_of_group: Vec<Option<usize>> = vec![None; self.groups.len()];
        for (block, &group) in self.group_of.iter().enumerate() {
            let pe = *number.get(&pe_of(block))?;
            sets.join(*first_of_group[group].get_or_insert(pe), pe);
        }
        let mut items: BTreeMap<usize, HostItem> = BTreeMap::new();
        for (group, first) in first_of_group.into_iter().enumerate() {
            let Some(pe) = first else { continue };
            let item = &self.groups[group];
            let joined = items.entry(sets.find(pe));
            joined
                .and_modify(|joined| joined.join(item))
                .or_insert_with(|| item.clone());
        }
        let ids: Vec<usize> = items.keys().copied().collect();
        let items: Vec<HostItem> = items.into_values().collect();
        let mut item_work = vec![0.0; items.len()];
        let mut item_of = vec![0; pes.len()];
        for (at, pe) in pes.iter().enumerate() {
            let item = ids.binary_search(&sets.find(at)).ok()?;
            item_of[at] = item;
            item_work[item] += work[pe];
        }
        let hosts = self.search(&items, &item_work).ok()?;
        let placed = pes.iter().zip(item_of);
        Some(placed.map(|(pe, item)| (*pe, hosts[item] as u32)).collect())
    }
}

/// A number for the rules of each group; groups that may share no host have one of their own.
fn classes(groups: &[HostItem]) -> Vec<usize> {
    let mut first_of: HashMap<SharedRules<'_>, usize> = HashMap::new();
    let mut classes = Vec::with_capacity(groups.len());
    for (at, item) in groups.iter().enumerate() {
        classes.push(match item.shared_rules() {
            Some(rules) => *first_of.entry(rules).or_insert(at),
            None => at,
        });
    }
    classes
}

/// The group of each block: blocks that have to be on one host, by whatever rule.
fn group_of_blocks(
    placements: &[OperatorPlacement<'_>],
    rules: &PlacementRules<'_>,
    pools: &[HostPool],
) -> Vec<usize> {
    let mut sets = rules.host_sets();
    // One place of a pool of tags is one host, whichever that is.
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (at, placement) in placements.iter().enumerate() {
        let Some(host) = placement.host else { continue };
        let is_place = pool_place(host.value).is_some_and(|(name, _)| {
            let mut named = pools.iter().filter(|pool| pool.is_named);
            !named.any(|pool| pool.name == name)
        });
        if is_place {
            let block = rules.block_of()[at];
            sets.join(*first.entry(host.value).or_insert(block), block);
        }
    }
    let mut group_of = vec![0; rules.block_count()];
    for (group, blocks) in sets.sets().into_iter().enumerate() {
        blocks.into_iter().for_each(|block| group_of[block] = group);
    }
    group_of
}

/// Pool and index of `host(Pool[3])`.
fn pool_place(value: &str) -> Option<(&str, usize)> {
    let inner = value.strip_prefix("host(")?.strip_suffix("])")?;
    let (name, index) = inner.split_once('[')?;
    (!name.starts_with('"')).then_some(())?;
    Some((name, index.parse().ok()?))
}

/// The hosts that a placement `host(...)` allows.
struct HostDomain<'a> {
    hosts: Vec<usize>,
    /// Index of the pool, if the placement names one.
    pool: Option<usize>,
    /// Name of the pool of tags whose places are different hosts.
    place_of: Option<&'a str>,
}

impl<'a> HostDomain<'a> {
    /// The hosts of a placement.
    ///
    /// # Errors
    /// A half-sentence: why there is no such host.
    fn new(
        value: &'a str,
        hosts: &[PlanHost<'_>],
        pools: &[HostPool],
    ) -> Result<HostDomain<'a>, String> {
        let mut domain = HostDomain {
            hosts: Vec::new(),
            pool: None,
            place_of: None,
        };
        if value.starts_with("host(\"") {
            let name = quoted_words(value).into_iter().next().unwrap_or_default();
            let number = hosts.iter().position(|host| host.name == name);
            let number = number.ok_or_else(|| format!("no host is called {name}"))?;
            domain.hosts.push(number);
            return Ok(domain);
        }
        let place = pool_place(value);
        let inner = value
            .strip_prefix("host(")
            .and_then(|rest| rest.strip_suffix(')'));
        let name = place.map_or(inner.unwrap_or_default(), |(name, _)| name);
        let found = pools.iter().position(|pool| pool.name == name);
        let number = found.ok_or_else(|| format!("there is no host pool `{name}`"))?;
        let pool = &pools[number];
        domain.pool = Some(number);
        domain.hosts = pool.hosts.iter().flatten().copied().collect();
        if let Some((name, index)) = place {
            let of_pool = match (pool.is_named, pool.size) {
                (true, _) => pool.hosts.len(),
                (false, size) => size.unwrap_or(usize::MAX),
            };
            if index >= of_pool {
                return Err(format!("the pool has {of_pool} hosts, counted from 0"));
            }
            match pool.is_named {
                true => domain.hosts = pool.hosts[index].into_iter().collect(),
                false => domain.place_of = Some(name),
            }
        }
        if domain.hosts.is_empty() {
            return Err(format!("no host belongs to the pool `{}`", pool.text));
        }
        if let Some(size) = pool.size.filter(|&size| size > pool.known()) {
            return Err(format!(
                "the pool `{}` needs {size} hosts, and {} belong to it",
                pool.text,
                pool.known()
            ));
        }
        Ok(domain)
    }

    /// Restricts a group to these hosts; `id` numbers the rule that places of a pool are apart.
    fn bind(self, item: &mut HostItem, id: impl FnOnce(&'a str) -> usize) {
        for (host, may) in item.may_have.iter_mut().enumerate() {
            *may &= self.hosts.contains(&host);
        }
        item.pools.extend(self.pool);
        if let Some(pool) = self.place_of {
            item.exlocations.insert(id(pool));
        }
    }
}
