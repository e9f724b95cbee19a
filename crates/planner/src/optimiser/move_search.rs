//! Local search on the cost model itself: moves that change the process of a block, or a queue.
//!
//! ```text
//!   block to a neighbour's process, or to one of its own     queue added or removed
//!   process joined with a neighbour                          thread made a process
//!   process to another host, hosts of two exchanged          block to a process elsewhere
//! ```
//! Small programs are searched in passes after Fiduccia and Mattheyses: the best move is made, also
//! if it makes the plan worse, nothing is moved twice, and the best plan on the way stays. So a
//! chain can be cut in its middle, though each single move there is a step back. In large programs
//! only moves near the bottleneck are tried, and only better ones made.
//!
//! # Cost
//! Bounded by a number of visited edges, not by time: the same inputs give the same plan.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Puts a block into a process of its own on a host.
    NewProcess(usize, u32),
    /// Puts a process onto a host, with those that have to be on its host.
    Host(u32, u32),
    /// Exchanges the hosts of two processes, with those that have to be on their hosts.
    Swap(u32, u32),
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
                PlanMove::Block(block, _) | PlanMove::NewProcess(block, _) => {
                    !locked.contains(&(false, *block))
                }
                PlanMove::Queue(port) => !locked.contains(&(true, *port)),
                _ => true,
            });
            let Some((made, next, score)) = self.best_of(&current, free.collect()) else {
                break;
            };
            match made {
                PlanMove::Block(block, _) | PlanMove::NewProcess(block, _) => {
                    locked.insert((false, block));
                }
                PlanMove::Queue(port) => drop(locked.insert((true, port))),
                // Such a move has no lock of its own, so a step back with it may go round.
                _ => back += 1,
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
        let hosts = self.host_count();
        for block in 0..problem.units_of.len() {
            let own = from.host(from.pe_of[problem.units_of[block][0]]);
            let others = (0..hosts).filter(|host| *host != own);
            moves.extend(others.map(|host| PlanMove::NewProcess(block, host)));
        }
        let pes: BTreeSet<u32> = from.pe_of.iter().copied().collect();
        moves.extend(self.host_moves(from, &pes));
        moves
    }

    /// Number of hosts to choose from; 0 if there is no choice.
    fn host_count(&self) -> u32 {
        let hosts = self.problem.hosts.as_ref();
        hosts.map_or(0, |hosts| hosts.host_count() as u32)
    }

    /// Moves of some processes to other hosts. Where hosts are bound by rules, one process may have
    /// to leave a host before another can come.
    fn host_moves(&self, from: &PlanSketch, pes: &BTreeSet<u32>) -> Vec<PlanMove> {
        let mut moves = Vec::new();
        let Some(hosts) = &self.problem.hosts else {
            return moves;
        };
        for &pe in pes {
            let others = (0..self.host_count()).filter(|host| *host != from.host(pe));
            moves.extend(others.map(|host| PlanMove::Host(pe, host)));
            if !hosts.are_free() {
                let others = pes.range(pe + 1..);
                let others = others.filter(|other| from.host(**other) != from.host(pe));
                moves.extend(others.map(|&other| PlanMove::Swap(pe, other)));
            }
        }
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
        if self.host_count() > 0 {
            moves.extend(self.moves_off_busiest_host(from, &loads));
        }
        moves
    }

    /// Moves of the processes with most work away from the host that is busiest for its cores.
    fn moves_off_busiest_host(&self, from: &PlanSketch, loads: &ThreadLoads) -> Vec<PlanMove> {
        let cores = &self.problem.model.cores;
        let load = |host: u32| loads.host_ns(from, host) / cores.of(host);
        let busiest = (0..self.host_count()).max_by(|&a, &b| load(a).total_cmp(&load(b)));
        let mut pes: BTreeMap<u32, f64> = BTreeMap::new();
        for thread in &loads.threads {
            if Some(from.host(thread.pe)) == busiest {
                *pes.entry(thread.pe).or_default() += thread.ns;
            }
        }
        let mut pes: Vec<(u32, f64)> = pes.into_iter().collect();
        pes.sort_by(|(a, of_a), (b, of_b)| of_b.total_cmp(of_a).then(a.cmp(b)));
        let pes: BTreeSet<u32> = pes.iter().take(CUTS_TRIED).map(|(pe, _)| *pe).collect();
        self.host_moves(from, &pes)
    }

    /// The choices after a move; `None` if it changes nothing or breaks a rule.
    fn after(&self, from: &PlanSketch, one: PlanMove) -> Option<PlanSketch> {
        let graph = &self.problem.model.graph;
        let mut next = from.clone();
        match one {
            PlanMove::Block(block, pe) => {
                let own = from.pe_of[self.problem.units_of[block][0]];
                self.put(block, pe, from.host(own), &mut next);
            }
            PlanMove::NewProcess(block, host) => self.put(block, new_pe(from), host, &mut next),
            PlanMove::Host(pe, host) => {
                for pe in self.problem.on_host_with(from, pe) {
                    next.set_host(pe, host);
                }
            }
            PlanMove::Swap(one, other) => {
                for (pe, host) in [(one, from.host(other)), (other, from.host(one))] {
                    for pe in self.problem.on_host_with(from, pe) {
                        next.set_host(pe, host);
                    }
                }
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
                if self.host_count() > 0 {
                    next.set_host(pe, from.host(loads.threads[thread].pe));
                }
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

    /// Puts a block into a process, which begins on the host if it is a new one.
    fn put(&self, block: usize, pe: u32, host: u32, sketch: &mut PlanSketch) {
        if self.host_count() > 0 && !sketch.pe_of.contains(&pe) {
            sketch.set_host(pe, host);
        }
        let units = self.problem.units_of[block].iter();
        units.for_each(|&unit| sketch.pe_of[unit] = pe);
    }
}

/// A number that no process has.
fn new_pe(sketch: &PlanSketch) -> u32 {
    sketch.pe_of.iter().max().map_or(0, |pe| pe + 1)
}
