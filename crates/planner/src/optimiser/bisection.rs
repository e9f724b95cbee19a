//! Bisection of a graph with refinement after Fiduccia and Mattheyses ("A linear-time heuristic for
//! improving network partitions", DAC 1982).
//!
//! A pass moves each block at most once, each time the one that saves most of the costs of cut
//! streams, also if it saves nothing, as long as no side grows beyond its capacity; the best state
//! on the way stays. Passes end when one has found nothing better. The best state is that with the
//! least load of the busier side, for its share of the threads.

use super::partition_graph::PartitionGraph;

/// Capacity of a side, as a multiple of the busier side at the start of a pass.
const CAPACITY: f64 = 1.1;

/// Passes of refinement at most; more than a few seldom find anything.
const PASSES_MAX: usize = 8;

/// Cuts a graph in two, for `first` and `second` threads. Returns whether each block is on the
/// second side.
pub fn bisect(graph: &PartitionGraph, first: usize, second: usize) -> Vec<bool> {
    let shares = [first as f64, second as f64];
    let by_order = best_prefix(graph, shares, (0..graph.len()).collect());
    let by_growth = best_prefix(graph, shares, growth_order(graph));
    let refined = [by_order, by_growth].map(|sides| refine(graph, sides, shares));
    let [one, other] = refined;
    match bisection_ns(graph, &other, shares) < bisection_ns(graph, &one, shares) {
        true => other,
        false => one,
    }
}

/// Load of the busier side for its share, and costs of all streams that are cut.
fn bisection_ns(graph: &PartitionGraph, sides: &[bool], shares: [f64; 2]) -> f64 {
    let part_of: Vec<usize> = sides.iter().map(|side| usize::from(*side)).collect();
    let loads = graph.part_ns(&part_of, 2);
    (loads[0] / shares[0]).max(loads[1] / shares[1])
}

/// Blocks in the order in which a set that begins at the last block grows along its streams.
fn growth_order(graph: &PartitionGraph) -> Vec<usize> {
    let mut gains = vec![0.0_f64; graph.len()];
    let mut is_taken = vec![false; graph.len()];
    let mut order = Vec::with_capacity(graph.len());
    while order.len() < graph.len() {
        let free = (0..graph.len()).filter(|&block| !is_taken[block]);
        let by_gain = |a: &usize, b: &usize| gains[*a].total_cmp(&gains[*b]).then(a.cmp(b));
        let Some(next) = free.max_by(by_gain) else {
            break;
        };
        is_taken[next] = true;
        order.push(next);
        for edge in &graph.edges[next] {
            gains[edge.to] += edge.cut_ns();
        }
    }
    order
}

/// The cut of an order into a first and a second side that loads the busier side least.
fn best_prefix(graph: &PartitionGraph, shares: [f64; 2], order: Vec<usize>) -> Vec<bool> {
    let mut state = BisectionState::new(graph, vec![true; graph.len()]);
    let mut best = (state.busier_ns(shares), 0);
    for (at, &block) in order.iter().enumerate() {
        state.flip(block);
        let load = state.busier_ns(shares);
        if load < best.0 {
            best = (load, at + 1);
        }
    }
    let mut sides = vec![true; graph.len()];
    order[..best.1]
        .iter()
        .for_each(|&block| sides[block] = false);
    sides
}

/// The sides of all blocks, with the load of each side kept up to date.
struct BisectionState<'g> {
    graph: &'g PartitionGraph,
    sides: Vec<bool>,
    loads: [f64; 2],
}

impl<'g> BisectionState<'g> {
    fn new(graph: &'g PartitionGraph, sides: Vec<bool>) -> BisectionState<'g> {
        let part_of: Vec<usize> = sides.iter().map(|side| usize::from(*side)).collect();
        let loads = graph.part_ns(&part_of, 2);
        BisectionState {
            graph,
            sides,
            loads: [loads[0], loads[1]],
        }
    }

    fn busier_ns(&self, shares: [f64; 2]) -> f64 {
        (self.loads[0] / shares[0]).max(self.loads[1] / shares[1])
    }

    /// Loads of both sides after a block has changed its side.
    fn loads_after(&self, block: usize) -> [f64; 2] {
        let (from, to) = (
            usize::from(self.sides[block]),
            usize::from(!self.sides[block]),
        );
        let mut loads = self.loads;
        loads[from] -= self.graph.work_ns[block];
        loads[to] += self.graph.work_ns[block];
        for edge in &self.graph.edges[block] {
            match self.sides[edge.to] == self.sides[block] {
                // The streams are cut from now on.
                true => {
                    loads[to] += edge.own_ns;
                    loads[from] += edge.other_ns;
                }
                false => {
                    loads[from] -= edge.own_ns;
                    loads[to] -= edge.other_ns;
                }
            }
        }
        loads
    }

    fn flip(&mut self, block: usize) {
        self.loads = self.loads_after(block);
        self.sides[block] = !self.sides[block];
    }
}

/// Costs of cut streams that a move of each block saves.
fn gains(graph: &PartitionGraph, sides: &[bool]) -> Vec<f64> {
    let gain = |(block, edges): (usize, &Vec<super::partition_graph::PartitionEdge>)| {
        let saved = edges
            .iter()
            .map(|edge| match sides[edge.to] == sides[block] {
                true => -edge.cut_ns(),
                false => edge.cut_ns(),
            });
        saved.sum()
    };
    graph.edges.iter().enumerate().map(gain).collect()
}

fn refine(graph: &PartitionGraph, mut sides: Vec<bool>, shares: [f64; 2]) -> Vec<bool> {
    for _ in 0..PASSES_MAX {
        let mut state = BisectionState::new(graph, sides.clone());
        let start = state.busier_ns(shares);
        let capacity = start * CAPACITY;
        let mut gains = gains(graph, &sides);
        let mut is_locked = vec![false; graph.len()];
        let mut moved = Vec::new();
        let mut best = (start, 0);
        loop {
            let free = (0..graph.len()).filter(|&block| !is_locked[block]);
            let fitting = free.filter(|&block| {
                let loads = state.loads_after(block);
                (loads[0] / shares[0]).max(loads[1] / shares[1]) <= capacity
            });
            let by_gain = |a: &usize, b: &usize| gains[*a].total_cmp(&gains[*b]).then(b.cmp(a));
            let Some(block) = fitting.max_by(by_gain) else {
                break;
            };
            for edge in &graph.edges[block] {
                let sign = match state.sides[edge.to] == state.sides[block] {
                    true => 2.0,
                    false => -2.0,
                };
                gains[edge.to] += sign * edge.cut_ns();
            }
            state.flip(block);
            is_locked[block] = true;
            moved.push(block);
            let load = state.busier_ns(shares);
            if load < best.0 {
                best = (load, moved.len());
            }
        }
        if best.1 == 0 {
            break;
        }
        moved[..best.1]
            .iter()
            .for_each(|&block| sides[block] = !sides[block]);
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::bisect;
    use crate::optimiser::partition_graph::{PartitionEdge, PartitionGraph};

    /// A chain of blocks with so much work, whose cuts cost 1 ns on each side.
    fn chain(work_ns: &[f64]) -> PartitionGraph {
        let edge = |to| PartitionEdge {
            to,
            own_ns: 1.0,
            other_ns: 1.0,
        };
        let edges = (0..work_ns.len()).map(|at| {
            let before = at.checked_sub(1).map(edge);
            let after = Some(at + 1).filter(|to| *to < work_ns.len()).map(edge);
            before.into_iter().chain(after).collect()
        });
        PartitionGraph {
            work_ns: work_ns.to_vec(),
            edges: edges.collect(),
        }
    }

    #[test]
    fn a_chain_is_cut_once_in_its_middle() {
        let sides = bisect(&chain(&[4.0, 4.0, 4.0, 4.0]), 1, 1);
        assert_eq!(sides, [false, false, true, true]);
        // A third of the threads gets a third of the work.
        let sides = bisect(&chain(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0]), 1, 2);
        assert_eq!(sides, [false, false, true, true, true, true]);
    }

    #[test]
    fn nothing_is_cut_that_costs_more_than_it_saves() {
        let mut graph = chain(&[1.0, 1.0]);
        graph.edges[0][0].own_ns = 5.0;
        graph.edges[1][0].own_ns = 5.0;
        let sides = bisect(&graph, 1, 1);
        assert_eq!(sides[0], sides[1]);
    }
}
