//! Scores of plans: numbers that are compared one after the other, the least first.

use std::cmp::Ordering;

use crate::choice::PlanGoal;
use crate::cost_model::{
    PlanModel, PlanSketch, StreamCosts, ThreadLoads, bottleneck_ns, latency_ns,
};

/// Difference of two numbers, as part of them, below which they count as equal: the order of a sum
/// must not decide.
const EQUAL: f64 = 1e-9;

/// Part of a core or host that a plan for the goal of few cores may use: the default of the
/// compiler option `--max-pe-cpu-fraction` of IBM Streams.
const LOAD_MAX: f64 = 0.8;

/// The score of a plan: the least is the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanScore([f64; 5]);

impl PlanScore {
    /// The score of a plan's choices under a goal.
    pub fn new(
        model: &PlanModel<'_>,
        costs: &StreamCosts,
        sketch: &PlanSketch,
        goal: PlanGoal,
    ) -> PlanScore {
        let loads = ThreadLoads::new(&model.graph, costs, sketch, model.graph.units.len());
        let bottleneck = bottleneck_ns(&loads, sketch, &model.cores);
        let total = loads.total_ns();
        let (pes, threads) = (sketch.pe_count() as f64, loads.thread_count() as f64);
        PlanScore(match goal {
            PlanGoal::Throughput => [bottleneck, total, pes, threads, 0.0],
            PlanGoal::Latency => {
                let latency = latency_ns(&model.graph, costs, sketch, &loads, model.rate);
                let is_carried = bottleneck * model.rate < 1.0;
                let latency = if is_carried { latency } else { f64::INFINITY };
                [latency, bottleneck, total, pes, threads]
            }
            PlanGoal::Cores => {
                let excess = (bottleneck * model.rate - LOAD_MAX).max(0.0);
                [excess, total, bottleneck, pes, threads]
            }
        })
    }

    /// Whether this score is better than another.
    pub fn is_better(&self, other: &PlanScore) -> bool {
        for (one, other) in self.0.iter().zip(&other.0) {
            let is_near = one == other || (one - other).abs() <= EQUAL * one.abs().max(other.abs());
            match one.total_cmp(other) {
                _ if is_near => {}
                order => return order == Ordering::Less,
            }
        }
        false
    }
}
