//! Operators that get one host together, and what keeps them off the hosts of others.

use std::collections::BTreeSet;

/// A group of operators that share a host, or several groups that a process joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostItem {
    /// Whether each host may be the item's.
    pub may_have: Vec<bool>,
    /// Ids of the rule that no two items with one id share a host.
    pub exlocations: BTreeSet<usize>,
    /// Whether no other item may be on the item's host.
    pub is_isolated: bool,
    /// The pools that the item's operators are placed in.
    pub pools: BTreeSet<usize>,
    /// Exclusive pools that some of the item's operators are not placed in.
    pub outside: BTreeSet<usize>,
    /// Whether groups of the item contradict each other, so that no host can have them.
    pub is_torn: bool,
}

/// Hosts, pools and exclusive pools of others, of an item that may share its host.
pub(super) type SharedRules<'a> = (&'a [bool], &'a BTreeSet<usize>, &'a BTreeSet<usize>);

impl HostItem {
    /// An item that may have every host, where some pools are exclusive.
    pub fn free(hosts: usize, exclusive: &BTreeSet<usize>) -> HostItem {
        HostItem {
            may_have: vec![true; hosts],
            exlocations: BTreeSet::new(),
            is_isolated: false,
            pools: BTreeSet::new(),
            outside: exclusive.clone(),
            is_torn: false,
        }
    }

    /// The rules of an item that may share its host with others of the same rules; `None` if it may
    /// not.
    pub fn shared_rules(&self) -> Option<SharedRules<'_>> {
        let may_share = !self.is_isolated && !self.is_torn && self.exlocations.is_empty();
        may_share.then_some((&self.may_have, &self.pools, &self.outside))
    }

    /// Whether any rule says where the item may be.
    pub fn is_bound(&self) -> bool {
        self.is_isolated
            || self.is_torn
            || !self.exlocations.is_empty()
            || !self.pools.is_empty()
            || self.may_have.contains(&false)
    }

    /// Whether two items have to be on different hosts.
    pub fn is_apart(&self, other: &HostItem) -> bool {
        self.is_isolated
            || other.is_isolated
            || !self.exlocations.is_disjoint(&other.exlocations)
            || !self.pools.is_disjoint(&other.outside)
            || !self.outside.is_disjoint(&other.pools)
    }

    /// Adds another item, which shares a process with this one.
    pub fn join(&mut self, other: &HostItem) {
        self.is_torn |= other.is_torn || self.is_apart(other);
        for (own, its) in self.may_have.iter_mut().zip(&other.may_have) {
            *own &= its;
        }
        self.exlocations.extend(&other.exlocations);
        self.is_isolated |= other.is_isolated;
        self.pools.extend(&other.pools);
        self.outside.extend(&other.outside);
    }
}
