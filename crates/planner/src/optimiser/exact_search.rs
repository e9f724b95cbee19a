//! Exact search for the plan of the highest throughput, by branch and bound.
//!
//! Units get their process and queues upstream first. With each further unit the loads of threads
//! only grow, so a branch ends as soon as its busiest thread, or all work that is known to come,
//! is as much as the best plan has. The search tells how far from the best the optimiser's plan is:
//! in tests, and in `thalweg plan explain` for small programs.

use super::plan_problem::PlanProblem;
use crate::cost_model::{PlanSketch, ThreadLoads};

/// Units of a program up to which the search is tried.
pub const EXACT_UNITS_MAX: usize = 20;

/// Ports of a unit whose queues are tried in all combinations; those of more are left out.
const PORTS_MAX: usize = 8;

/// The end of an exact search.
#[derive(Clone, Debug)]
pub struct ExactOutcome {
    /// Choices that are better than the bound that was given; `None` if none were found.
    pub sketch: Option<PlanSketch>,
    /// Nanoseconds of their bottleneck, else the bound.
    pub bottleneck_ns: f64,
    /// Whether everything was searched, so that no others are better.
    pub is_complete: bool,
}

/// Searches for choices whose bottleneck is below `bound_ns`, through at most `nodes_max` branches.
pub fn search(problem: &PlanProblem<'_>, bound_ns: f64, nodes_max: u64) -> ExactOutcome {
    let graph = &problem.model.graph;
    let mut remaining_ns: Vec<f64> = vec![0.0; graph.units.len() + 1];
    for (at, unit) in graph.units.iter().enumerate().rev() {
        remaining_ns[at] = remaining_ns[at + 1] + unit.work_ns;
    }
    let mut search = BranchSearch {
        problem,
        remaining_ns,
        best: ExactOutcome {
            sketch: None,
            bottleneck_ns: bound_ns,
            is_complete: true,
        },
        nodes_left: nodes_max,
    };
    search.branch(0, 0, &mut PlanSketch::fused(graph));
    search.best
}

struct BranchSearch<'p, 'a> {
    problem: &'p PlanProblem<'a>,
    /// Work of each unit and all behind it.
    remaining_ns: Vec<f64>,
    best: ExactOutcome,
    nodes_left: u64,
}

impl BranchSearch<'_, '_> {
    /// Tries all choices for the units from `at` on; `pes` processes are in use.
    fn branch(&mut self, at: usize, pes: u32, sketch: &mut PlanSketch) {
        let graph = &self.problem.model.graph;
        if at == graph.units.len() {
            // The bound of the last unit was that of the whole plan.
            let loads = ThreadLoads::new(graph, &graph.costs, sketch, at);
            self.best.bottleneck_ns = self.bound_ns(at, &loads);
            self.best.sketch = Some(sketch.clone());
            return;
        }
        let mut branches = Vec::new();
        for pe in self.processes(at, pes, sketch) {
            sketch.pe_of[at] = pe;
            let mut ports = self.free_ports(at, sketch);
            self.best.is_complete &= ports.len() <= PORTS_MAX;
            ports.truncate(PORTS_MAX);
            for queued in 0..1_u32 << ports.len() {
                if self.nodes_left == 0 {
                    self.best.is_complete = false;
                    return;
                }
                self.nodes_left -= 1;
                set_queues(sketch, &ports, queued);
                if !self.problem.is_allowed_up_to(sketch, at + 1) {
                    continue;
                }
                let loads = ThreadLoads::new(graph, &graph.costs, sketch, at + 1);
                let bound = self.bound_ns(at + 1, &loads);
                if self.is_better(bound) {
                    branches.push((bound, loads.total_ns(), pe, queued));
                }
            }
            set_queues(sketch, &ports, 0);
        }
        branches.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (bound, _, pe, queued) in branches {
            if !self.is_better(bound) {
                break;
            }
            sketch.pe_of[at] = pe;
            let mut ports = self.free_ports(at, sketch);
            ports.truncate(PORTS_MAX);
            set_queues(sketch, &ports, queued);
            self.branch(at + 1, pes.max(pe + 1), sketch);
            sketch.pe_of[at] = pe;
            set_queues(sketch, &ports, 0);
        }
    }

    fn is_better(&self, bound_ns: f64) -> bool {
        bound_ns < self.best.bottleneck_ns * (1.0 - 1e-9)
    }

    /// The processes that a unit may be in: those in use and a new one, or that of its block.
    fn processes(&self, at: usize, pes: u32, sketch: &PlanSketch) -> Vec<u32> {
        let block = self.problem.block_of[at];
        let first = self.problem.units_of[block][0];
        match first < at {
            true => vec![sketch.pe_of[first]],
            false => (0..=pes).collect(),
        }
    }

    /// The ports of a unit at which a queue may be added: one of their streams comes by a call.
    fn free_ports(&self, at: usize, sketch: &PlanSketch) -> Vec<usize> {
        let graph = &self.problem.model.graph;
        let inputs = graph.units[at].inputs.iter();
        let near = inputs.filter(|input| sketch.pe_of[input.from] == sketch.pe_of[at]);
        let mut ports: Vec<usize> = near.map(|input| input.port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
            .retain(|&port| graph.ports[port].may_be_queued && !graph.ports[port].is_always_queued);
        ports
    }

    /// Nanoseconds that no plan with these loads of its first units stays below.
    fn bound_ns(&self, units: usize, loads: &ThreadLoads) -> f64 {
        let all_ns = loads.total_ns() + self.remaining_ns[units];
        loads
            .busiest_ns()
            .max(all_ns / self.problem.model.cores.total())
    }
}

fn set_queues(sketch: &mut PlanSketch, ports: &[usize], queued: u32) {
    for (bit, &port) in ports.iter().enumerate() {
        sketch.is_queued[port] = queued >> bit & 1 == 1;
    }
}
