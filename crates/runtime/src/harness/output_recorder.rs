//! The recorder: an operator behind the one that is tested, which records what that submits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eval::Fault;
use graph::{
    InPortModel, OperatorId, OperatorModel, OutPortId, PeThreads, PlannedThread, PortIndex,
    Program, ThreadStartPoint,
};
use tuple::{Punctuation, TupleBuf, TupleRef};

use crate::{BuildContext, Operator, OperatorEntry, Outlet};

/// A tuple or marker that the operator submitted.
#[derive(Clone, Debug)]
pub enum HarnessOutput {
    /// A tuple, with the output port.
    Tuple(PortIndex, TupleBuf),
    /// A marker, with the output port.
    Punctuation(PortIndex, Punctuation),
}

pub(super) type RecordedOutputs = Arc<Mutex<Vec<HarnessOutput>>>;

/// A program of the operator, whose input is given by calls, and a recorder with an input port for
/// each of its output ports.
pub(super) fn with_recorder(operator: &graph::OperatorNode, model: &OperatorModel) -> Program {
    let mut operator = operator.clone();
    model.set_threads_and_timers(&mut operator);
    for input in &mut operator.inputs {
        input.sources.clear();
    }
    let ports = (0..).map(PortIndex).zip(&operator.outputs);
    let ports = ports.map(|(port, output)| {
        graph::InPort::new(
            output.name.clone(),
            output.schema.clone(),
            vec![OutPortId {
                operator: OperatorId(0),
                port,
            }],
        )
    });
    let recorder = graph::OperatorNode {
        inputs: ports.collect(),
        ..graph::OperatorNode::new("Recorder", "harness::Recorder", operator.pos)
    };
    Program {
        name: operator.name.clone(),
        operators: vec![operator, recorder],
        ..Program::default()
    }
}

/// The threads of such a program, of which the harness starts none.
pub(super) fn threads_with_recorder(program: &Program) -> PeThreads {
    let (operator, both) = (OperatorId(0), vec![OperatorId(0), OperatorId(1)]);
    let node = &program.operators[0];
    let thread = |start, operators| PlannedThread {
        start,
        operators,
        core: None,
        is_pooled: false,
    };
    let mut threads = Vec::new();
    if node.inputs.is_empty() {
        threads.push(thread(ThreadStartPoint::Source(operator), both.clone()));
    } else if node.has_own_thread {
        let downstream = vec![OperatorId(1)];
        threads.push(thread(ThreadStartPoint::Operator(operator), downstream));
    }
    if node.timers.exist() {
        let entered = match node.timers.submit() {
            true => both.clone(),
            false => vec![operator],
        };
        threads.push(thread(ThreadStartPoint::Timers(vec![operator]), entered));
    }
    PeThreads {
        threads,
        upstream_first: both,
        ..PeThreads::default()
    }
}

static RECORDER_MODEL: OperatorModel = OperatorModel {
    namespace: "harness",
    name: "Recorder",
    doc: "Records what comes in.",
    inputs: &[InPortModel::ANY],
    ..OperatorModel::DEFAULT
};

pub(super) const RECORDER: OperatorEntry = OperatorEntry::built(&RECORDER_MODEL, recorder);

/// A recorder whose list nobody reads; [`super::TestHarness`] puts its own in its place.
fn recorder(_: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(OutputRecorder(RecordedOutputs::default())))
}

pub(super) struct OutputRecorder(pub RecordedOutputs);

impl Operator for OutputRecorder {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        _: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let mut copy = TupleBuf::default();
        copy.copy_from(tuple);
        lock(&self.0).push(HarnessOutput::Tuple(port, copy));
        Ok(())
    }

    fn process_window_marker(&mut self, port: PortIndex, _: &mut dyn Outlet) -> Result<(), Fault> {
        lock(&self.0).push(HarnessOutput::Punctuation(port, Punctuation::Window));
        Ok(())
    }

    fn process_final_marker(&mut self, port: PortIndex, _: &mut dyn Outlet) -> Result<(), Fault> {
        lock(&self.0).push(HarnessOutput::Punctuation(port, Punctuation::Final));
        Ok(())
    }
}

pub(super) fn lock(sent: &RecordedOutputs) -> MutexGuard<'_, Vec<HarnessOutput>> {
    sent.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use graph::{InPort, OperatorNode, OperatorTimers, OutPort, Pos};

    use super::*;

    type TimersOf = fn(&OperatorNode) -> OperatorTimers;

    const TIMERS: [Option<TimersOf>; 3] = [
        None,
        Some(|_| OperatorTimers::Silent),
        Some(|_| OperatorTimers::Submitting),
    ];

    /// An operator with so many input ports, which its model gives a thread or timers, with its
    /// recorder.
    fn recorded(inputs: usize, has_own_thread: bool, timers: Option<TimersOf>) -> Program {
        let port = || InPort::new("In", Default::default(), Vec::new());
        let operator = OperatorNode {
            inputs: (0..inputs).map(|_| port()).collect(),
            outputs: vec![OutPort::new("Out", Default::default())],
            ..OperatorNode::new("Tested", "t::Tested", Pos::default())
        };
        let model = OperatorModel {
            has_own_thread,
            timers,
            ..OperatorModel::DEFAULT
        };
        with_recorder(&operator, &model)
    }

    #[test]
    fn threads_are_those_of_the_planner() {
        for (inputs, has_own_thread) in [(0, false), (1, false), (1, true), (2, true)] {
            for timers in TIMERS {
                let program = recorded(inputs, has_own_thread, timers);
                let (_, mut planned) = testkit::planned(&program, &[], &[]);
                // The recorder is Rust code: nothing is compiled into one function.
                planned.chains.clear();
                assert_eq!(
                    threads_with_recorder(&program),
                    planned,
                    "{inputs} input ports, {:?}, own thread: {has_own_thread}",
                    program.operators[0].timers
                );
            }
        }
    }
}
