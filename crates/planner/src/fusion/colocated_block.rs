//! Operators that have to be together, and whether two groups of them may be.

use std::collections::BTreeSet;

use super::placement::{OperatorPlacement, PlacementValue, are_different_hosts};

/// Operators that are together, with the constraints that keep them apart from others.
#[derive(Clone, Default)]
pub(super) struct ColocatedBlock<'a> {
    pub operators: Vec<usize>,
    pub exlocations: BTreeSet<&'a str>,
    pub is_isolated: bool,
    /// Whether the block holds all operators of some `partitionColocation`.
    pub is_colocated: bool,
    pub is_constrained: bool,
    pub restartable: Option<&'a str>,
    pub relocatable: Option<&'a str>,
}

/// The constraints of operators on one host that concern other hosts.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct HostConstraints<'a> {
    pub exlocations: BTreeSet<&'a str>,
    pub hosts: BTreeSet<&'a str>,
}

impl<'a> ColocatedBlock<'a> {
    pub fn new(operators: Vec<usize>, placements: &[OperatorPlacement<'a>]) -> ColocatedBlock<'a> {
        let mut block = ColocatedBlock::default();
        for placement in operators.iter().map(|&at| &placements[at]) {
            block
                .exlocations
                .extend(placement.exlocation.map(|constraint| constraint.value));
            block.is_isolated |= placement.isolation.is_some();
            block.is_colocated |= placement.colocation.is_some();
            block.is_constrained |= placement.is_constrained();
            let value = |constraint: PlacementValue<'a>| constraint.value;
            block.restartable = block.restartable.or(placement.restartable.map(value));
            block.relocatable = block.relocatable.or(placement.relocatable.map(value));
        }
        block.operators = operators;
        block
    }

    /// Whether some rule says which blocks it may share a process with.
    pub fn is_bound(&self) -> bool {
        self.is_constrained
            || self.is_colocated
            || self.restartable.is_some()
            || self.relocatable.is_some()
    }

    /// Whether two blocks may share a process.
    pub fn fits(&self, other: &ColocatedBlock<'_>) -> bool {
        let agree = |one: Option<&str>, other: Option<&str>| {
            one.zip(other).is_none_or(|(one, other)| one == other)
        };
        let is_one_id = !self.is_colocated || !other.is_colocated;
        !self.is_isolated
            && !other.is_isolated
            && is_one_id
            && self.exlocations.is_disjoint(&other.exlocations)
            && agree(self.restartable, other.restartable)
            && agree(self.relocatable, other.relocatable)
    }

    pub fn absorb(&mut self, other: ColocatedBlock<'a>) {
        self.operators.extend(other.operators);
        self.exlocations.extend(other.exlocations);
        self.is_isolated |= other.is_isolated;
        self.is_colocated |= other.is_colocated;
        self.restartable = self.restartable.or(other.restartable);
        self.relocatable = self.relocatable.or(other.relocatable);
    }
}

impl HostConstraints<'_> {
    /// Whether two sets of operators may be on one host.
    pub fn fits(&self, other: &HostConstraints<'_>) -> bool {
        let mut hosts = self.hosts.iter();
        let are_apart =
            hosts.any(|one| other.hosts.iter().any(|two| are_different_hosts(one, two)));
        !are_apart && self.exlocations.is_disjoint(&other.exlocations)
    }
}
