//! The graph that is partitioned: blocks with their work, and the costs of streams that are cut.

use std::collections::BTreeMap;

use crate::cost_model::LoadGraph;

/// Blocks, and costs between them in nanoseconds for one tuple of the sources.
#[derive(Clone, Debug, Default)]
pub struct PartitionGraph {
    /// Work of each block. Blocks are in order of their first units, so upstream comes first.
    pub work_ns: Vec<f64>,
    /// The blocks that each block has streams with, in order.
    pub edges: Vec<Vec<PartitionEdge>>,
}

/// All streams between two blocks, seen from one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartitionEdge {
    /// Block at the other end.
    pub to: usize,
    /// Nanoseconds of this block if the streams are cut.
    pub own_ns: f64,
    /// Nanoseconds of the other block if the streams are cut.
    pub other_ns: f64,
}

impl PartitionEdge {
    /// Nanoseconds of both blocks.
    pub fn cut_ns(&self) -> f64 {
        self.own_ns + self.other_ns
    }
}

impl PartitionGraph {
    /// The graph of a program's blocks: `block_of` has the block of each unit.
    pub fn new(graph: &LoadGraph, block_of: &[usize], blocks: usize) -> PartitionGraph {
        let mut work_ns = vec![0.0; blocks];
        let mut costs: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for (at, unit) in graph.units.iter().enumerate() {
            work_ns[block_of[at]] += unit.work_ns;
            for input in &unit.inputs {
                let (from, to) = (block_of[input.from], block_of[at]);
                if from == to {
                    continue;
                }
                let tuples = graph.streams[input.stream].tuples;
                let (ring, within) = (
                    graph.costs.ring[input.stream],
                    graph.costs.within[input.stream],
                );
                let send = tuples * ring.send_ns.min(within.send_ns);
                let receive = tuples * ring.receive_ns.min(within.receive_ns);
                add_cost(&mut costs, (from, to), (send, receive));
            }
        }
        PartitionGraph::from_costs(work_ns, costs)
    }

    fn from_costs(
        work_ns: Vec<f64>,
        costs: BTreeMap<(usize, usize), (f64, f64)>,
    ) -> PartitionGraph {
        let mut edges = vec![Vec::new(); work_ns.len()];
        for ((one, other), (own_ns, other_ns)) in costs {
            edges[one].push(PartitionEdge {
                to: other,
                own_ns,
                other_ns,
            });
            edges[other].push(PartitionEdge {
                to: one,
                own_ns: other_ns,
                other_ns: own_ns,
            });
        }
        PartitionGraph { work_ns, edges }
    }

    /// Number of blocks in the graph.
    pub fn len(&self) -> usize {
        self.work_ns.len()
    }

    /// Work of each part, with the costs of the streams that are cut.
    pub fn part_ns(&self, part_of: &[usize], parts: usize) -> Vec<f64> {
        let mut loads = vec![0.0; parts];
        for (block, edges) in self.edges.iter().enumerate() {
            let cut = edges
                .iter()
                .filter(|edge| part_of[edge.to] != part_of[block]);
            let cut_ns: f64 = cut.map(|edge| edge.own_ns).sum();
            loads[part_of[block]] += self.work_ns[block] + cut_ns;
        }
        loads
    }

    /// Joins blocks two by two by their heaviest edges, none beyond `work_ns_max`. Returns the
    /// coarser graph and the block there of each block here.
    pub fn coarsened(&self, work_ns_max: f64) -> (PartitionGraph, Vec<usize>) {
        let mut mate: Vec<Option<usize>> = vec![None; self.len()];
        for block in 0..self.len() {
            if mate[block].is_some() {
                continue;
            }
            let free = self.edges[block].iter().filter(|edge| {
                let work_ns = self.work_ns[block] + self.work_ns[edge.to];
                mate[edge.to].is_none() && work_ns <= work_ns_max
            });
            let heaviest = free.max_by(|a, b| {
                let by_cost = a.cut_ns().total_cmp(&b.cut_ns());
                by_cost.then(b.to.cmp(&a.to))
            });
            if let Some(edge) = heaviest {
                mate[block] = Some(edge.to);
                mate[edge.to] = Some(block);
            }
        }
        let mut coarse_of = vec![usize::MAX; self.len()];
        let mut work_ns: Vec<f64> = Vec::new();
        for block in 0..self.len() {
            let known = mate[block].map(|mate| coarse_of[mate]);
            coarse_of[block] = known.filter(|at| *at != usize::MAX).unwrap_or_else(|| {
                work_ns.push(0.0);
                work_ns.len() - 1
            });
            work_ns[coarse_of[block]] += self.work_ns[block];
        }
        let mut costs = BTreeMap::new();
        for (block, edges) in self.edges.iter().enumerate() {
            for edge in edges.iter().filter(|edge| edge.to > block) {
                let (one, other) = (coarse_of[block], coarse_of[edge.to]);
                if one != other {
                    add_cost(&mut costs, (one, other), (edge.own_ns, edge.other_ns));
                }
            }
        }
        (PartitionGraph::from_costs(work_ns, costs), coarse_of)
    }
}

/// Adds the costs of both sides of an edge under the pair in order.
fn add_cost(
    costs: &mut BTreeMap<(usize, usize), (f64, f64)>,
    (from, to): (usize, usize),
    (from_ns, to_ns): (f64, f64),
) {
    let (key, (own_ns, other_ns)) = match from < to {
        true => ((from, to), (from_ns, to_ns)),
        false => ((to, from), (to_ns, from_ns)),
    };
    let sum = costs.entry(key).or_default();
    sum.0 += own_ns;
    sum.1 += other_ns;
}
