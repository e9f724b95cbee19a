//! Processes as the program places its operators: no more than its placements ask for.
//!
//! Operators that have to be together (of one `partitionColocation`, or of one loop) are a *block*
//! and move as one. Blocks of different `partitionColocation` ids are kept apart: SPL lets them
//! share a process, but a program with two ids asks for two processes.
//!
//! Blocks that some placement keeps apart from others are placed first, in order of the program:
//! each goes to the process that it has most streams with among those that it may be in, and begins
//! a new process only if it may be in none. The other blocks then join the process that they have
//! most streams with, from the placed ones outwards; a program without placements gets one process.
//! No block joins an isolated operator.
//!
//! To choose the blocks that share a process is to colour a graph, and the least number of
//! processes is as hard to find as the least number of colours. So this takes the first process
//! that fits.
//!
//! # Cost
//! A walk over the edges, and for each set a look at each process.

use std::collections::{BTreeMap, BTreeSet};

use graph::{OperatorId, Program};

use super::colocated_block::{ColocatedBlock, HostConstraints};
use super::contradiction;
use super::placement::OperatorPlacement;
use super::whole_or_split::by_loop;
use crate::choice::PlanError;
use crate::streams::{DisjointSets, StreamConsumers};

/// The operators of each PE, by the placements of the program.
///
/// # Errors
/// All placements that contradict each other.
pub(crate) fn by_placement(
    program: &Program,
    stream_consumers: &StreamConsumers,
) -> Result<Vec<Vec<OperatorId>>, Vec<PlanError>> {
    let placements = OperatorPlacement::all(program);
    let together = contradiction::process_sets(&placements, by_loop(program, stream_consumers));
    let errors = contradiction::find(program, stream_consumers, &placements, &together);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut fusion = PlacementFusion::new(program, stream_consumers, &placements, together);
    fusion.place_constrained();
    fusion.place_unconstrained();
    Ok(fusion.pes())
}

struct PlacementFusion<'a> {
    blocks: Vec<ColocatedBlock<'a>>,
    /// The block of each operator.
    block_of: Vec<usize>,
    /// The blocks that each block has streams to or from, once for each stream.
    connected: Vec<Vec<usize>>,
    /// Sets of operators that are on one host.
    on_host: DisjointSets,
    /// The constraints of each set of `on_host`, by its first operator.
    hosts: Vec<HostConstraints<'a>>,
    pes: Vec<ColocatedBlock<'a>>,
    /// The PE of each block.
    pe_of: Vec<Option<usize>>,
}

impl<'a> PlacementFusion<'a> {
    fn new(
        program: &Program,
        stream_consumers: &StreamConsumers,
        placements: &[OperatorPlacement<'a>],
        together: DisjointSets,
    ) -> PlacementFusion<'a> {
        let mut on_host = contradiction::host_sets(placements, together.clone());
        let mut hosts = vec![HostConstraints::default(); placements.len()];
        for (at, placement) in placements.iter().enumerate() {
            let host = &mut hosts[on_host.find(at)];
            host.exlocations
                .extend(placement.host_exlocation.map(|constraint| constraint.value));
            host.hosts
                .extend(placement.host.map(|constraint| constraint.value));
        }
        let sets = together.sets();
        let mut block_of = vec![0; placements.len()];
        for (block, set) in sets.iter().enumerate() {
            set.iter().for_each(|&at| block_of[at] = block);
        }
        let mut neighbours = vec![Vec::new(); sets.len()];
        for at in 0..program.operators.len() {
            let streams = stream_consumers.streams_of(OperatorId(at as u32));
            for to in streams.flat_map(|stream| stream_consumers.consumers_of(stream)) {
                let (a, b) = (block_of[at], block_of[to.operator.0 as usize]);
                if a != b {
                    neighbours[a].push(b);
                    neighbours[b].push(a);
                }
            }
        }
        PlacementFusion {
            pe_of: vec![None; sets.len()],
            blocks: sets
                .into_iter()
                .map(|set| ColocatedBlock::new(set, placements))
                .collect(),
            block_of,
            connected: neighbours,
            on_host,
            hosts,
            pes: Vec::new(),
        }
    }

    /// Places the blocks that some placement keeps apart from others.
    fn place_constrained(&mut self) {
        for block in 0..self.blocks.len() {
            if self.blocks[block].is_constrained {
                self.place_block(block);
            }
        }
    }

    /// Places the other blocks: first those that have streams with placed ones.
    fn place_unconstrained(&mut self) {
        let is_open = |fusion: &PlacementFusion<'_>, block: usize| fusion.pe_of[block].is_none();
        let mut ready: BTreeSet<usize> = BTreeSet::new();
        for block in (0..self.blocks.len()).filter(|&block| !is_open(self, block)) {
            ready.extend(&self.connected[block]);
        }
        ready.retain(|&block| is_open(self, block));
        let mut next = 0;
        while next < self.blocks.len() {
            let block = match ready.pop_first() {
                Some(block) => block,
                None if is_open(self, next) => next,
                None => {
                    next += 1;
                    continue;
                }
            };
            self.place_block(block);
            let near = self.connected[block].iter().copied();
            ready.extend(near.filter(|&block| is_open(self, block)));
        }
    }

    /// Puts a block into the PE that it has most streams with, or into a new one.
    fn place_block(&mut self, block: usize) {
        let mut streams: BTreeMap<usize, usize> = BTreeMap::new();
        for &near in &self.connected[block] {
            if let Some(pe) = self.pe_of[near] {
                *streams.entry(pe).or_default() += 1;
            }
        }
        let mut best: Option<(usize, usize)> = None;
        for pe in 0..self.pes.len() {
            let count = streams.get(&pe).copied().unwrap_or_default();
            let is_better = best.is_none_or(|(most, _)| count > most);
            if is_better && self.fits(block, pe) {
                best = Some((count, pe));
            }
        }
        let pe = match best {
            Some((_, pe)) => pe,
            None => {
                self.pes.push(ColocatedBlock::default());
                self.pes.len() - 1
            }
        };
        self.join_host(block, pe);
        let joined = self.blocks[block].clone();
        self.pes[pe].absorb(joined);
        self.pe_of[block] = Some(pe);
    }

    fn fits(&mut self, block: usize, pe: usize) -> bool {
        let (one, other) = (self.blocks[block].operators[0], self.pes[pe].operators[0]);
        let (one, other) = (self.on_host.find(one), self.on_host.find(other));
        let are_near = one == other || self.hosts[one].fits(&self.hosts[other]);
        are_near && self.blocks[block].fits(&self.pes[pe])
    }

    /// Puts a block onto the host of a PE that it joins.
    fn join_host(&mut self, block: usize, pe: usize) {
        let Some(&other) = self.pes[pe].operators.first() else {
            return;
        };
        let one = self.on_host.find(self.blocks[block].operators[0]);
        let other = self.on_host.find(other);
        if one == other {
            return;
        }
        self.on_host.join(one, other);
        let (into, from) = (one.min(other), one.max(other));
        let from = std::mem::take(&mut self.hosts[from]);
        self.hosts[into].exlocations.extend(from.exlocations);
        self.hosts[into].hosts.extend(from.hosts);
    }

    /// The operators of each PE; PEs are in order of their first operators.
    fn pes(&self) -> Vec<Vec<OperatorId>> {
        let mut pes = vec![Vec::new(); self.pes.len()];
        let mut number = vec![None; self.pes.len()];
        let mut count = 0;
        for (at, &block) in self.block_of.iter().enumerate() {
            if let Some(pe) = self.pe_of[block] {
                let number = *number[pe].get_or_insert_with(|| {
                    count += 1;
                    count - 1
                });
                pes[number].push(OperatorId(at as u32));
            }
        }
        pes
    }
}
