//! Loads of a program's operators and streams, for one tuple of its sources.
//!
//! A profile's numbers are taken where it has them. An operator that the profile does not know has
//! the mean time of its kind there, else a static estimate; so have all operators without a
//! profile. Rates follow from those upstream by the selectivities of [`super::static_estimate`],
//! unless the profile has counted the tuples.
//!
//! ```text
//!   tuples of an operator = counted tuples / tuples of all sources
//!   time of an operator   = tuples × nanoseconds a tuple
//! ```

use std::collections::HashMap;

use graph::{OperatorId, OutPortId, PortIndex, Program};

use super::static_estimate::{selectivity, short_kind, tuple_ns};
use crate::profile::{OperatorProfile, Profile, StreamProfile};
use crate::schema_bytes::tuple_bytes;
use crate::streams::{OperatorUnits, StreamConsumers};

/// The load of an operator, for one tuple of all sources together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatorLoad {
    /// Tuples that the operator processes; of a source, those that it submits.
    pub tuples: f64,
    /// Processor time of a tuple in nanoseconds.
    pub tuple_ns: f64,
    /// Whence the time of a tuple is known.
    pub basis: LoadBasis,
}

/// Whence the time of an operator is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadBasis {
    /// The profile has the operator.
    Profile,
    /// The profile has other operators of its kind.
    KindInProfile,
    /// The kind and the expressions of the operator.
    Static,
}

/// The load of a stream, for one tuple of all sources together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamLoad {
    /// Tuples that are submitted.
    pub tuples: f64,
    /// Mean bytes of a tuple's attributes.
    pub bytes: f64,
}

/// The loads of a program.
#[derive(Clone, Debug, Default)]
pub struct ProgramLoads {
    /// Loads by operator, in order of the program.
    pub operators: Vec<OperatorLoad>,
    /// Loads by operator and output port.
    pub streams: Vec<Vec<StreamLoad>>,
    /// Tuples a second of all sources together in the profile; `None` without one.
    pub source_rate: Option<f64>,
    /// Sentences on what is estimated and not measured.
    pub notes: Vec<String>,
}

impl ProgramLoads {
    /// The loads of a program, from a profile if there is one.
    pub fn new(
        program: &Program,
        stream_consumers: &StreamConsumers,
        profile: Option<&Profile>,
    ) -> ProgramLoads {
        let estimate = LoadEstimate::new(program, profile);
        let mut loads = ProgramLoads {
            operators: Vec::with_capacity(program.operators.len()),
            streams: Vec::with_capacity(program.operators.len()),
            source_rate: estimate.source_rate(),
            notes: estimate.notes(),
        };
        for operator in &program.operators {
            let (tuple_ns, basis) = estimate.time(operator);
            loads.operators.push(OperatorLoad {
                tuples: 0.0,
                tuple_ns,
                basis,
            });
            loads
                .streams
                .push(vec![StreamLoad::default(); operator.outputs.len()]);
        }
        let units = OperatorUnits::new(program, stream_consumers);
        for &id in units.operators_of.iter().flatten() {
            estimate.add_rates(id, &mut loads);
        }
        loads
    }

    /// The load of an operator.
    pub fn operator(&self, id: OperatorId) -> OperatorLoad {
        self.operators[id.0 as usize]
    }

    /// The load of a stream; nothing for a stream that the program does not have.
    pub fn stream(&self, stream: OutPortId) -> StreamLoad {
        let ports = self.streams.get(stream.operator.0 as usize);
        let load = ports.and_then(|ports| ports.get(stream.port.index()));
        load.copied().unwrap_or_default()
    }
}

impl OperatorLoad {
    /// Processor time of the operator in nanoseconds, for one tuple of the sources.
    pub fn ns(&self) -> f64 {
        self.tuples * self.tuple_ns
    }
}

/// A program beside the profile that its loads are taken from.
struct LoadEstimate<'a> {
    program: &'a Program,
    profile: Option<&'a Profile>,
    operators: HashMap<&'a str, &'a OperatorProfile>,
    streams: HashMap<(&'a str, u32), &'a StreamProfile>,
    /// Mean nanoseconds of a tuple by kind, without namespaces.
    kind_ns: HashMap<&'a str, f64>,
    sources: usize,
    /// Tuples of all sources in the profile; 0 without one.
    source_tuples: f64,
}

impl<'a> LoadEstimate<'a> {
    fn new(program: &'a Program, profile: Option<&'a Profile>) -> LoadEstimate<'a> {
        let lines = profile.map_or(&[][..], |profile| &profile.operators);
        let operators: HashMap<&str, &OperatorProfile> =
            lines.iter().map(|line| (&*line.operator, line)).collect();
        let mut sums: HashMap<&str, (u64, u64)> = HashMap::new();
        for line in lines.iter().filter(|line| line.tuples > 0) {
            let sum = sums.entry(&line.kind).or_default();
            *sum = (
                sum.0.saturating_add(line.cpu_ns),
                sum.1.saturating_add(line.tuples),
            );
        }
        let mean = |(kind, (ns, tuples)): (&'a str, (u64, u64))| (kind, ns as f64 / tuples as f64);
        let sources = program.operators.iter().filter(|one| one.inputs.is_empty());
        let of_profile = sources.clone().filter_map(|one| operators.get(&*one.name));
        let streams = profile.map_or(&[][..], |profile| &profile.streams).iter();
        LoadEstimate {
            program,
            profile,
            source_tuples: of_profile.map(|line| line.tuples as f64).sum(),
            streams: streams
                .map(|line| ((&*line.operator, line.port), line))
                .collect(),
            kind_ns: sums.into_iter().map(mean).collect(),
            sources: sources.count(),
            operators,
        }
    }

    /// Whether rates are those that the profile has counted.
    fn is_counted(&self) -> bool {
        self.source_tuples > 0.0
    }

    fn source_rate(&self) -> Option<f64> {
        let seconds = self.profile.map_or(0.0, |profile| profile.seconds);
        (seconds > 0.0 && self.is_counted()).then(|| self.source_tuples / seconds)
    }

    /// Nanoseconds of a tuple in an operator.
    fn time(&self, operator: &graph::OperatorNode) -> (f64, LoadBasis) {
        let line = self.operators.get(&*operator.name);
        if let Some(ns) = line.and_then(|line| line.tuple_ns()) {
            return (ns, LoadBasis::Profile);
        }
        if line.is_some() && self.is_counted() {
            // No tuple has come to it, so its time does not count.
            return (tuple_ns(operator), LoadBasis::Profile);
        }
        match self.kind_ns.get(short_kind(&operator.kind)) {
            Some(ns) => (*ns, LoadBasis::KindInProfile),
            None => (tuple_ns(operator), LoadBasis::Static),
        }
    }

    /// Adds the tuples of an operator and of its streams, when those upstream are known.
    fn add_rates(&self, id: OperatorId, loads: &mut ProgramLoads) {
        let operator = &self.program.operators[id.0 as usize];
        let is_counted = self.is_counted();
        let line = self.operators.get(&*operator.name).filter(|_| is_counted);
        let tuples = match line {
            Some(line) => line.tuples as f64 / self.source_tuples,
            None if operator.inputs.is_empty() => 1.0 / self.sources.max(1) as f64,
            None => {
                let sources = operator.inputs.iter().flat_map(|input| &input.sources);
                sources.map(|&from| loads.stream(from).tuples).sum()
            }
        };
        loads.operators[id.0 as usize].tuples = tuples;
        for (port, output) in (0..).map(PortIndex).zip(&operator.outputs) {
            let line = self
                .streams
                .get(&(&*operator.name, port.0))
                .filter(|_| is_counted);
            let bytes = line.and_then(|line| line.tuple_bytes());
            loads.streams[id.0 as usize][port.index()] = StreamLoad {
                tuples: match line {
                    Some(line) => line.tuples as f64 / self.source_tuples,
                    None => tuples * selectivity(operator),
                },
                bytes: bytes.unwrap_or_else(|| tuple_bytes(&output.schema) as f64),
            };
        }
    }

    fn notes(&self) -> Vec<String> {
        let Some(profile) = self.profile else {
            return vec![
                "without a profile the costs of operators are estimated from their kinds and \
                 expressions; `--use-profile` takes those that a run has shown"
                    .to_owned(),
            ];
        };
        let mut notes = Vec::new();
        if *profile.program != *self.program.name {
            notes.push(format!(
                "the profile is of the program `{}`, not of `{}`; operators of the same names are \
                 taken to be the same",
                profile.program, self.program.name
            ));
        }
        if !self.is_counted() {
            notes.push(
                "the profile has no tuples of the program's sources, so all rates are estimated"
                    .to_owned(),
            );
        }
        let names = self
            .program
            .operators
            .iter()
            .map(|operator| &*operator.name);
        let unknown: Vec<&str> = names
            .clone()
            .filter(|name| !self.operators.contains_key(name))
            .collect();
        if let Some(first) = unknown.first() {
            let others = match unknown.len() {
                1 => String::new(),
                count => format!(" and {} more operators", count - 1),
            };
            notes.push(format!(
                "the profile has no line for `{first}`{others}: estimated from operators of their \
                 kinds"
            ));
        }
        let known: std::collections::HashSet<&str> = names.collect();
        let gone = profile.operators.iter();
        let gone: Vec<_> = gone
            .filter(|line| !known.contains(&*line.operator))
            .collect();
        if let Some(first) = gone.first() {
            notes.push(format!(
                "the program has no operator `{}`, which the profile has ({} such lines)",
                first.operator,
                gone.len()
            ));
        }
        notes
    }
}
