//! The optimiser: the plan of a program that the cost model predicts most of.
//!
//! ```text
//!   Program, Profile, Calibration ──> PlanModel ──> PlanProblem
//!     baselines: fused, spl, unfused, the user's plan ─┐
//!     partitions into 2, 3, ... parts                 ─┴─> moves ──> completed plans ──> the best
//!     an exact search, in small programs ────────────────────────────┘
//! ```
//! Every candidate keeps the placements of the program. All are completed as any other plan is, and
//! scored by the same model ([`predict`](crate::predict())), so the plan is never predicted to be
//! worse than a baseline. The same inputs give the same plan: work is bounded by a number of
//! visited edges, not by time. `docs/optimiser.md` describes it,
//! `docs/decisions/0024-profile-and-optimiser.md` has the reasons.

mod bisection;
mod candidates;
mod exact_search;
mod explanation;
mod move_search;
mod multilevel;
mod optimality_gap;
mod partition_graph;
mod plan_problem;
mod plan_score;

pub use candidates::CandidateKind;
use candidates::{PlanCandidate, baselines, partitions};
use exact_search::EXACT_UNITS_MAX;
pub use explanation::{PlanExplanation, rate_text};
use graph::{Plan, Program};
use move_search::{MoveSearch, SMALL_UNITS};
pub use optimality_gap::{OptimalityGap, optimality_gap};
use plan_problem::PlanProblem;
use plan_score::PlanScore;

use crate::choice::{Optimisation, PlanError, PlanGoal, PlanOptions};
use crate::completion::{complete, plan_of_pes};
use crate::cost_model::{PlanModel, PlanPrediction, PlanSketch, ThreadLoads, bottleneck_ns};
use crate::fusion::by_placement;
use crate::streams::StreamConsumers;

/// Edges that the search visits at most; a small program needs some hundred thousand.
const SEARCH_EDGES: u64 = 60_000_000;

/// Factor of the throughput above which a better plan of a small program is worth looking for.
const EXACT_FACTOR: f64 = 1.05;

/// Branches of one exact search.
const EXACT_BRANCHES: u64 = 30_000;

/// Exact searches one after the other at most.
const EXACT_ROUNDS: u32 = 4;

/// Starts that are improved, in small programs and in large ones. Many starts lead to one plan.
const STARTS_MAX: [usize; 2] = [8, 3];

/// Found plans that are completed and scored.
const FOUND_MAX: usize = 3;

/// The plan that the optimiser has chosen, and what it was chosen from.
#[derive(Clone, Debug)]
pub struct OptimisedPlan {
    /// The plan, complete and derived.
    pub plan: Plan,
    /// The origin of the plan.
    pub kind: CandidateKind,
    /// The origin and the prediction of each plan that was scored, the chosen one among them.
    pub scored: Vec<(CandidateKind, PlanPrediction)>,
    /// Sentences on what was estimated and not measured.
    pub notes: Vec<String>,
    /// Edges that the search has visited.
    pub edges_visited: u64,
}

/// Finds the plan of a program that serves a goal best.
///
/// # Errors
/// Placements that contradict each other or that the given plan breaks, and media that cannot be
/// had.
pub fn optimise(
    program: &Program,
    options: &PlanOptions<'_>,
    optimisation: &Optimisation<'_>,
) -> Result<OptimisedPlan, Vec<PlanError>> {
    let stream_consumers = StreamConsumers::new(program);
    let model = PlanModel::new(program, options, optimisation.profile);
    let problem = PlanProblem::new(
        (program, options),
        &stream_consumers,
        &model,
        optimisation.goal,
    )?;
    let placed = by_placement(program, &stream_consumers)?;
    let baselines = baselines(&problem, &placed, optimisation.start)?;
    let spl = PlanSketch::of_plan(&model.graph, &plan_of_pes(placed), &[]);
    let spl = PlanSketch {
        is_queued: PlanSketch::fused(&model.graph).is_queued,
        ..spl
    };
    let (found, edges_visited) = search(&problem, &baselines, &spl);
    let mut best: Option<(PlanScore, CandidateKind, Plan)> = None;
    let mut scored = Vec::new();
    let mut errors = Vec::new();
    for candidate in baselines.iter().chain(&found) {
        let started = optimisation
            .start
            .filter(|_| candidate.kind == CandidateKind::Start);
        let plan = match started {
            Some(plan) => problem.with_hosts(plan.clone(), &candidate.sketch),
            None => problem.plan(&candidate.sketch),
        };
        let plan = match complete(program, options, &stream_consumers, plan) {
            Ok(plan) => plan,
            Err(why) => {
                errors = why;
                continue;
            }
        };
        let sketch = model.sketch_of(&plan);
        let score = PlanScore::new(&model, &model.costs_of(&plan), &sketch, problem.goal);
        scored.push((candidate.kind, model.predict(&plan)));
        if best
            .as_ref()
            .is_none_or(|(least, ..)| score.is_better(least))
        {
            best = Some((score, candidate.kind, plan));
        }
    }
    let (_, kind, plan) = best.ok_or(errors)?;
    Ok(OptimisedPlan {
        plan,
        kind,
        scored,
        notes: model.notes(),
        edges_visited,
    })
}

/// The best plans that moves lead to from the baselines and from partitions, the best first, and
/// the edges that were visited.
fn search(
    problem: &PlanProblem<'_>,
    baselines: &[PlanCandidate],
    spl: &PlanSketch,
) -> (Vec<PlanCandidate>, u64) {
    let mut starts: Vec<(PlanScore, PlanSketch)> = Vec::new();
    let partitions = partitions(problem, spl);
    for candidate in baselines.iter().chain(&partitions) {
        if starts.iter().all(|(_, other)| *other != candidate.sketch) {
            starts.push((problem.score(&candidate.sketch), candidate.sketch.clone()));
        }
    }
    let units = problem.model.graph.units.len();
    sort_by_score(&mut starts);
    starts.truncate(STARTS_MAX[usize::from(units > SMALL_UNITS)]);
    let mut moves = MoveSearch::new(problem, SEARCH_EDGES);
    let mut found: Vec<(PlanScore, PlanSketch)> = Vec::new();
    for (_, start) in starts {
        let (sketch, score) = moves.improve(start);
        found.push((score, sketch));
    }
    if let Some(exact) = better_by_exact_search(problem, &found) {
        found.push((problem.score(&exact), exact));
    }
    sort_by_score(&mut found);
    found.truncate(FOUND_MAX);
    let candidate = |(_, sketch)| PlanCandidate {
        kind: CandidateKind::Found,
        sketch,
    };
    let found = found.into_iter().map(candidate).collect();
    (found, SEARCH_EDGES - moves.edges_left)
}

/// A plan of a small program on one host with more than 1.05 times the throughput of those found,
/// by an exact search through a bounded number of branches.
fn better_by_exact_search(
    problem: &PlanProblem<'_>,
    found: &[(PlanScore, PlanSketch)],
) -> Option<PlanSketch> {
    let graph = &problem.model.graph;
    let units = graph.units.len();
    let has_hosts = problem.hosts.is_some();
    if problem.goal != PlanGoal::Throughput || units > EXACT_UNITS_MAX || has_hosts {
        return None;
    }
    let bottleneck = |sketch: &PlanSketch| {
        let loads = ThreadLoads::new(graph, &graph.costs, sketch, units);
        bottleneck_ns(&loads, sketch, &problem.model.cores)
    };
    let found = found.iter().map(|(_, sketch)| bottleneck(sketch));
    let mut least_ns = found.fold(f64::INFINITY, f64::min);
    let mut best = None;
    // A search that has found something looks for something better with what it knows now.
    for _ in 0..EXACT_ROUNDS {
        let outcome = exact_search::search(problem, least_ns / EXACT_FACTOR, EXACT_BRANCHES);
        let Some(sketch) = outcome.sketch else { break };
        (best, least_ns) = (Some(sketch), outcome.bottleneck_ns);
    }
    best
}

/// Sorts plans by their scores, those of equal scores as they are.
fn sort_by_score(plans: &mut Vec<(PlanScore, PlanSketch)>) {
    let mut sorted: Vec<(PlanScore, PlanSketch)> = Vec::with_capacity(plans.len());
    for plan in plans.drain(..) {
        let at = sorted.iter().position(|(score, _)| plan.0.is_better(score));
        sorted.insert(at.unwrap_or(sorted.len()), plan);
    }
    *plans = sorted;
}
