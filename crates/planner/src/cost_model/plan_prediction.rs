//! Predictions: the throughput, the bottleneck and the latency of a plan.

use std::collections::HashMap;

use graph::{CrossingRails, OperatorId, OutPortId, PeId, Plan, Program};

use super::crossing_cost::{CrossingCost, CrossingCosts};
use super::host_cores::HostCores;
use super::load_graph::{LoadGraph, StreamCosts, first_streams};
use super::plan_latency::latency_ns;
use super::plan_sketch::PlanSketch;
use super::program_loads::ProgramLoads;
use super::thread_loads::{LoadedThreadStart, ThreadLoads};
use crate::calibration::MediumReach;
use crate::choice::PlanOptions;
use crate::profile::Profile;
use crate::streams::StreamConsumers;

/// The predicted throughput, loads and latency of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanPrediction {
    /// Tuples a second of all sources together; infinite for a program without work.
    pub throughput: f64,
    /// The part of the plan that is busy first.
    pub bottleneck: Bottleneck,
    /// The threads that run operators, in order of their beginnings.
    pub threads: Vec<PredictedThread>,
    /// Processor time of all threads in nanoseconds, for one tuple of the sources.
    pub total_ns: f64,
    /// Tuples a second of all sources together for which the latency is predicted.
    pub rate: f64,
    /// Nanoseconds on the longest way at that rate; infinite if the plan cannot carry it.
    pub latency_ns: f64,
}

/// The part of a plan that limits its throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// A thread, by its index: it uses one whole core.
    Thread(usize),
    /// All cores of the host of this PE.
    Host(PeId),
}

/// A thread of a plan with its predicted load.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedThread {
    /// Words for the beginning of the thread, as in the plan's text: `queue of Filter.0`.
    pub name: String,
    /// PE of the thread.
    pub pe: PeId,
    /// Operators that the thread runs, in order of the program, with its part of each.
    pub operators: Vec<(OperatorId, f64)>,
    /// Processor time in nanoseconds, for one tuple of the sources.
    pub ns: f64,
}

/// Predicts what a complete plan carries on the hosts of [`PlanOptions::hosts`]; others have
/// [`PlanOptions::cores`] cores each.
///
/// # Example
/// ```
/// use thalweg_planner::{PlanOptions, plan, predict};
///
/// let program = graph::Program::default();
/// let options = PlanOptions::default();
/// let plan = plan(&program, &options).expect("an empty program has a plan");
/// // Without operators nothing limits the plan.
/// assert_eq!(predict(&program, &options, None, &plan).throughput, f64::INFINITY);
/// ```
pub fn predict(
    program: &Program,
    options: &PlanOptions<'_>,
    profile: Option<&Profile>,
    plan: &Plan,
) -> PlanPrediction {
    PlanModel::new(program, options, profile).predict(plan)
}

/// A program with its loads and costs, for which plans are predicted.
pub struct PlanModel<'a> {
    /// The program whose plans are predicted.
    pub program: &'a Program,
    /// Loads of its operators and streams.
    pub loads: ProgramLoads,
    /// Units with their work, and the streams between them.
    pub graph: LoadGraph,
    /// Cores of each host.
    pub cores: HostCores,
    /// Names of the hosts that plans may put processes on, by number.
    pub host_names: Vec<&'a str>,
    /// Tuples of the sources in a nanosecond, for latencies.
    pub rate: f64,
    crossing_costs: CrossingCosts<'a>,
}

impl<'a> PlanModel<'a> {
    /// The model of a program under these options.
    pub fn new(
        program: &'a Program,
        options: &PlanOptions<'a>,
        profile: Option<&'a Profile>,
    ) -> PlanModel<'a> {
        let stream_consumers = StreamConsumers::new(program);
        let loads = ProgramLoads::new(program, &stream_consumers, profile);
        let crossing_costs = CrossingCosts::new(options, profile);
        let graph = LoadGraph::new(program, &stream_consumers, &loads, &crossing_costs);
        let fused_ns = graph.work_ns();
        let rate = match loads.source_rate {
            Some(per_second) => per_second / 1e9,
            None if fused_ns > 0.0 => 0.5 / fused_ns,
            None => 0.0,
        };
        PlanModel {
            program,
            loads,
            graph,
            cores: HostCores::new(options),
            host_names: options.hosts.iter().map(|host| host.name).collect(),
            rate,
            crossing_costs,
        }
    }

    /// Sentences on what is estimated and not measured.
    pub fn notes(&self) -> Vec<String> {
        let notes = self.loads.notes.iter().cloned();
        notes.chain(self.crossing_costs.note()).collect()
    }

    /// The choices of a complete plan.
    pub fn sketch_of(&self, plan: &Plan) -> PlanSketch {
        PlanSketch::of_plan(&self.graph, plan, &self.host_names)
    }

    /// Predicts the loads of a complete plan.
    pub fn predict(&self, plan: &Plan) -> PlanPrediction {
        let sketch = self.sketch_of(plan);
        let costs = self.costs_of(plan);
        let loads = ThreadLoads::new(&self.graph, &costs, &sketch, self.graph.units.len());
        let latency = latency_ns(&self.graph, &costs, &sketch, &loads, self.rate);
        let load = bottleneck_ns(&loads, &sketch, &self.cores);
        PlanPrediction {
            throughput: 1e9 / load,
            bottleneck: self.bottleneck(&loads, &sketch, load),
            total_ns: loads.total_ns(),
            rate: self.rate * 1e9,
            latency_ns: match self.rate * load > 1.0 {
                true => f64::INFINITY,
                false => latency,
            },
            threads: self.threads(&loads),
        }
    }

    /// Costs of the streams on the media of a plan; a stream on several media has their mean.
    pub fn costs_of(&self, plan: &Plan) -> StreamCosts {
        let mut costs = self.graph.costs.clone();
        let first = first_streams(self.program);
        let mut on_media: HashMap<(usize, MediumReach), Vec<CrossingCost>> = HashMap::new();
        let host = |pe: &PeId| plan.pes.get(pe.0 as usize).and_then(|pe| pe.host.as_ref());
        let assignment = graph::PeAssignment::new(plan, self.program.operators.len());
        for crossing in &plan.crossings {
            let OutPortId { operator, port } = crossing.from;
            let stream = first[operator.0 as usize] + port.index();
            let bytes = self.loads.stream(crossing.from).bytes;
            let from = assignment.pe_of(operator).as_ref().and_then(host);
            let is_far = crossing.to.iter().any(|to| host(to) != from);
            let reach = match is_far || crossing.rails != CrossingRails::None {
                true => MediumReach::BetweenHosts,
                false => MediumReach::WithinHost,
            };
            let medium = (&*crossing.medium, &*crossing.medium_settings);
            let of_stream = (self.program, crossing.from);
            let cost = self
                .crossing_costs
                .of_stream(of_stream, medium, reach, bytes);
            costs.is_one_to_many[stream] = self.crossing_costs.is_one_to_many(&crossing.medium);
            let reach = if is_far {
                MediumReach::BetweenHosts
            } else {
                MediumReach::WithinHost
            };
            on_media.entry((stream, reach)).or_default().push(cost);
        }
        for ((stream, reach), found) in on_media {
            let mean = |of: fn(&CrossingCost) -> f64| {
                found.iter().map(of).sum::<f64>() / found.len() as f64
            };
            let cost = CrossingCost {
                send_ns: mean(|cost| cost.send_ns),
                receive_ns: mean(|cost| cost.receive_ns),
                latency_ns: mean(|cost| cost.latency_ns),
            };
            match reach {
                MediumReach::WithinHost => costs.within[stream] = cost,
                MediumReach::BetweenHosts => costs.between[stream] = cost,
            }
        }
        costs
    }

    fn bottleneck(&self, loads: &ThreadLoads, sketch: &PlanSketch, load: f64) -> Bottleneck {
        let by_load = |(_, a): &(usize, f64), (_, b): &(usize, f64)| a.total_cmp(b);
        let threads = loads.threads.iter().map(|thread| thread.ns).enumerate();
        // Of equal ones the first.
        let busiest = threads.rev().max_by(by_load).unwrap_or_default();
        if busiest.1 >= load {
            let before = loads.threads[..busiest.0.min(loads.threads.len())].iter();
            return Bottleneck::Thread(before.filter(|thread| thread.ns > 0.0).count());
        }
        let pes = loads.threads.iter().map(|thread| thread.pe);
        let host_ns = |pe: &u32| {
            let host = sketch.host(*pe);
            loads.host_ns(sketch, host) / self.cores.of(host)
        };
        let pe = pes.max_by(|a, b| host_ns(a).total_cmp(&host_ns(b)).then(b.cmp(a)));
        Bottleneck::Host(PeId(pe.unwrap_or_default()))
    }

    /// The threads that run anything, with the names that the plan's text has for them.
    fn threads(&self, loads: &ThreadLoads) -> Vec<PredictedThread> {
        let mut operators: Vec<Vec<(OperatorId, f64)>> = vec![Vec::new(); loads.threads.len()];
        for (unit, shares) in self.graph.units.iter().zip(&loads.shares) {
            for (thread, part) in shares.parts() {
                operators[thread].extend(unit.operators.iter().map(|&id| (id, part)));
            }
        }
        let threads = loads.threads.iter().zip(operators);
        let threads = threads.filter(|(thread, _)| thread.ns > 0.0);
        let threads = threads.map(|(thread, mut operators)| {
            operators.sort_unstable_by_key(|(id, _)| *id);
            PredictedThread {
                name: self.thread_name(thread.start),
                pe: PeId(thread.pe),
                operators,
                ns: thread.ns,
            }
        });
        threads.collect()
    }

    fn thread_name(&self, start: LoadedThreadStart) -> String {
        let unit_name = |unit: usize| {
            let id = self.graph.units[unit].operators[0];
            self.program.operators[id.0 as usize].name.to_string()
        };
        match start {
            LoadedThreadStart::Source(unit) => format!("source {}", unit_name(unit)),
            LoadedThreadStart::Unit(unit) => format!("operator {}", unit_name(unit)),
            LoadedThreadStart::Merge(unit) => format!("merge of {}", unit_name(unit)),
            LoadedThreadStart::Receiver(stream) => {
                let name = self.program.stream_name(self.graph.streams[stream].id);
                format!("receiver of {name}")
            }
            LoadedThreadStart::Queue(port) => {
                let port = &self.graph.ports[port];
                format!("queue of {}.{}", unit_name(port.unit), port.id.port)
            }
        }
    }
}

/// Nanoseconds that a tuple of the sources takes at the bottleneck: of the busiest thread, or of
/// the busiest host with its cores.
pub fn bottleneck_ns(loads: &ThreadLoads, sketch: &PlanSketch, cores: &HostCores) -> f64 {
    let hosts = sketch.host_of.iter().copied().max().unwrap_or_default();
    let of_hosts = (0..=hosts).map(|host| loads.host_ns(sketch, host) / cores.of(host));
    of_hosts.fold(loads.busiest_ns(), f64::max)
}
