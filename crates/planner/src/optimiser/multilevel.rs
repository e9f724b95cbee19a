//! Multilevel partitioning of a program's blocks into parts for a number of threads.
//!
//! ```text
//!   blocks --coarsened by heaviest edges--> about a hundred --bisected by turns--> parts
//!          <--refined on each level-----------------------------------------------
//! ```
//! The aim is the least load of the busiest part, not balance.

use super::bisection::bisect;
use super::partition_graph::PartitionGraph;

/// Number of blocks at which coarsening ends for each part that is asked for.
const COARSE_BLOCKS: usize = 24;

/// Passes of refinement on each level at most.
const PASSES_MAX: usize = 8;

/// The part of each block, of `parts` parts at most; some may be empty.
pub fn partition(graph: &PartitionGraph, parts: usize) -> Vec<usize> {
    let parts = parts.clamp(1, graph.len().max(1));
    let work_ns: f64 = graph.work_ns.iter().sum();
    let mut levels: Vec<(PartitionGraph, Vec<usize>)> = Vec::new();
    let mut coarse = graph.clone();
    while coarse.len() > (COARSE_BLOCKS * parts).max(64) {
        let (coarser, coarse_of) = coarse.coarsened(work_ns / (4 * parts) as f64);
        // Edges may be too few or blocks too heavy to get on.
        if coarser.len() * 10 > coarse.len() * 9 {
            break;
        }
        levels.push((std::mem::replace(&mut coarse, coarser), coarse_of));
    }
    let mut part_of = vec![0; coarse.len()];
    let all: Vec<usize> = (0..coarse.len()).collect();
    divide(&coarse, &all, (0, parts), &mut part_of);
    refine(&coarse, &mut part_of, parts);
    for (graph, coarse_of) in levels.into_iter().rev() {
        part_of = coarse_of.iter().map(|&at| part_of[at]).collect();
        refine(&graph, &mut part_of, parts);
    }
    part_of
}

/// Divides some blocks among `parts` parts from a first one on.
fn divide(
    graph: &PartitionGraph,
    blocks: &[usize],
    (first, parts): (usize, usize),
    part_of: &mut [usize],
) {
    if parts == 1 || blocks.len() < 2 {
        blocks.iter().for_each(|&block| part_of[block] = first);
        return;
    }
    let half = parts.div_ceil(2);
    let sides = bisect(&induced(graph, blocks), half, parts - half);
    let side = |is_second: bool| -> Vec<usize> {
        let on_side = blocks
            .iter()
            .zip(&sides)
            .filter(|(_, side)| **side == is_second);
        on_side.map(|(block, _)| *block).collect()
    };
    divide(graph, &side(false), (first, half), part_of);
    divide(graph, &side(true), (first + half, parts - half), part_of);
}

/// The graph of some of the blocks. Streams to others are cut already, and cost their block.
fn induced(graph: &PartitionGraph, blocks: &[usize]) -> PartitionGraph {
    let mut number = vec![None; graph.len()];
    blocks
        .iter()
        .enumerate()
        .for_each(|(at, &block)| number[block] = Some(at));
    let mut induced = PartitionGraph::default();
    for &block in blocks {
        let mut work_ns = graph.work_ns[block];
        let mut edges = Vec::new();
        for edge in &graph.edges[block] {
            match number[edge.to] {
                Some(to) => edges.push(super::partition_graph::PartitionEdge { to, ..*edge }),
                None => work_ns += edge.own_ns,
            }
        }
        induced.work_ns.push(work_ns);
        induced.edges.push(edges);
    }
    induced
}

/// A move of a block to another part.
struct BorderMove {
    to: usize,
    /// Parts whose loads change, with the nanoseconds that each gets more.
    changes: Vec<(usize, f64)>,
    score: f64,
}

/// Moves blocks at the borders of parts while that lowers the busier of the two parts, or saves
/// costs without loading any part beyond the busiest.
fn refine(graph: &PartitionGraph, part_of: &mut [usize], parts: usize) {
    let mut loads = graph.part_ns(part_of, parts);
    for _ in 0..PASSES_MAX {
        let busiest = loads.iter().copied().fold(0.0, f64::max);
        let mut is_changed = false;
        for block in 0..graph.len() {
            let from = part_of[block];
            let mut near: Vec<usize> = graph.edges[block]
                .iter()
                .map(|edge| part_of[edge.to])
                .collect();
            near.sort_unstable();
            near.dedup();
            let mut best: Option<BorderMove> = None;
            for to in near.into_iter().filter(|&to| to != from) {
                let changes = changes_of_move(graph, part_of, block, to);
                let after = |part: usize| {
                    let own = changes.iter().filter(|(at, _)| *at == part);
                    loads[part] + own.map(|(_, ns)| ns).sum::<f64>()
                };
                let busier = after(from).max(after(to));
                let gain = loads[from].max(loads[to]) - busier;
                let saved: f64 = -changes.iter().map(|(_, ns)| ns).sum::<f64>();
                let floor = busiest * 1e-9;
                let is_better = gain > floor || saved > floor && busier <= busiest;
                let score = gain.max(0.0) + saved;
                if is_better && best.as_ref().is_none_or(|most| score > most.score) {
                    best = Some(BorderMove { to, changes, score });
                }
            }
            if let Some(BorderMove { to, changes, .. }) = best {
                changes.iter().for_each(|(part, ns)| loads[*part] += ns);
                part_of[block] = to;
                is_changed = true;
            }
        }
        if !is_changed {
            break;
        }
    }
}

/// Changes of the loads of parts if a block moves.
fn changes_of_move(
    graph: &PartitionGraph,
    part_of: &[usize],
    block: usize,
    to: usize,
) -> Vec<(usize, f64)> {
    let from = part_of[block];
    let mut changes = vec![(from, -graph.work_ns[block]), (to, graph.work_ns[block])];
    for edge in &graph.edges[block] {
        let other = part_of[edge.to];
        if other != from {
            changes.push((from, -edge.own_ns));
            changes.push((other, -edge.other_ns));
        }
        if other != to {
            changes.push((to, edge.own_ns));
            changes.push((other, edge.other_ns));
        }
    }
    changes
}
