//! The profile of a PE: what was observed, with the names of the program and the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{
    CrossingId, Expr, ExprKind, OperatorNode, ParamValue, PeId, Plan, Program, inserted_operators,
};
use planner::{
    CrossingProfile, OperatorProfile, Profile, QueueProfile, StreamProfile, ThreadProfile,
};
use runtime::crossing::{CrossingCounters, CrossingSide, QueueCounters};
use runtime::{CpuSamples, OperatorCounts};
use tuple::Value;

use super::sample_counts::SampleCounts;
use super::stream_rates::StreamRates;
use crate::calibration_file::processor;
use crate::plan::usable_core_count;

/// The names in a PE's part of a program.
pub struct PartNames {
    /// Number of the PE.
    pub pe: PeId,
    /// Name of the whole program.
    pub program_name: Arc<str>,
    /// The operators of the part.
    pub operators: Vec<OperatorNode>,
    /// Streams and media of the crossings, by id; empty for the only PE of a plan.
    pub crossings: Vec<(String, u32, String)>,
    /// The machine's processor, and the number of cores that the PE may use.
    pub machine: (String, u32),
}

/// Observations of a PE from its start to its end.
pub struct PeObservations<'a> {
    /// Counts of every operator of the part.
    pub operators: &'a [OperatorCounts],
    /// Counters of its ends of crossings.
    pub crossings: &'a [Arc<CrossingCounters>],
    /// Counters of its queues.
    pub queues: &'a [Arc<QueueCounters>],
    /// By thread: processor time, and samples.
    pub threads: &'a [(Arc<CpuSamples>, SampleCounts)],
    /// Rates of all output ports of the operators, one after the other.
    pub rates: &'a StreamRates,
    /// How long the PE has run.
    pub seconds: f64,
}

impl PartNames {
    /// The names in the part of a plan's PE, with those of the whole program.
    pub fn new(
        part: &Program,
        (pe, machine): (PeId, (String, u32)),
        whole: Option<(&Plan, &Program)>,
    ) -> PartNames {
        let crossings = whole.map_or(Vec::new(), |(plan, program)| {
            let stream = |crossing: &graph::Crossing| {
                let operator = &program.operators[crossing.from.operator.0 as usize];
                let medium = crossing.medium.to_string();
                (operator.name.to_string(), crossing.from.port.0, medium)
            };
            plan.crossings.iter().map(stream).collect()
        });
        PartNames {
            pe,
            program_name: whole
                .map_or(&part.name, |(_, program)| &program.name)
                .clone(),
            operators: part.operators.clone(),
            crossings,
            machine,
        }
    }

    /// The profile of the PE.
    pub fn profile(&self, seen: &PeObservations<'_>) -> Profile {
        let cpu_ns = self.cpu_ns(seen.threads);
        Profile {
            program: self.program_name.to_string(),
            processor: self.machine.0.clone(),
            cores: self.machine.1,
            runs: 1,
            seconds: seen.seconds,
            operators: self.operator_profiles(seen, &cpu_ns),
            streams: self.stream_profiles(seen),
            crossings: self.crossing_profiles(seen, &cpu_ns),
            queues: self.queue_profiles(seen),
            threads: self.thread_profiles(seen),
        }
    }

    /// By operator of the part: processor time of its own code.
    fn cpu_ns(&self, threads: &[(Arc<CpuSamples>, SampleCounts)]) -> Vec<f64> {
        let mut times = vec![0.0; self.operators.len()];
        for (samples, counts) in threads {
            let each = samples.cpu_ns() as f64 / counts.total().max(1) as f64;
            for (&operator, &count) in &counts.operators {
                if let Some(time) = times.get_mut(operator as usize) {
                    *time += each * count as f64;
                }
            }
        }
        times
    }

    /// Operators of the program with their numbers in the part.
    fn own_operators(&self) -> impl Iterator<Item = (usize, &OperatorNode)> {
        let operators = self.operators.iter().enumerate();
        operators.filter(|(_, operator)| !is_inserted(operator))
    }

    fn operator_profiles(&self, seen: &PeObservations<'_>, cpu_ns: &[f64]) -> Vec<OperatorProfile> {
        let mut times = cpu_ns.to_vec();
        // What makes an operator's watermarks is a part of it.
        for (at, operator) in self.operators.iter().enumerate() {
            if *operator.kind == *inserted_operators::WATERMARKS
                && let Some(of) = first_source(operator)
            {
                times[of] += times[at];
            }
        }
        let profiles = self.own_operators().map(|(at, operator)| {
            let counts = &seen.operators[at];
            let tuples = match operator.inputs.is_empty() {
                true => &counts.submitted,
                false => &counts.processed,
            };
            let bytes = counts
                .metrics
                .iter()
                .find(|(name, _)| name == "nStateBytes");
            OperatorProfile {
                operator: operator.name.to_string(),
                kind: operator
                    .kind
                    .rsplit("::")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                tuples: tuples.iter().sum(),
                cpu_ns: times[at] as u64,
                state_bytes: bytes.map_or(0, |(_, bytes)| (*bytes).max(0) as u64),
            }
        });
        profiles.collect()
    }

    fn stream_profiles(&self, seen: &PeObservations<'_>) -> Vec<StreamProfile> {
        let mut profiles = Vec::new();
        // Place of an operator's first port among all ports of the part.
        let mut first_port = 0;
        for (operator, counts) in self.operators.iter().zip(seen.operators) {
            let ports = operator.outputs.iter().zip(&counts.submitted).enumerate();
            for (port, (out, &tuples)) in ports.filter(|_| !is_inserted(operator)) {
                profiles.push(StreamProfile {
                    operator: operator.name.to_string(),
                    port: port as u32,
                    tuples,
                    bytes: tuples.saturating_mul(planner::tuple_bytes(&out.schema)),
                    peak_per_second: seen.rates.peak(first_port + port),
                });
            }
            first_port += counts.submitted.len();
        }
        profiles
    }

    fn crossing_profiles(&self, seen: &PeObservations<'_>, cpu_ns: &[f64]) -> Vec<CrossingProfile> {
        let mut profiles: BTreeMap<CrossingId, CrossingProfile> = BTreeMap::new();
        for (id, (operator, port, medium)) in self.crossings.iter().enumerate() {
            let profile = CrossingProfile {
                operator: operator.clone(),
                port: *port,
                medium: medium.clone(),
                ..CrossingProfile::default()
            };
            profiles.insert(CrossingId(id as u32), profile);
        }
        let mut received = BTreeMap::new();
        for counters in seen.crossings {
            let Some(profile) = profiles.get_mut(&counters.crossing) else {
                continue;
            };
            match counters.side {
                CrossingSide::Sender => {
                    profile.frames = counters.frames();
                    profile.bytes = counters.bytes();
                }
                CrossingSide::Receiver => {
                    received.insert(counters.crossing, counters.frames());
                }
            }
        }
        for (operator, &ns) in self.operators.iter().zip(cpu_ns) {
            let crossings = crossings_of(operator);
            if *operator.kind == *inserted_operators::SEND {
                let sent = crossings.first().and_then(|id| profiles.get_mut(id));
                sent.into_iter()
                    .for_each(|profile| profile.send_ns += ns as u64);
                continue;
            }
            // A receiver of several streams takes as long for each frame of any.
            let frames = |id: &CrossingId| received.get(id).copied().unwrap_or_default() as f64;
            let all: f64 = crossings.iter().map(frames).sum();
            for id in &crossings {
                if let Some(profile) = profiles.get_mut(id).filter(|_| all > 0.0) {
                    profile.receive_ns += (ns * frames(id) / all) as u64;
                }
            }
        }
        let mine = |id: &CrossingId| {
            seen.crossings
                .iter()
                .any(|counters| counters.crossing == *id)
        };
        profiles
            .into_iter()
            .filter(|(id, _)| mine(id))
            .map(|(_, profile)| profile)
            .collect()
    }

    fn queue_profiles(&self, seen: &PeObservations<'_>) -> Vec<QueueProfile> {
        let profiles = seen.queues.iter().filter_map(|counters| {
            let at = self
                .operators
                .iter()
                .position(|one| one.name == counters.operator)?;
            let (operator, port) = self.consumer(at)?;
            Some(QueueProfile {
                operator: operator.name.to_string(),
                port,
                tuples: seen.operators[at].submitted.iter().sum(),
                full_ns: counters.wait_ns(),
                empty_ns: counters.idle_ns(),
            })
        });
        profiles.collect()
    }

    /// The operator and the port behind a queue.
    fn consumer(&self, queue: usize) -> Option<(&OperatorNode, u32)> {
        self.operators.iter().find_map(|operator| {
            let is_fed = |port: &graph::InPort| {
                port.sources
                    .iter()
                    .any(|from| from.operator.0 as usize == queue)
            };
            let port = operator.inputs.iter().position(is_fed)?;
            Some((operator, port as u32))
        })
    }

    fn thread_profiles(&self, seen: &PeObservations<'_>) -> Vec<ThreadProfile> {
        let profiles = seen
            .threads
            .iter()
            .enumerate()
            .map(|(number, (samples, counts))| {
                let each = samples.cpu_ns() as f64 / counts.total().max(1) as f64;
                let busy: u64 = counts.operators.values().sum();
                ThreadProfile {
                    thread: format!("{}.{number}", self.pe.0),
                    busy_ns: (each * busy as f64) as u64,
                    polling_ns: (each * counts.polling as f64) as u64,
                }
            });
        profiles.collect()
    }
}

/// The name of this machine's processor, and the number of cores that the process may use.
pub fn machine() -> (String, u32) {
    (processor(), usable_core_count())
}

fn is_inserted(operator: &OperatorNode) -> bool {
    operator.kind.starts_with("thalweg.")
}

/// Number in the part of the operator that feeds an operator's first port.
fn first_source(operator: &OperatorNode) -> Option<usize> {
    let from = operator.inputs.first()?.sources.first()?;
    Some(from.operator.0 as usize)
}

/// The crossings of an operator that sends or receives.
fn crossings_of(operator: &OperatorNode) -> Vec<CrossingId> {
    if !is_inserted(operator) {
        return Vec::new();
    }
    let param = operator
        .params
        .iter()
        .find(|param| &*param.name == "crossing");
    let ParamValue::Exprs(values) = (match param {
        Some(param) => &param.value,
        None => return Vec::new(),
    }) else {
        return Vec::new();
    };
    let id = |value: &Expr| match value.kind {
        ExprKind::Const(Value::Uint32(id)) => Some(CrossingId(id)),
        _ => None,
    };
    values.iter().filter_map(id).collect()
}
