//! One operator by itself, driven by hand: what comes in is given by call, what goes out is
//! recorded.
//!
//! All duties of the run time are done as in a PE (markers are counted and forwarded, logic clauses
//! run), but there are no threads: timers fire and sources run when they are told to.

use std::sync::{Arc, Mutex, PoisonError};

use eval::Fault;
use graph::{InPortModel, OperatorId, OperatorModel, OutPortId, Program};
use tuple::{Punctuation, TupleBuf, TupleRef};

use crate::abi::Backend;
use crate::assemble::{PeAssembly, assemble};
use crate::operator_factory::SourceThread;
use crate::operator_instance::OperatorInstance;
use crate::pe_context::{PeContext, PeOptions};
use crate::report::{FailureReport, OperatorCounts};
use crate::stop_signal::StopSignal;
use crate::thread_region::ThreadRegion;
use crate::thread_runner;
use crate::wiring::ConsumerPort;
use crate::{BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet, TimerId};

/// An operator and what it sent.
pub struct TestHarness {
    region: ThreadRegion,
    source_thread: Option<SourceThread>,
    recorded: RecordedOutputs,
}

/// Something that left an output port.
#[derive(Clone, Debug)]
pub enum HarnessOutput {
    /// A tuple.
    Tuple(u32, TupleBuf),
    /// A marker.
    Punctuation(u32, Punctuation),
}

type RecordedOutputs = Arc<Mutex<Vec<HarnessOutput>>>;

impl TestHarness {
    /// Makes the operator. Each input port counts as fed by one stream.
    ///
    /// # Errors
    /// As [`crate::Pe::wire`].
    pub fn new(
        operator: &graph::OperatorNode,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
        options: PeOptions,
    ) -> Result<TestHarness, FailureReport> {
        let (pe_context, setting) = PeContext::new(options);
        let registry = [entry, RECORDER];
        let program = with_recorder(operator);
        let assembly = assemble(&program, &registry, backend, pe_context, setting);
        let assembly = assembly.map_err(|failure| FailureReport {
            failures: vec![failure],
            is_stdout_closed: false,
        })?;
        Ok(TestHarness::from_assembly(assembly))
    }

    fn from_assembly(assembly: PeAssembly) -> TestHarness {
        let PeAssembly {
            mut wiring,
            exclusive: own,
            source_threads: mut runners,
            ..
        } = assembly;
        let sent = RecordedOutputs::default();
        // The caller's thread is the only one.
        wiring.waits.set_thread_count(1);
        let shared = wiring.shared.iter_mut().map(Option::take);
        let nodes = own
            .into_iter()
            .zip(shared)
            .map(|(own, shared)| match (own, shared) {
                (Some((node, _)), _) => Some(node),
                (None, Some(shared)) => Some(into_inner(shared.instance)),
                (None, None) => None,
            });
        let mut nodes: Vec<Option<OperatorInstance>> = nodes.collect();
        if let Some(recorder) = &mut nodes[1] {
            recorder.built = Some(Box::new(OutputRecorder(sent.clone())));
        }
        TestHarness {
            source_thread: runners.pop(),
            region: ThreadRegion::new(Arc::new(wiring), 0, nodes),
            recorded: sent,
        }
    }

    /// Hands over a tuple of the port's layout.
    pub fn process(&mut self, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.region.deliver(ConsumerPort::new(0, port), tuple)
    }

    /// Hands over a marker.
    pub fn process_punctuation(&mut self, port: u32, mark: Punctuation) -> Result<(), Fault> {
        self.region
            .deliver_punctuation(ConsumerPort::new(0, port), mark)
    }

    /// Fires a timer.
    pub fn fire_timer(&mut self, timer: TimerId) -> Result<(), Fault> {
        let fired = self
            .region
            .with_instance(0, |node| node.fire_timer(&self.region, timer));
        fired.unwrap_or(Ok(()))
    }

    /// Runs the operator's own thread to its end, here.
    pub fn run_source(&mut self) -> Result<(), Fault> {
        let Some(runner) = self.source_thread.take() else {
            return Ok(());
        };
        thread_runner::run_source(&self.region, runner)?;
        self.region.end_outputs(0)
    }

    /// Ends the operator.
    pub fn close(&mut self) -> Result<(), Fault> {
        let closed = self
            .region
            .with_instance(0, |node| node.close(&self.region));
        let closed = closed.unwrap_or(Ok(()));
        closed.and(self.region.wiring.context.flush())
    }

    /// What was sent since the last time.
    pub fn take_outputs(&mut self) -> Vec<HarnessOutput> {
        std::mem::take(&mut lock(&self.recorded))
    }

    /// What the operator has done so far.
    pub fn operator_counts(&self) -> OperatorCounts {
        self.region.wiring.operator_counts().swap_remove(0)
    }

    /// The handle to the shutdown.
    pub fn stop_signal(&self) -> StopSignal {
        self.region.wiring.context.stop_signal.clone()
    }
}

/// The operator, fed by hand, and a recorder with an input port for each of its output ports.
fn with_recorder(operator: &graph::OperatorNode) -> Program {
    let mut operator = operator.clone();
    for input in &mut operator.inputs {
        input.sources.clear();
    }
    let ports = (0..)
        .zip(&operator.outputs)
        .map(|(port, output)| graph::InPort {
            name: output.name.clone(),
            schema: output.schema.clone(),
            sources: vec![OutPortId {
                operator: OperatorId(0),
                port,
            }],
            window: None,
            history: 0,
            is_control: false,
            sources_without_markers: Vec::new(),
        });
    let recorder = graph::OperatorNode {
        name: "Recorder".into(),
        kind: "workbench::Recorder".into(),
        inputs: ports.collect(),
        outputs: Vec::new(),
        params: Vec::new(),
        logic: graph::Logic::default(),
        config: Vec::new(),
        annotations: Vec::new(),
        has_own_thread: false,
        submits_by_timer: false,
        clock: None,
        pos: operator.pos,
    };
    Program {
        name: operator.name.clone(),
        operators: vec![operator, recorder],
        ..Program::default()
    }
}

static RECORDER_MODEL: OperatorModel = OperatorModel {
    namespace: "workbench",
    name: "Recorder",
    doc: "Records what comes in.",
    inputs: &[InPortModel::ANY],
    ..OperatorModel::DEFAULT
};

const RECORDER: OperatorEntry = OperatorEntry {
    model: &RECORDER_MODEL,
    constructor: OperatorConstructor::Build(recorder),
};

/// Where it records is known only to the workbench, which puts the right one in its place.
fn recorder(_: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(OutputRecorder(RecordedOutputs::default())))
}

struct OutputRecorder(RecordedOutputs);

impl Operator for OutputRecorder {
    fn process(&mut self, port: u32, tuple: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        let mut copy = TupleBuf::default();
        copy.copy_from(tuple);
        lock(&self.0).push(HarnessOutput::Tuple(port, copy));
        Ok(())
    }

    fn process_window_marker(&mut self, port: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        lock(&self.0).push(HarnessOutput::Punctuation(port, Punctuation::Window));
        Ok(())
    }

    fn process_final_marker(&mut self, port: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        lock(&self.0).push(HarnessOutput::Punctuation(port, Punctuation::Final));
        Ok(())
    }
}

fn lock(sent: &RecordedOutputs) -> std::sync::MutexGuard<'_, Vec<HarnessOutput>> {
    sent.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
