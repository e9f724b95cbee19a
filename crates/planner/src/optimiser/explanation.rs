//! Explanations of plans: where each operator is and why, the bottleneck, and the price of a move.

use std::collections::BTreeSet;
use std::fmt;

use graph::{OperatorId, Plan, Program};

use super::plan_problem::PlanProblem;
use super::{CandidateKind, OptimisedPlan, optimality_gap, optimise};
use crate::choice::{Optimisation, PlanError, PlanGoal, PlanHost, PlanOptions};
use crate::cost_model::{
    Bottleneck, LoadBasis, PlanModel, PlanPrediction, PlanSketch, PredictedThread, StreamCosts,
    ThreadLoads, bottleneck_ns,
};
use crate::streams::StreamConsumers;

/// Operators that an explanation tells of, the most expensive first; more are counted.
const OPERATORS_MAX: usize = 40;

/// Branches that the exact search for a better plan tries: about a second.
const BRANCHES_MAX: u64 = 200_000;

/// Sentences about an optimised plan, a line each; it prints as these lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanExplanation {
    /// Sentences with full stops.
    pub sentences: Vec<String>,
}

impl fmt::Display for PlanExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentences
            .iter()
            .try_for_each(|sentence| writeln!(f, "{sentence}"))
    }
}

impl PlanExplanation {
    /// Explains the plan that [`optimise()`] has found with these options.
    ///
    /// # Errors
    /// The reasons for which a plan with one more core cannot be made.
    pub fn new(
        program: &Program,
        options: &PlanOptions<'_>,
        optimisation: &Optimisation<'_>,
        optimised: &OptimisedPlan,
    ) -> Result<PlanExplanation, Vec<PlanError>> {
        let stream_consumers = StreamConsumers::new(program);
        let model = PlanModel::new(program, options, optimisation.profile);
        let goal = PlanGoal::Throughput;
        let problem = PlanProblem::new((program, options), &stream_consumers, &model, goal)?;
        let explained = ExplainedPlan {
            program,
            sketch: model.sketch_of(&optimised.plan),
            costs: model.costs_of(&optimised.plan),
            prediction: model.predict(&optimised.plan),
            problem,
        };
        let mut sentences = vec![explained.summary(optimised)];
        sentences.extend(optimised.scored.iter().filter_map(|(kind, prediction)| {
            let what = baseline_words(*kind)?;
            Some(format!(
                "{what} would carry {}.",
                rate_text(prediction.throughput)
            ))
        }));
        sentences.push(explained.bottleneck());
        sentences.push(one_more_core(
            program,
            options,
            optimisation,
            &explained.prediction,
        )?);
        sentences.extend(gap_sentence(
            program,
            options,
            optimisation,
            &optimised.plan,
        ));
        sentences.extend(explained.operators());
        Ok(PlanExplanation { sentences })
    }
}

/// The throughput of a plan in words.
pub fn rate_text(per_second: f64) -> String {
    match per_second {
        rate if rate.is_infinite() => "any rate".to_owned(),
        rate if rate >= 1e6 => format!("{:.2} million source tuples a second", rate / 1e6),
        rate => format!("{rate:.0} source tuples a second"),
    }
}

fn baseline_words(kind: CandidateKind) -> Option<&'static str> {
    match kind {
        CandidateKind::Fused => Some("All operators in one process"),
        CandidateKind::Spl => Some("The processes of config `placement`"),
        CandidateKind::Unfused => Some("Each operator in a process of its own"),
        CandidateKind::Start => Some("The given plan"),
        CandidateKind::Found => None,
    }
}

/// The throughput with another core on each host.
fn one_more_core(
    program: &Program,
    options: &PlanOptions<'_>,
    optimisation: &Optimisation<'_>,
    now: &PlanPrediction,
) -> Result<String, Vec<PlanError>> {
    let hosts = options.hosts.iter().map(|host| PlanHost {
        cores: host.cores.max(1) + 1,
        ..*host
    });
    let hosts: Vec<PlanHost<'_>> = hosts.collect();
    let more = PlanOptions {
        cores: options.cores.max(1) + 1,
        hosts: &hosts,
        ..*options
    };
    let optimised = optimise(program, &more, optimisation)?;
    let after = PlanModel::new(program, &more, optimisation.profile).predict(&optimised.plan);
    let gain = change_text(now.throughput, after.throughput);
    let rate = rate_text(after.throughput);
    Ok(match hosts[..] {
        [] => format!(
            "With {} cores a host the best plan found would carry {rate} ({gain}).",
            more.cores
        ),
        _ => format!(
            "With another core on each host the best plan found would carry {rate} ({gain})."
        ),
    })
}

fn gap_sentence(
    program: &Program,
    options: &PlanOptions<'_>,
    optimisation: &Optimisation<'_>,
    plan: &Plan,
) -> Option<String> {
    let limits = (1.0, BRANCHES_MAX);
    let gap = optimality_gap(program, options, optimisation.profile, plan, limits)?;
    Some(match (gap.best > 1.0, gap.is_proven) {
        (false, true) => "An exact search has found no plan with more throughput.".to_owned(),
        (false, false) => format!(
            "An exact search has found no plan with more throughput in {BRANCHES_MAX} branches, \
             which are not all."
        ),
        (true, _) => format!(
            "An exact search has found a plan with {:.1} % more throughput.",
            (gap.best - 1.0) * 100.0
        ),
    })
}

/// A change from one rate to another in percent.
fn change_text(from: f64, to: f64) -> String {
    match to / from - 1.0 {
        change if !change.is_finite() || change.abs() < 0.0005 => "no change".to_owned(),
        change => format!("{:+.1} %", change * 100.0),
    }
}

struct ExplainedPlan<'a> {
    program: &'a Program,
    problem: PlanProblem<'a>,
    sketch: PlanSketch,
    costs: StreamCosts,
    prediction: PlanPrediction,
}

impl ExplainedPlan<'_> {
    fn summary(&self, optimised: &OptimisedPlan) -> String {
        let queues: usize = optimised
            .plan
            .pes
            .iter()
            .map(|pe| pe.threaded_ports.len())
            .sum();
        let PlanPrediction {
            throughput,
            total_ns,
            latency_ns,
            rate,
            ..
        } = self.prediction;
        let latency = match latency_ns.is_finite() {
            true => format!(
                "{:.1} µs on the longest way at {rate:.0} a second",
                latency_ns / 1000.0
            ),
            false => format!("overloaded at {rate:.0} a second"),
        };
        format!(
            "The plan has {}, {} and {}; it is predicted to carry {}, with {total_ns:.1} ns of \
             processor time for each, and {latency}.",
            count_text(optimised.plan.pes.len(), "process", "processes"),
            count_text(queues, "queue", "queues"),
            count_text(self.prediction.threads.len(), "thread", "threads"),
            rate_text(throughput),
        )
    }

    fn bottleneck(&self) -> String {
        match self.prediction.bottleneck {
            Bottleneck::Host(pe) => format!(
                "The bottleneck is the host of pe {}: all of its {:.0} cores are busy, and none of \
                 its threads is alone.",
                pe.0,
                self.problem.model.cores.of(self.sketch.host(pe.0))
            ),
            Bottleneck::Thread(at) => match self.prediction.threads.get(at) {
                Some(thread) => self.busiest_thread(thread),
                None => "Nothing limits the plan: its operators take no time.".to_owned(),
            },
        }
    }

    fn busiest_thread(&self, thread: &PredictedThread) -> String {
        let own = |(id, part): &(OperatorId, f64)| {
            (*id, self.problem.model.loads.operator(*id).ns() * part)
        };
        let mut operators: Vec<(OperatorId, f64)> = thread.operators.iter().map(own).collect();
        let work: f64 = operators.iter().map(|(_, ns)| ns).sum();
        operators.sort_by(|(a, of_a), (b, of_b)| of_b.total_cmp(of_a).then(a.cmp(b)));
        let shown = operators.iter().take(3);
        let shown: Vec<_> = shown
            .map(|(id, ns)| format!("`{}` {ns:.1} ns", self.name(*id)))
            .collect();
        format!(
            "The bottleneck is the thread `{}` of pe {}: {:.1} ns for each source tuple, of which \
             {:.1} ns are queues and crossings; its operators are led by {}.",
            thread.name,
            thread.pe.0,
            thread.ns,
            (thread.ns - work).max(0.0),
            match shown[..] {
                [] => "none".to_owned(),
                _ => shown.join(", "),
            }
        )
    }

    /// A sentence for each of the most expensive operators.
    fn operators(&self) -> Vec<String> {
        let loads = &self.problem.model.loads;
        let mut ids: Vec<OperatorId> = (0..self.program.operators.len() as u32)
            .map(OperatorId)
            .collect();
        ids.sort_by(|a, b| {
            let (of_a, of_b) = (loads.operator(*a).ns(), loads.operator(*b).ns());
            of_b.total_cmp(&of_a).then(a.cmp(b))
        });
        let left = ids.len().saturating_sub(OPERATORS_MAX);
        let shown = ids.iter().take(OPERATORS_MAX);
        let mut sentences: Vec<String> = shown.map(|id| self.operator(*id)).collect();
        if left > 0 {
            sentences.push(format!("{left} more operators take less time."));
        }
        sentences
    }

    fn operator(&self, id: OperatorId) -> String {
        let load = self.problem.model.loads.operator(id);
        let unit = self.problem.model.graph.unit_of[id.0 as usize];
        let block = self.problem.block_of[unit];
        let basis = match load.basis {
            LoadBasis::Profile => "by the profile",
            LoadBasis::KindInProfile => "as others of its kind in the profile",
            LoadBasis::Static => "estimated",
        };
        let host = self.sketch.host(self.sketch.pe_of[unit]);
        let host = self.problem.model.host_names.get(host as usize);
        let host = host.map_or_else(String::new, |host| format!(" on host {host}"));
        let held: usize = self.problem.units_of[block]
            .iter()
            .map(|&unit| self.problem.model.graph.units[unit].operators.len())
            .sum();
        let held = match held {
            1 => String::new(),
            count => format!(", held together with {} by a loop or placements", count - 1),
        };
        format!(
            "`{}` is in pe {}{host} ({:.1} ns for each source tuple, {basis}){held}: {}.",
            self.name(id),
            self.sketch.pe_of[unit],
            load.ns(),
            self.alternatives(block)
        )
    }

    /// The throughput after a move of a block to each neighbour's process, or to one of its own.
    fn alternatives(&self, block: usize) -> String {
        let pe = |block: usize| self.sketch.pe_of[self.problem.units_of[block][0]];
        let own = pe(block);
        let near = self.problem.near[block].iter().map(|&near| pe(near));
        let near: BTreeSet<u32> = near.filter(|near| *near != own).collect();
        let new = self.sketch.pe_of.iter().max().map_or(0, |pe| pe + 1);
        let is_alone = !(0..self.problem.units_of.len()).any(|at| at != block && pe(at) == own);
        let places = near.into_iter().map(|pe| (pe, format!("pe {pe}")));
        let alone = (!is_alone).then(|| (new, "a process of its own".to_owned()));
        let moves = places
            .chain(alone)
            .map(|(to, place)| match self.after_move(block, to) {
                Some(rate) => {
                    let change = change_text(self.prediction.throughput, rate);
                    format!(
                        "in {place} the plan would carry {} ({change})",
                        rate_text(rate)
                    )
                }
                None => format!("{place} is against the program's placements"),
            });
        match moves.collect::<Vec<_>>() {
            none if none.is_empty() => "it is alone, and feeds no other process".to_owned(),
            moves => moves.join("; "),
        }
    }

    fn after_move(&self, block: usize, to: u32) -> Option<f64> {
        let mut moved = self.sketch.clone();
        // A process of its own is on the host of the process that it leaves.
        let own = moved.pe_of[self.problem.units_of[block][0]];
        if to as usize == moved.host_of.len() {
            moved.host_of.push(moved.host(own));
        }
        self.problem.units_of[block]
            .iter()
            .for_each(|&unit| moved.pe_of[unit] = to);
        if !self.problem.is_allowed(&moved) {
            return None;
        }
        let graph = &self.problem.model.graph;
        let loads = ThreadLoads::new(graph, &self.costs, &moved, graph.units.len());
        Some(1e9 / bottleneck_ns(&loads, &moved, &self.problem.model.cores))
    }

    fn name(&self, id: OperatorId) -> &str {
        &self.program.operators[id.0 as usize].name
    }
}

fn count_text(count: usize, one: &str, several: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {several}"),
    }
}
