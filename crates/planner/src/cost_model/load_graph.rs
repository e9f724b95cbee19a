//! A program as the cost model sees it: units with their work, and the streams between them.

use graph::{InPortId, OperatorId, OutPortId, PortIndex, Program};

use super::crossing_cost::{CrossingCost, CrossingCosts};
use super::origin_bits::OriginBits;
use super::program_loads::ProgramLoads;
use crate::calibration::MediumReach;
use crate::streams::{OperatorUnits, StreamConsumers};
use crate::threaded_ports::{begins_channel, configured_ports};

/// Units and streams of a program with their loads, for one tuple of its sources.
pub struct LoadGraph {
    /// The units, upstream first: an operator each, or the operators of a loop.
    pub units: Vec<LoadUnit>,
    /// The unit of each operator.
    pub unit_of: Vec<usize>,
    /// The input ports of all operators, in order of the program.
    pub ports: Vec<LoadPort>,
    /// The streams of all operators, in order of the program.
    pub streams: Vec<LoadStream>,
    /// Costs of the streams on the media that they probably get.
    pub costs: StreamCosts,
}

/// A unit with its work.
pub struct LoadUnit {
    /// The operators of the unit, in order of the program.
    pub operators: Vec<OperatorId>,
    /// Processor time of all operators in nanoseconds.
    pub work_ns: f64,
    /// Processor time of a tuple in nanoseconds.
    pub tuple_ns: f64,
    /// Streams from other units.
    pub inputs: Vec<LoadInput>,
    /// Whether the unit is a source, which has a thread.
    pub is_source: bool,
    /// Whether the unit submits from a thread of its own.
    pub has_own_thread: bool,
    /// The origins of the tuples that the unit submits.
    pub origins: OriginBits,
}

/// A stream from one unit to another.
pub struct LoadInput {
    /// The unit that submits.
    pub from: usize,
    /// Index of the stream in [`LoadGraph::streams`].
    pub stream: usize,
    /// Index of the port in [`LoadGraph::ports`].
    pub port: usize,
}

/// An input port and its queue.
pub struct LoadPort {
    /// The port in the program.
    pub id: InPortId,
    /// The unit of the port's operator.
    pub unit: usize,
    /// The origin that the port's queue is, if config asks for one.
    pub declared: Option<OriginBits>,
    /// Whether the port has a queue whenever its streams come from the same process.
    pub is_always_queued: bool,
    /// Whether the plan may give the port a queue.
    pub may_be_queued: bool,
}

/// A stream with its load.
pub struct LoadStream {
    /// The output port in the program.
    pub id: OutPortId,
    /// Tuples for one tuple of the sources.
    pub tuples: f64,
}

/// Costs of each stream of a [`LoadGraph`], by the way that it takes.
#[derive(Clone)]
pub struct StreamCosts {
    /// Through a queue or to a merge of the same process.
    pub ring: Vec<CrossingCost>,
    /// To another process of the host.
    pub within: Vec<CrossingCost>,
    /// To a process of another host.
    pub between: Vec<CrossingCost>,
    /// Whether one write serves all receivers.
    pub is_one_to_many: Vec<bool>,
}

impl LoadGraph {
    /// The units and streams of a program.
    pub fn new(
        program: &Program,
        stream_consumers: &StreamConsumers,
        loads: &ProgramLoads,
        crossing_costs: &CrossingCosts<'_>,
    ) -> LoadGraph {
        let OperatorUnits {
            operators_of,
            unit_of,
        } = OperatorUnits::new(program, stream_consumers);
        let mut first_ports = Vec::with_capacity(program.operators.len());
        let mut ports = Vec::new();
        for (id, operator) in (0..).map(OperatorId).zip(&program.operators) {
            first_ports.push(ports.len());
            let declared: Vec<PortIndex> = configured_ports(id, operator)
                .map(|queue| queue.port)
                .collect();
            for (port, input) in (0..).map(PortIndex).zip(&operator.inputs) {
                let unit = unit_of[id.0 as usize];
                let mut sources = input.sources.iter();
                let is_declared = declared.contains(&port);
                let is_fed_back = sources.any(|from| unit_of[from.operator.0 as usize] == unit);
                let may_be_queued = !input.sources.is_empty() && !is_fed_back;
                let begins = may_be_queued && begins_channel(program, input);
                ports.push(LoadPort {
                    id: InPortId { operator: id, port },
                    unit,
                    // Numbers of origins: those of operators first.
                    declared: is_declared
                        .then(|| OriginBits::one(program.operators.len() + ports.len())),
                    is_always_queued: is_declared || begins,
                    may_be_queued,
                });
            }
        }
        let mut graph = LoadGraph {
            units: Vec::with_capacity(operators_of.len()),
            streams: streams(program, loads),
            costs: StreamCosts::likely(program, loads, crossing_costs),
            unit_of,
            ports,
        };
        let first_streams = first_streams(program);
        for operators in operators_of {
            let unit = graph.unit(program, loads, operators, (&first_ports, &first_streams));
            graph.units.push(unit);
        }
        graph
    }

    /// A unit whose inputs come from units that are there already.
    fn unit(
        &self,
        program: &Program,
        loads: &ProgramLoads,
        operators: Vec<OperatorId>,
        (first_ports, first_streams): (&[usize], &[usize]),
    ) -> LoadUnit {
        let at = self.units.len();
        let nodes = || operators.iter().map(|id| &program.operators[id.0 as usize]);
        let mut unit = LoadUnit {
            work_ns: operators.iter().map(|&id| loads.operator(id).ns()).sum(),
            tuple_ns: operators
                .iter()
                .map(|&id| loads.operator(id).tuple_ns)
                .sum(),
            inputs: Vec::new(),
            is_source: nodes().all(|node| node.inputs.is_empty()),
            has_own_thread: nodes().any(|node| node.has_own_thread && !node.inputs.is_empty()),
            origins: OriginBits::default(),
            operators: Vec::new(),
        };
        for (&id, node) in operators.iter().zip(nodes()) {
            let is_origin = node.inputs.is_empty() || node.has_own_thread || node.timers.submit();
            if is_origin {
                unit.origins.add(&OriginBits::one(id.0 as usize));
            }
            for (port, input) in (first_ports[id.0 as usize]..).zip(&node.inputs) {
                for from in &input.sources {
                    let from_unit = self.unit_of[from.operator.0 as usize];
                    if from_unit == at {
                        continue;
                    }
                    let stream = first_streams[from.operator.0 as usize] + from.port.index();
                    unit.inputs.push(LoadInput {
                        from: from_unit,
                        stream,
                        port,
                    });
                    if !unit.has_own_thread {
                        let declared = self.ports[port].declared.as_ref();
                        let origins = declared.unwrap_or(&self.units[from_unit].origins);
                        unit.origins.add(origins);
                    }
                }
            }
        }
        unit.operators = operators;
        unit
    }

    /// The origins of the tuples that an input brings.
    pub fn input_origins(&self, input: &LoadInput) -> &OriginBits {
        let declared = self.ports[input.port].declared.as_ref();
        declared.unwrap_or(&self.units[input.from].origins)
    }

    /// Processor time of all units in nanoseconds, without crossings.
    pub fn work_ns(&self) -> f64 {
        self.units.iter().map(|unit| unit.work_ns).sum()
    }
}

/// Index of the first stream of each operator.
pub fn first_streams(program: &Program) -> Vec<usize> {
    let mut next = 0;
    let operators = program.operators.iter();
    let first = operators.map(|operator| {
        next += operator.outputs.len();
        next - operator.outputs.len()
    });
    first.collect()
}

/// Output ports of all operators, in order.
fn stream_ids(program: &Program) -> impl Iterator<Item = OutPortId> + '_ {
    let operators = (0..).map(OperatorId).zip(&program.operators);
    operators.flat_map(|(operator, node)| {
        let ports = (0..node.outputs.len() as u32).map(PortIndex);
        ports.map(move |port| OutPortId { operator, port })
    })
}

fn streams(program: &Program, loads: &ProgramLoads) -> Vec<LoadStream> {
    let streams = stream_ids(program).map(|id| LoadStream {
        id,
        tuples: loads.stream(id).tuples,
    });
    streams.collect()
}

impl StreamCosts {
    /// Costs on the media that streams probably get, before there is a plan.
    fn likely(
        program: &Program,
        loads: &ProgramLoads,
        crossing_costs: &CrossingCosts<'_>,
    ) -> StreamCosts {
        let mut costs = StreamCosts {
            ring: Vec::new(),
            within: Vec::new(),
            between: Vec::new(),
            is_one_to_many: Vec::new(),
        };
        for id in stream_ids(program) {
            let bytes = loads.stream(id).bytes;
            let of_reach = |reach| {
                let medium = crossing_costs.likely_medium(reach, bytes);
                crossing_costs.of_stream((program, id), (medium, ""), reach, bytes)
            };
            let near = crossing_costs.likely_medium(MediumReach::WithinHost, bytes);
            costs.ring.push(crossing_costs.ring(bytes));
            costs.within.push(of_reach(MediumReach::WithinHost));
            costs.between.push(of_reach(MediumReach::BetweenHosts));
            costs
                .is_one_to_many
                .push(crossing_costs.is_one_to_many(near));
        }
        costs
    }
}
