//! The topology of a PE: edges between ports, as its program says, and threads and loops, as its
//! plan says.

use std::sync::Arc;

use graph::{
    OperatorId, OperatorModel, PeThreadId, PeThreads, PortIndex, Program, ThreadStartPoint,
};

use crate::abi::Counter;
use crate::assembly::operator_factory::ConstructedOperator;
use crate::counters::punctuation_counters::PunctuationCounters;
use crate::execution::port_state::{ConsumerPort, OutputPortState, WatermarkEdge};

/// Edges, threads, loops and chains of a PE. All vectors but `topological_order` are indexed by
/// operator.
pub(crate) struct PeTopology {
    pub outs: Vec<Box<[OutputPortState]>>,
    /// By operator and output port: the consumers of its watermarks.
    pub watermark_edges: Vec<Box<[Box<[WatermarkEdge]>]>>,
    pub processed: Vec<Arc<[Counter]>>,
    pub punctuation: Vec<Arc<[PunctuationCounters]>>,
    /// Number of the plan's chain that the operator belongs to: only operators of one chain may
    /// call each other directly.
    pub chains: Vec<Option<u32>>,
    /// Threads that enter the operator.
    pub entering_threads: Vec<Vec<PeThreadId>>,
    /// Threads that enter the operator, and the thread that the operator itself runs on.
    pub threads: Vec<Box<[PeThreadId]>>,
    /// Number of the loop that the operator stands in. A loop with an operator that submits from a
    /// thread of its own does not count.
    pub loops: Vec<Option<u32>>,
    /// All operators, upstream before downstream.
    pub topological_order: Vec<u32>,
    /// Number of threads. Those of sources come first, in order of the operators; one for all
    /// timers is the last.
    pub thread_count: u32,
}

impl PeTopology {
    /// The topology of a program whose operators have been constructed.
    ///
    /// # Panics
    /// An operator has a thread or a timer that the plan does not know, or the other way round: its
    /// model does not tell the truth.
    pub fn new(
        program: &Program,
        plan: &PeThreads,
        constructed: &[ConstructedOperator<'_>],
    ) -> PeTopology {
        assert_planned(plan, constructed);
        let count = program.operators.len();
        let entering_threads = entering_threads(plan, count);
        let counters = |operator: &graph::OperatorNode| {
            let ports = operator.inputs.iter();
            ports.map(|_| Counter::default()).collect()
        };
        let inputs = program.operators.iter().map(|o| o.inputs.len());
        let punctuation = inputs.map(PunctuationCounters::for_ports);
        PeTopology {
            processed: program.operators.iter().map(counters).collect(),
            punctuation: punctuation.collect(),
            threads: threads_by_operator(plan, &entering_threads),
            entering_threads,
            chains: numbers_by_operator(&plan.chains, count),
            loops: numbers_by_operator(&plan.call_loops, count),
            topological_order: plan.upstream_first.iter().map(|id| id.0).collect(),
            thread_count: plan.threads.len() as u32,
            watermark_edges: watermark_edges(program),
            outs: consumer_ports(program)
                .into_iter()
                .map(output_port_states)
                .collect(),
        }
    }
}

impl PeTopology {
    /// Whether several threads enter an operator, which then has a lock.
    pub fn is_shared(&self, operator: usize) -> bool {
        self.entering_threads[operator].len() > 1
    }

    /// The thread that alone enters an operator; `None` for an operator that several threads share
    /// and for one that no thread enters.
    pub fn only_thread(&self, operator: usize) -> Option<PeThreadId> {
        let threads = self.entering_threads[operator].iter().copied();
        threads.take(1).find(|_| !self.is_shared(operator))
    }

    /// Whether one thread alone enters an operator, and no call comes back to the operator.
    pub fn is_alone(&self, operator: usize) -> bool {
        self.only_thread(operator).is_some() && self.loops[operator].is_none()
    }
}

/// Asserts that threads and timers of the operators are those of the plan.
fn assert_planned(plan: &PeThreads, constructed: &[ConstructedOperator<'_>]) {
    let mut has_thread = vec![false; constructed.len()];
    let mut has_timer = vec![false; constructed.len()];
    for thread in &plan.threads {
        let starts = match thread.start {
            ThreadStartPoint::Timers(_) => &mut has_timer,
            _ => &mut has_thread,
        };
        for id in thread.start.operators() {
            starts[id.0 as usize] = true;
        }
    }
    for (at, one) in constructed.iter().enumerate() {
        let name = &one.operator.name;
        assert_eq!(
            (
                one.source_thread.is_some(),
                !one.requirements.timers.is_empty()
            ),
            (has_thread[at], has_timer[at]),
            "the operator {name} has another thread or timer than its model says"
        );
    }
}

/// By operator: the threads that enter it.
fn entering_threads(plan: &PeThreads, operators: usize) -> Vec<Vec<PeThreadId>> {
    let mut entering = vec![Vec::new(); operators];
    for (thread, planned) in (0..).map(PeThreadId).zip(&plan.threads) {
        for id in &planned.operators {
            entering[id.0 as usize].push(thread);
        }
    }
    entering
}

/// By operator: the number of the group that has the operator. No operator is in several groups.
fn numbers_by_operator(groups: &[Vec<OperatorId>], operators: usize) -> Vec<Option<u32>> {
    let mut numbers = vec![None; operators];
    for (number, members) in (0..).zip(groups) {
        members
            .iter()
            .for_each(|id| numbers[id.0 as usize] = Some(number));
    }
    numbers
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
        for (port, input) in (0..).map(PortIndex).zip(&operator.inputs) {
            for (source, edge) in (0..).zip(&input.sources) {
                let ports = &mut consumers[edge.operator.0 as usize];
                ports[edge.port.index()].push(ConsumerPort {
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
        for (port, input) in (0..).map(PortIndex).zip(&operator.inputs) {
            for (stream, edge) in (0..).zip(program.watermarked_sources(input)) {
                let to = ConsumerPort::new(index, port);
                let of = &mut edges[edge.operator.0 as usize][edge.port.index()];
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

/// By operator: the threads that enter it, and the threads that start at it.
fn threads_by_operator(plan: &PeThreads, entering: &[Vec<PeThreadId>]) -> Vec<Box<[PeThreadId]>> {
    let mut threads = entering.to_vec();
    for (thread, planned) in (0..).map(PeThreadId).zip(&plan.threads) {
        for id in planned.start.operators() {
            let threads = &mut threads[id.0 as usize];
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
    }
    threads.into_iter().map(Into::into).collect()
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
