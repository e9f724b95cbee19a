//! Plans that the search begins with: those that need no search, and partitions.

use graph::{OperatorId, Plan};

use super::multilevel::partition;
use super::plan_problem::PlanProblem;
use crate::choice::PlanError;
use crate::cost_model::PlanSketch;

/// A plan that is scored, with its name for messages.
#[derive(Clone, Debug)]
pub struct PlanCandidate {
    /// The origin of the plan.
    pub kind: CandidateKind,
    /// Processes and queues of the plan.
    pub sketch: PlanSketch,
}

/// The origin of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
    /// All operators in one process: `--fuse all`.
    Fused,
    /// The processes of config `placement`, as few as it allows: `--fuse spl`.
    Spl,
    /// Each operator in a process of its own: `--fuse none`.
    Unfused,
    /// The plan that the user has given.
    Start,
    /// A plan of the search.
    Found,
}

/// The plans that need no search and keep the program's placements, in order of their kinds.
///
/// # Errors
/// The given plan breaks a placement of the program.
pub fn baselines(
    problem: &PlanProblem<'_>,
    by_placement: &[Vec<OperatorId>],
    start: Option<&Plan>,
) -> Result<Vec<PlanCandidate>, Vec<PlanError>> {
    let graph = &problem.model.graph;
    let fused = PlanSketch::fused(graph);
    let mut spl = fused.clone();
    for (pe, operators) in (0..).zip(by_placement) {
        for id in operators {
            spl.pe_of[graph.unit_of[id.0 as usize]] = pe;
        }
    }
    let mut unfused = fused.clone();
    unfused.pe_of = problem.block_of.iter().map(|&block| block as u32).collect();
    let kinds = [
        CandidateKind::Fused,
        CandidateKind::Spl,
        CandidateKind::Unfused,
    ];
    let all = kinds.into_iter().zip([fused, spl, unfused]);
    let mut found: Vec<PlanCandidate> = Vec::new();
    for (kind, sketch) in all {
        let placed = problem.placed(sketch);
        found.extend(placed.map(|sketch| PlanCandidate { kind, sketch }));
    }
    if let Some(plan) = start {
        let sketch = problem.model.sketch_of(plan);
        let has_hosts = plan.pes.iter().any(|pe| pe.host.is_some());
        let sketch = match has_hosts {
            true => Some(sketch).filter(|sketch| problem.is_allowed(sketch)),
            false => problem.placed(sketch),
        };
        let Some(sketch) = sketch else {
            let why = "the plan to start from breaks a placement of the program; `--fuse spl` \
                       prints a plan that keeps them all";
            return Err(vec![PlanError::new(why)]);
        };
        found.push(PlanCandidate {
            kind: CandidateKind::Start,
            sketch,
        });
    }
    Ok(found)
}

/// Plans from partitions of the program into each of some numbers of parts: a process for each
/// part, and queues between parts within the processes that config asks for.
pub fn partitions(problem: &PlanProblem<'_>, by_placement: &PlanSketch) -> Vec<PlanCandidate> {
    let graph = &problem.model.graph;
    let partition_graph = problem.partition_graph();
    let mut found = Vec::new();
    for parts in part_counts(problem.model.cores.total() as usize, partition_graph.len()) {
        let part_of = partition(&partition_graph, parts);
        let part = |unit: usize| part_of[problem.block_of[unit]];
        let mut processes = by_placement.clone();
        for unit in 0..graph.units.len() {
            processes.pe_of[unit] = by_placement.pe_of[unit] * parts as u32 + part(unit) as u32;
        }
        let mut queues = by_placement.clone();
        for (at, unit) in graph.units.iter().enumerate() {
            for input in &unit.inputs {
                if graph.ports[input.port].may_be_queued && part(input.from) != part(at) {
                    queues.is_queued[input.port] = true;
                }
            }
        }
        found.extend([processes, queues]);
    }
    let candidate = |sketch| PlanCandidate {
        kind: CandidateKind::Found,
        sketch,
    };
    let placed = found
        .into_iter()
        .filter_map(|sketch| problem.placed(sketch));
    placed.map(candidate).collect()
}

/// Numbers of parts that are tried: few, each up to 16, then ever fewer up to twice the cores. More
/// threads than cores may still divide the work more evenly.
fn part_counts(cores: usize, blocks: usize) -> Vec<usize> {
    let most = (cores * 2).min(blocks);
    let mut counts = Vec::new();
    let mut next = 2;
    while next <= most {
        counts.push(next);
        next += if next < 16 { 1 } else { next / 4 };
    }
    counts.extend(
        [cores, most]
            .into_iter()
            .filter(|count| *count > 1 && *count <= blocks),
    );
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::part_counts;

    #[test]
    fn numbers_of_parts_reach_twice_the_cores() {
        assert_eq!(part_counts(1, 100), [2]);
        assert_eq!(part_counts(2, 100), [2, 3, 4]);
        assert_eq!(part_counts(4, 3), [2, 3]);
        assert_eq!(part_counts(8, 1), Vec::<usize>::new());
        let many = part_counts(64, 10_000);
        assert!(
            many.contains(&64) && many.contains(&128) && many.len() < 30,
            "{many:?}"
        );
    }
}
