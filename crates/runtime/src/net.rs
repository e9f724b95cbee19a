//! How the operators of a program hang together: edges, threads, loops.

use std::sync::Arc;

use graph::{OperatorModel, Program};

use crate::abi::Counter;
use crate::make::Made;
use crate::marks::MarkCounters;
use crate::threads::{Shape, Start};
use crate::wait::ThreadId;
use crate::wiring::{Lane, OutPort, Target};

/// Everything is indexed by operator.
pub(crate) struct Net {
    pub outs: Vec<Box<[OutPort]>>,
    /// See [`crate::wiring::Wiring::lanes`].
    pub lanes: Vec<Box<[Box<[Lane]>]>>,
    pub processed: Vec<Arc<[Counter]>>,
    pub marks: Vec<Arc<[MarkCounters]>>,
    /// The threads that enter the operator.
    pub entered: Vec<Vec<ThreadId>>,
    /// Those, and its own.
    pub threads: Vec<Box<[ThreadId]>>,
    pub loops: Vec<Option<u32>>,
    /// What an operator submits may come back to it, through whatever threads.
    pub comes_back: Vec<bool>,
    /// All operators, upstream first.
    pub order: Vec<u32>,
    /// Runners in order of the operators have the first threads, all timers together the last one.
    pub thread_count: u32,
}

impl Net {
    /// Of a program whose operators are made.
    pub fn new(program: &Program, made: &[Made<'_>]) -> Net {
        let targets = targets(program);
        let own_thread: Vec<bool> = made.iter().map(|m| m.wishes.own_thread).collect();
        let shape = Shape {
            targets: &targets,
            own_thread: &own_thread,
        };
        let (starts, thread_count) = starts(made);
        let entered = shape.entered_by(&starts);
        let threads = threads(&entered, &starts);
        let (loops, order) = (shape.loops(), shape.order());
        let counters = |operator: &graph::Operator| {
            let ports = operator.inputs.iter();
            ports.map(|_| Counter::default()).collect()
        };
        let inputs = program.operators.iter().map(|o| o.inputs.len());
        let marks = inputs.map(MarkCounters::several);
        Net {
            processed: program.operators.iter().map(counters).collect(),
            marks: marks.collect(),
            entered,
            threads,
            loops,
            comes_back: shape.come_back(),
            order,
            thread_count,
            lanes: lanes(program),
            outs: targets.into_iter().map(out_ports).collect(),
        }
    }
}

fn out_ports(ports: Vec<Vec<Target>>) -> Box<[OutPort]> {
    let port = |targets: Vec<Target>| OutPort {
        targets: targets.into(),
        ..OutPort::default()
    };
    ports.into_iter().map(port).collect()
}

/// The consumers of each output port, in order of the program.
fn targets(program: &Program) -> Vec<Vec<Vec<Target>>> {
    let operators = program.operators.iter();
    let mut targets: Vec<_> = operators
        .map(|o| vec![Vec::new(); o.outputs.len()])
        .collect();
    for (node, operator) in (0..).zip(&program.operators) {
        for (port, input) in (0..).zip(&operator.inputs) {
            for (source, edge) in (0..).zip(&input.sources) {
                let ports = &mut targets[edge.operator.0 as usize];
                ports[edge.port as usize].push(Target {
                    is_unmarked: input.unmarked.contains(&source),
                    ..Target::new(node, port)
                });
            }
        }
    }
    targets
}

/// Who gets the watermarks of each output port.
fn lanes(program: &Program) -> Vec<Box<[Box<[Lane]>]>> {
    let operators = program.operators.iter();
    let none = |operator: &graph::Operator| match operator.clock {
        Some(_) => vec![Vec::new(); operator.outputs.len()],
        None => Vec::new(),
    };
    let mut lanes: Vec<Vec<Vec<Lane>>> = operators.map(none).collect();
    for (node, operator) in (0..).zip(&program.operators) {
        for (port, input) in (0..).zip(&operator.inputs) {
            for (lane, edge) in (0..).zip(program.watermarked(input)) {
                let to = Target::new(node, port);
                let of = &mut lanes[edge.operator.0 as usize][edge.port as usize];
                of.push(Lane { to, lane });
            }
        }
    }
    let boxed = |ports: Vec<Vec<Lane>>| ports.into_iter().map(Into::into).collect();
    lanes.into_iter().map(boxed).collect()
}

/// Where each thread begins, and how many threads there are.
fn starts(made: &[Made<'_>]) -> (Vec<Start>, u32) {
    let mut starts = Vec::new();
    for one in made.iter().filter(|one| one.runner.is_some()) {
        starts.push(Start {
            thread: starts.len() as ThreadId,
            node: one.index,
            enters: one.operator.inputs.is_empty(),
        });
    }
    let mut count = starts.len() as u32;
    let timed: Vec<_> = made
        .iter()
        .filter(|one| !one.wishes.timers.is_empty())
        .collect();
    starts.extend(timed.iter().map(|one| Start {
        thread: count,
        node: one.index,
        enters: true,
    }));
    count += u32::from(!timed.is_empty());
    (starts, count)
}

fn threads(entered: &[Vec<ThreadId>], starts: &[Start]) -> Vec<Box<[ThreadId]>> {
    let all = (0..).zip(entered).map(|(node, entered)| {
        let own = starts.iter().filter(|start| start.node == node);
        let own = own
            .map(|start| start.thread)
            .filter(|t| !entered.contains(t));
        entered.iter().copied().chain(own).collect()
    });
    all.collect()
}

/// The model of an output port, whichever set it belongs to.
pub(crate) fn out_model(model: &OperatorModel, port: usize) -> Option<&graph::OutPortModel> {
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
