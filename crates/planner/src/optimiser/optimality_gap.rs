//! The distance of a plan from the best one, for small programs.

use graph::{Plan, Program};

use super::exact_search::{EXACT_UNITS_MAX, search};
use super::plan_problem::PlanProblem;
use crate::choice::{PlanGoal, PlanOptions};
use crate::cost_model::{PlanModel, ThreadLoads, bottleneck_ns};
use crate::profile::Profile;
use crate::streams::StreamConsumers;

/// The throughput of a plan beside that of the best one, by an exact search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimalityGap {
    /// Throughput of the best plan that was found as a multiple of that of this plan; 1 if no
    /// better one was found.
    pub best: f64,
    /// Whether the search was complete, so that no plan is better than that.
    pub is_proven: bool,
}

/// Searches for a plan with more than `factor` times the throughput of a plan, through `branches`
/// branches at most. `None` for a program that is too large, whose placements contradict each
/// other, or that gets several hosts, which the search does not know.
pub fn optimality_gap(
    program: &Program,
    options: &PlanOptions<'_>,
    profile: Option<&Profile>,
    plan: &Plan,
    (factor, branches): (f64, u64),
) -> Option<OptimalityGap> {
    let stream_consumers = StreamConsumers::new(program);
    let model = PlanModel::new(program, options, profile);
    let goal = PlanGoal::Throughput;
    let problem = PlanProblem::new((program, options), &stream_consumers, &model, goal).ok()?;
    if model.graph.units.len() > EXACT_UNITS_MAX || problem.hosts.is_some() {
        return None;
    }
    let sketch = model.sketch_of(plan);
    let units = model.graph.units.len();
    let loads = ThreadLoads::new(&model.graph, &model.graph.costs, &sketch, units);
    let own_ns = bottleneck_ns(&loads, &sketch, &model.cores);
    let outcome = search(&problem, own_ns / factor, branches);
    Some(OptimalityGap {
        best: match outcome.sketch {
            Some(_) => own_ns / outcome.bottleneck_ns,
            None => 1.0,
        },
        is_proven: outcome.is_complete,
    })
}
