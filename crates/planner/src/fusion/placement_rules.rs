//! The placements of a program as rules: operators that move as one, and processes that they may
//! share.

use std::collections::BTreeMap;

use graph::Program;

use super::colocated_block::{ColocatedBlock, HostConstraints};
use super::contradiction;
use super::placement::OperatorPlacement;
use super::whole_or_split::by_loop;
use crate::choice::PlanError;
use crate::streams::{DisjointSets, StreamConsumers};

/// Rules for the process of each block: a block is what placements and loops hold together.
pub(crate) struct PlacementRules<'a> {
    blocks: Vec<ColocatedBlock<'a>>,
    /// The block of each operator.
    block_of: Vec<usize>,
    /// Blocks that have to be on one host.
    on_host: DisjointSets,
    /// The constraints of each set of `on_host`, by its first block.
    hosts: Vec<HostConstraints<'a>>,
    /// Blocks with a rule of their own; all others may be anywhere.
    bound: Vec<usize>,
}

impl<'a> PlacementRules<'a> {
    /// The rules of a program.
    ///
    /// # Errors
    /// All placements that contradict each other.
    pub fn new(
        program: &'a Program,
        stream_consumers: &StreamConsumers,
    ) -> Result<PlacementRules<'a>, Vec<PlanError>> {
        let placements = OperatorPlacement::all(program);
        let together = contradiction::process_sets(&placements, by_loop(program, stream_consumers));
        let errors = contradiction::find(program, stream_consumers, &placements, &together);
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut on_host_operators = contradiction::host_sets(&placements, together.clone());
        let sets = together.sets();
        let mut block_of = vec![0; placements.len()];
        for (block, set) in sets.iter().enumerate() {
            set.iter().for_each(|&at| block_of[at] = block);
        }
        let mut on_host = DisjointSets::new(sets.len());
        for at in 0..placements.len() {
            let first = on_host_operators.find(at);
            on_host.join(block_of[first], block_of[at]);
        }
        let mut hosts = vec![HostConstraints::default(); sets.len()];
        for (at, placement) in placements.iter().enumerate() {
            let host = &mut hosts[on_host.find(block_of[at])];
            host.exlocations
                .extend(placement.host_exlocation.map(|one| one.value));
            host.hosts.extend(placement.host.map(|one| one.value));
        }
        let blocks: Vec<ColocatedBlock<'a>> = sets
            .into_iter()
            .map(|set| ColocatedBlock::new(set, &placements))
            .collect();
        let host_of: Vec<usize> = (0..blocks.len()).map(|block| on_host.find(block)).collect();
        let is_bound = |block: &usize| {
            let host = &hosts[host_of[*block]];
            blocks[*block].is_bound() || *host != HostConstraints::default()
        };
        Ok(PlacementRules {
            bound: (0..blocks.len()).filter(is_bound).collect(),
            blocks,
            block_of,
            on_host,
            hosts,
        })
    }

    /// The block of each operator, numbered in order of their first operators.
    pub fn block_of(&self) -> &[usize] {
        &self.block_of
    }

    /// Number of all blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Sets of blocks that have to be on one host.
    pub fn host_sets(&self) -> DisjointSets {
        self.on_host.clone()
    }

    /// Whether the program has no rules: every block may be in every process.
    pub fn are_free(&self) -> bool {
        self.bound.is_empty()
    }

    /// Whether blocks may be in these processes; `None` for a block that is in none yet.
    pub fn allow(&self, pe_of: impl Fn(usize) -> Option<u32>) -> bool {
        self.allow_processes(&pe_of) && self.allow_hosts(&pe_of)
    }

    fn allow_processes(&self, pe_of: &impl Fn(usize) -> Option<u32>) -> bool {
        let mut pes: BTreeMap<u32, ColocatedBlock<'a>> = BTreeMap::new();
        for &block in &self.bound {
            let Some(pe) = pe_of(block) else {
                continue;
            };
            let joined = pes.entry(pe).or_default();
            if !joined.operators.is_empty() && !self.blocks[block].fits(joined) {
                return false;
            }
            joined.absorb(self.blocks[block].clone());
        }
        // An isolated block shares with no free one either.
        let isolated = self
            .bound
            .iter()
            .filter(|&&block| self.blocks[block].is_isolated);
        let isolated: BTreeMap<u32, usize> = isolated
            .filter_map(|&block| Some((pe_of(block)?, block)))
            .collect();
        isolated.is_empty()
            || (0..self.blocks.len()).all(|block| {
                let alone = pe_of(block).and_then(|pe| isolated.get(&pe));
                alone.is_none_or(|alone| *alone == block)
            })
    }

    /// Whether hosts can be found: processes of one host have no names or exlocations that differ.
    fn allow_hosts(&self, pe_of: &impl Fn(usize) -> Option<u32>) -> bool {
        if self
            .hosts
            .iter()
            .all(|host| *host == HostConstraints::default())
        {
            return true;
        }
        let mut joined = self.on_host.clone();
        let mut hosts = self.hosts.clone();
        let mut first: BTreeMap<u32, usize> = BTreeMap::new();
        for block in 0..self.blocks.len() {
            let Some(pe) = pe_of(block) else {
                continue;
            };
            let (one, other) = (
                joined.find(*first.entry(pe).or_insert(block)),
                joined.find(block),
            );
            if one == other {
                continue;
            }
            if !hosts[one].fits(&hosts[other]) {
                return false;
            }
            joined.join(one, other);
            let (into, from) = (one.min(other), one.max(other));
            let from = std::mem::take(&mut hosts[from]);
            hosts[into].exlocations.extend(from.exlocations);
            hosts[into].hosts.extend(from.hosts);
        }
        true
    }
}
