//! The topology of a PE: edges between ports, threads, loops.

use std::sync::Arc;

use graph::{OperatorModel, Program};

use crate::abi::Counter;
use crate::assembly::operator_factory::ConstructedOperator;
use crate::assembly::thread_analysis::{ThreadAnalysis, ThreadStart};
use crate::blocking::pe_thread::PeThreadId;
use crate::counters::punctuation_counters::PunctuationCounters;
use crate::execution::port_state::{ConsumerPort, OutputPortState, WatermarkEdge};

/// Edges, threads and loops of a PE. All vectors but `topological_order` are indexed by operator.
pub(crate) struct PeTopology {
    pub outs: Vec<Box<[OutputPortState]>>,
    /// By operator and output port: the consumers of its watermarks.
    pub watermark_edges: Vec<Box<[Box<[WatermarkEdge]>]>>,
    pub processed: Vec<Arc<[Counter]>>,
    pub punctuation: Vec<Arc<[PunctuationCounters]>>,
    /// Threads that enter the operator.
    pub entering_threads: Vec<Vec<PeThreadId>>,
    /// Threads that enter the operator, and the thread that the operator itself runs on.
    pub threads: Vec<Box<[PeThreadId]>>,
    /// Number of the loop that the operator stands in. A loop with an operator that submits from a
    /// thread of its own does not count.
    pub loops: Vec<Option<u32>>,
    /// Whether the operator submits from a thread of its own, and a tuple that it submits may come
    /// back to it, on whatever threads.
    pub is_in_threaded_loop: Vec<bool>,
    /// All operators, upstream before downstream.
    pub topological_order: Vec<u32>,
    /// Number of threads. Those of sources come first, in order of the operators; one for all
    /// timers is the last.
    pub thread_count: u32,
}

impl PeTopology {
    /// Topology of a program whose operators exist.
    pub fn new(program: &Program, constructed: &[ConstructedOperator<'_>]) -> PeTopology {
        let consumers = consumer_ports(program);
        let own_thread: Vec<bool> = constructed
            .iter()
            .map(|m| m.requirements.own_thread)
            .collect();
        let analysis = ThreadAnalysis {
            consumers: &consumers,
            own_thread: &own_thread,
        };
        let (starts, thread_count) = thread_starts(constructed);
        let entered = analysis.entering_threads(&starts);
        let threads = threads_by_operator(&entered, &starts);
        let (loops, order) = (analysis.loops(), analysis.topological_order());
        let counters = |operator: &graph::OperatorNode| {
            let ports = operator.inputs.iter();
            ports.map(|_| Counter::default()).collect()
        };
        let inputs = program.operators.iter().map(|o| o.inputs.len());
        let marks = inputs.map(PunctuationCounters::for_ports);
        PeTopology {
            processed: program.operators.iter().map(counters).collect(),
            punctuation: marks.collect(),
            entering_threads: entered,
            threads,
            loops,
            is_in_threaded_loop: analysis.in_threaded_loops(),
            topological_order: order,
            thread_count,
            watermark_edges: watermark_edges(program),
            outs: consumers.into_iter().map(output_port_states).collect(),
        }
    }
}

fn output_port_states(ports: Vec<Vec<ConsumerPort>>) -> Box<[OutputPortState]> {
    let port = |consumers: Vec<ConsumerPort>| OutputPortState {
        consumers: consumers.into(),
        ..OutputPortState::default()
    };
    ports.into_iter().map(port).collect()
}

/// The consumers of each output port, in order of the program.
fn consumer_ports(program: &Program) -> Vec<Vec<Vec<ConsumerPort>>> {
    let operators = program.operators.iter();
    let mut consumers: Vec<_> = operators
        .map(|o| vec![Vec::new(); o.outputs.len()])
        .collect();
    for (index, operator) in (0..).zip(&program.operators) {
        for (port, input) in (0..).zip(&operator.inputs) {
            for (source, edge) in (0..).zip(&input.sources) {
                let ports = &mut consumers[edge.operator.0 as usize];
                ports[edge.port as usize].push(ConsumerPort {
                    skips_window_markers: input.sources_without_markers.contains(&source),
                    ..ConsumerPort::new(index, port)
                });
            }
        }
    }
    consumers
}

/// Consumers of the watermarks of each output port.
fn watermark_edges(program: &Program) -> Vec<Box<[Box<[WatermarkEdge]>]>> {
    let operators = program.operators.iter();
    let none = |operator: &graph::OperatorNode| match operator.clock {
        Some(_) => vec![Vec::new(); operator.outputs.len()],
        None => Vec::new(),
    };
    let mut edges: Vec<Vec<Vec<WatermarkEdge>>> = operators.map(none).collect();
    for (index, operator) in (0..).zip(&program.operators) {
        for (port, input) in (0..).zip(&operator.inputs) {
            for (stream, edge) in (0..).zip(program.watermarked_sources(input)) {
                let to = ConsumerPort::new(index, port);
                let of = &mut edges[edge.operator.0 as usize][edge.port as usize];
                of.push(WatermarkEdge {
                    consumer: to,
                    stream,
                });
            }
        }
    }
    let boxed = |ports: Vec<Vec<WatermarkEdge>>| ports.into_iter().map(Into::into).collect();
    edges.into_iter().map(boxed).collect()
}

/// Operator at which each thread begins, and the number of threads.
fn thread_starts(constructed: &[ConstructedOperator<'_>]) -> (Vec<ThreadStart>, u32) {
    let mut starts = Vec::new();
    for one in constructed.iter().filter(|one| one.source_thread.is_some()) {
        starts.push(ThreadStart {
            thread: starts.len() as PeThreadId,
            operator: one.index,
            enters: one.operator.inputs.is_empty(),
        });
    }
    let mut count = starts.len() as u32;
    let timed: Vec<_> = constructed
        .iter()
        .filter(|one| !one.requirements.timers.is_empty())
        .collect();
    starts.extend(timed.iter().map(|one| ThreadStart {
        thread: count,
        operator: one.index,
        enters: true,
    }));
    count += u32::from(!timed.is_empty());
    (starts, count)
}

fn threads_by_operator(
    entered: &[Vec<PeThreadId>],
    starts: &[ThreadStart],
) -> Vec<Box<[PeThreadId]>> {
    let all = (0..).zip(entered).map(|(index, entered)| {
        let own = starts.iter().filter(|start| start.operator == index);
        let own = own
            .map(|start| start.thread)
            .filter(|t| !entered.contains(t));
        entered.iter().copied().chain(own).collect()
    });
    all.collect()
}

/// The model of an output port, whichever set it belongs to.
pub(crate) fn output_port_model(
    model: &OperatorModel,
    port: usize,
) -> Option<&graph::OutPortModel> {
    let mut left = port;
    for set in model.outputs {
        let count = match set.count {
            graph::Cardinality::Exactly(count) => count as usize,
            graph::Cardinality::Optional => 1,
            graph::Cardinality::Any => usize::MAX,
        };
        if left < count {
            return Some(set);
        }
        left -= count;
    }
    None
}
