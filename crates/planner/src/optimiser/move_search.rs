//! Local search on the cost model itself: moves that change the process of a block, or a queue.
//!
//! ```text
//!   block to a neighbour's process, or to one of its own     queue added or removed
//!   process joined with a neighbour                          thread made a process
//! ```
//! Small programs are searched in passes after Fiduccia and Mattheyses: the best move is made, also
//! if it makes the plan worse, nothing is moved twice, and the best plan on the way stays. So a
//! chain can be cut in its middle, though each single move there is a step back. In large programs
//! only moves near the bottleneck are tried, and only better ones made.
//!
//! # Cost
//! Bounded by a number of visited edges, not by time: the same inputs give the same plan.

use std::collections::BTreeSet;

use super::plan_problem::PlanProblem;
use super::plan_score::PlanScore;
use crate::cost_model::{PlanSketch, ThreadLoads, ThreadShares};

/// Units up to which a program is searched in passes.
pub const SMALL_UNITS: usize = 64;

/// Steps in a pass without a better plan after which it ends.
const STEPS_BACK_MAX: usize = 6;

/// Places in the busiest thread of a large program at which a cut is tried.
const CUTS_TRIED: usize = 24;

/// A change of a plan's choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlanMove {
    /// Puts a block into a process.
    Block(usize, u32),
    /// Adds or removes the queue of a port.
    Queue(usize),
    /// Puts all of one process into another.
    Join(u32, u32),
    /// Gives the units that a thread alone runs a process of their own.
    Thread(usize),
}

/// A search over the choices of one problem.
pub struct MoveSearch<'p, 'a> {
    problem: &'p PlanProblem<'a>,
    /// Edges that may still be visited.
    pub edges_left: u64,
}

impl<'p, 'a> MoveSearch<'p, 'a> {
    /// A search that visits at most `edges` edges.
    pub fn new(problem: &'p PlanProblem<'a>, edges: u64) -> MoveSearch<'p, 'a> {
        MoveSearch {
            problem,
            edges_left: edges,
        }
    }

    /// The best choices that moves lead to from some allowed ones.
    pub fn improve(&mut self, start: PlanSketch) -> (PlanSketch, PlanScore) {
        let mut best = (start.clone(), self.problem.score(&start));
        loop {
            let is_small = self.problem.model.graph.units.len() <= SMALL_UNITS;
            let better = match is_small {
                true => self.pass(&best),
                false => self.step(&best),
            };
            match better {
                Some(better) if better.1.is_better(&best.1) => best = better,
                _ => return best,
            }
        }
    }

    /// One pass: the best choices on its way, if any are better.
    fn pass(&mut self, start: &(PlanSketch, PlanScore)) -> Option<(PlanSketch, PlanScore)> {
        let mut current = start.0.clone();
        let mut best: Option<(PlanSketch, PlanScore)> = None;
        let mut locked: BTreeSet<(bool, usize)> = BTreeSet::new();
        let mut back = 0;
        while back < STEPS_BACK_MAX {
            let moves = self.all_moves(&current);
            let free = moves.into_iter().filter(|one| match one {
                PlanMove::Block(block, _) => !locked.contains(&(false, *block)),
                PlanMove::Queue(port) => !locked.contains(&(true, *port)),
                PlanMove::Join(..) | PlanMove::Thread(_) => true,
            });
            let Some((made, next, score)) = self.best_of(&current, free.collect()) else {
                break;
            };
            match made {
                PlanMove::Block(block, _) => drop(locked.insert((false, block))),
                PlanMove::Queue(port) => drop(locked.insert((true, port))),
                // Such a move has no lock of its own, so a step back with it may go round.
                PlanMove::Join(..) | PlanMove::Thread(_) => back += 1,
            }
            current = next;
            let least = best.as_ref().map_or(&start.1, |(_, score)| score);
            match score.is_better(least) {
                true => {
                    best = Some((current.clone(), score));
                    back = 0;
                }
                false => back += 1,
            }
        }
        best
    }

    /// The best of the moves near the bottleneck, if one makes the plan better.
    fn step(&mut self, start: &(PlanSketch, PlanScore)) -> Option<(PlanSketch, PlanScore)> {
        let moves = self.moves_at_bottleneck(&start.0);
        let (_, next, score) = self.best_of(&start.0, moves)?;
        score.is_better(&start.1).then_some((next, score))
    }

    /// The move with the best score, the choices that it leads to, and the score.
    fn best_of(
        &mut self,
        from: &PlanSketch,
        moves: Vec<PlanMove>,
    ) -> Option<(PlanMove, PlanSketch, PlanScore)> {
        let mut best: Option<(PlanMove, PlanSketch, PlanScore)> = None;
        for one in moves {
            if self.edges_left == 0 {
                break;
            }
            self.edges_left = self.edges_left.saturating_sub(self.problem.score_edges());
            let Some(next) = self.after(from, one) else {
                continue;
            };
            let score = self.problem.score(&next);
            if best
                .as_ref()
                .is_none_or(|(.., least)| score.is_better(least))
            {
                best = Some((one, next, score));
            }
        }
        best
    }

    /// Every move from some choices.
    fn all_moves(&self, from: &PlanSketch) -> Vec<PlanMove> {
        let problem = self.problem;
        let new = new_pe(from);
        let mut moves = Vec::new();
        for block in 0..problem.units_of.len() {
            let pe = |block: usize| from.pe_of[problem.units_of[block][0]];
            let near = problem.near[block].iter().map(|&near| pe(near));
            let mut pes: BTreeSet<u32> = near.chain([new]).collect();
            pes.remove(&pe(block));
            moves.extend(pes.into_iter().map(|pe| PlanMove::Block(block, pe)));
        }
        for (port, of) in problem.model.graph.ports.iter().enumerate() {
            if of.may_be_queued && !of.is_always_queued {
                moves.push(PlanMove::Queue(port));
            }
        }
        moves.extend(self.joins(from));
        let graph = &problem.model.graph;
        let loads = ThreadLoads::new(graph, &graph.costs, from, graph.units.len());
        moves.extend((0..loads.threads.len()).map(PlanMove::Thread));
        moves
    }

    /// Moves that join two processes with streams between them.
    fn joins(&self, from: &PlanSketch) -> Vec<PlanMove> {
        let mut pairs: BTreeSet<(u32, u32)> = BTreeSet::new();
        for (at, unit) in self.problem.model.graph.units.iter().enumerate() {
            for input in &unit.inputs {
                let (one, other) = (from.pe_of[input.from], from.pe_of[at]);
                if one != other {
                    pairs.insert((one.min(other), one.max(other)));
                }
            }
        }
        pairs
            .into_iter()
            .map(|(one, other)| PlanMove::Join(other, one))
            .collect()
    }

    /// Moves that change the busiest thread: cuts at even parts of its work, and its borders.
    fn moves_at_bottleneck(&self, from: &PlanSketch) -> Vec<PlanMove> {
        let graph = &self.problem.model.graph;
        let loads = ThreadLoads::new(graph, &graph.costs, from, graph.units.len());
        let threads = loads.threads.iter().enumerate();
        let busiest = threads.max_by(|(_, a), (_, b)| a.ns.total_cmp(&b.ns));
        let Some((thread, _)) = busiest else {
            return Vec::new();
        };
        let own: Vec<usize> = (0..graph.units.len())
            .filter(|&unit| loads.shares[unit] == ThreadShares::One(thread))
            .collect();
        let mut units: BTreeSet<usize> = BTreeSet::new();
        let stride = own.len().div_ceil(CUTS_TRIED).max(1);
        units.extend(own.iter().step_by(stride));
        let is_border = |unit: &usize| {
            let mut inputs = graph.units[*unit].inputs.iter();
            inputs.any(|input| loads.shares[input.from] != loads.shares[*unit])
        };
        units.extend(own.iter().copied().filter(is_border).take(CUTS_TRIED));
        let ports = |unit: usize| {
            let inputs = graph.units[unit].inputs.iter();
            let mut ports: Vec<usize> = inputs.map(|input| input.port).collect();
            ports.dedup();
            ports.into_iter().filter(|&port| {
                graph.ports[port].may_be_queued && !graph.ports[port].is_always_queued
            })
        };
        let mut moves: Vec<PlanMove> = units
            .iter()
            .flat_map(|&unit| ports(unit))
            .map(PlanMove::Queue)
            .collect();
        for &unit in &units {
            let block = self.problem.block_of[unit];
            let pe = |block: usize| from.pe_of[self.problem.units_of[block][0]];
            let near = self.problem.near[block].iter().map(|&near| pe(near));
            let pes: BTreeSet<u32> = near.filter(|near| *near != pe(block)).collect();
            moves.extend(pes.into_iter().map(|pe| PlanMove::Block(block, pe)));
        }
        moves.push(PlanMove::Thread(thread));
        moves.extend(self.joins(from).into_iter().take(CUTS_TRIED));
        moves
    }

    /// The choices after a move; `None` if it changes nothing or breaks a rule.
    fn after(&self, from: &PlanSketch, one: PlanMove) -> Option<PlanSketch> {
        let graph = &self.problem.model.graph;
        let mut next = from.clone();
        match one {
            PlanMove::Block(block, pe) => {
                self.problem.units_of[block]
                    .iter()
                    .for_each(|&unit| next.pe_of[unit] = pe);
            }
            PlanMove::Queue(port) => next.is_queued[port] = !next.is_queued[port],
            PlanMove::Join(from, into) => {
                next.pe_of
                    .iter_mut()
                    .filter(|pe| **pe == from)
                    .for_each(|pe| *pe = into);
            }
            PlanMove::Thread(thread) => {
                let loads = ThreadLoads::new(graph, &graph.costs, from, graph.units.len());
                let is_own = |unit: usize| loads.shares[unit] == ThreadShares::One(thread);
                let pe = new_pe(from);
                let mut blocks = self.problem.units_of.iter();
                let is_whole = |units: &&Vec<usize>| units.iter().all(|&unit| is_own(unit));
                let moved: Vec<usize> = blocks
                    .by_ref()
                    .filter(is_whole)
                    .flatten()
                    .copied()
                    .collect();
                moved.iter().for_each(|&unit| next.pe_of[unit] = pe);
                for (port, of) in graph.ports.iter().enumerate() {
                    // The receiver takes the place of the queue.
                    if next.pe_of[of.unit] == pe && !of.is_always_queued {
                        next.is_queued[port] = false;
                    }
                }
            }
        }
        (next != *from && self.problem.is_allowed(&next)).then_some(next)
    }
}

/// A number that no process has.
fn new_pe(sketch: &PlanSketch) -> u32 {
    sketch.pe_of.iter().max().map_or(0, |pe| pe + 1)
}
