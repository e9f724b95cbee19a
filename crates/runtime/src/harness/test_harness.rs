//! The harness itself: wires a program of one operator and a recorder, and calls the operator.

use std::sync::{Arc, Mutex, PoisonError};

use eval::Fault;
use graph::{PeThreadId, PortIndex};
use tuple::{EventTime, Punctuation, TupleRef};

use super::output_recorder::{
    HarnessOutput, OutputRecorder, RECORDER, RecordedOutputs, lock, threads_with_recorder,
    with_recorder,
};
use crate::abi::Backend;
use crate::assembly::pe_assembly::{PeAssembly, assemble};
use crate::blocking::stop_signal::StopSignal;
use crate::execution::built_operator::BuiltOperator;
use crate::execution::operator_instance::OperatorInstance;
use crate::execution::port_state::ConsumerPort;
use crate::execution::source_thread::SourceThread;
use crate::execution::thread_region::ThreadRegion;
use crate::lifecycle::thread_runner;
use crate::services::pe_context::{PeContext, PeOptions};
use crate::services::report::{FailureReport, OperatorCounts};
use crate::{OperatorEntry, TimerId};

/// An operator that is driven by calls, and a record of what it submits. See [`crate::harness`].
pub struct TestHarness {
    region: ThreadRegion,
    source_thread: Option<SourceThread>,
    recorded: RecordedOutputs,
}

impl TestHarness {
    /// Makes the operator. Each input port counts as fed by one stream.
    ///
    /// # Errors
    /// The operator cannot be made, as with [`crate::Pe::wire`].
    pub fn new(
        operator: &graph::OperatorNode,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
        options: PeOptions,
    ) -> Result<TestHarness, FailureReport> {
        let (pe_context, wiring_options) = PeContext::new(options);
        let registry = [entry, RECORDER];
        let program = with_recorder(operator, entry.model);
        let threads = threads_with_recorder(&program);
        let assembly = assemble(
            (&program, &threads),
            &registry,
            backend,
            pe_context,
            wiring_options,
        );
        let assembly = assembly.map_err(|failure| FailureReport {
            failures: vec![failure],
            is_stdout_closed: false,
        })?;
        Ok(TestHarness::from_assembly(assembly))
    }

    fn from_assembly(assembly: PeAssembly) -> TestHarness {
        let PeAssembly {
            mut wiring,
            exclusive,
            mut source_threads,
            ..
        } = assembly;
        let recorded = RecordedOutputs::default();
        // The caller's thread is the only one.
        wiring.waits.set_thread_count(1);
        let shared = wiring.shared.iter_mut().map(Option::take);
        let instances = exclusive
            .into_iter()
            .zip(shared)
            .map(|(exclusive, shared)| match (exclusive, shared) {
                (Some((instance, _)), _) => Some(instance),
                (None, Some(shared)) => Some(into_inner(shared.instance)),
                (None, None) => None,
            });
        let mut instances: Vec<Option<OperatorInstance>> = instances.collect();
        if let Some(recorder) = &mut instances[1] {
            let built = Box::new(OutputRecorder(recorded.clone()));
            recorder.built = Some(BuiltOperator::Authored(built));
        }
        TestHarness {
            source_thread: source_threads.pop(),
            region: ThreadRegion::new(Arc::new(wiring), PeThreadId(0), instances),
            recorded,
        }
    }

    /// Delivers a tuple, which has the port's layout.
    ///
    /// # Errors
    /// The fault of the operator.
    pub fn process(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.region.deliver(ConsumerPort::new(0, port), tuple)
    }

    /// Delivers a window marker or the final marker.
    ///
    /// # Errors
    /// The fault of the operator.
    pub fn process_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        self.region
            .deliver_punctuation(ConsumerPort::new(0, port), mark)
    }

    /// Advances the operator's watermark.
    ///
    /// # Errors
    /// The fault of the operator.
    pub fn advance_watermark(&mut self, to: EventTime) -> Result<(), Fault> {
        self.region
            .with_instance(0, |instance| instance.advance_watermark(&self.region, to))
    }

    /// Runs a timer of the operator, as if its time had come.
    ///
    /// # Errors
    /// The fault of the operator.
    pub fn fire_timer(&mut self, timer: TimerId) -> Result<(), Fault> {
        self.region
            .with_instance(0, |instance| instance.fire_timer(&self.region, timer))
    }

    /// Runs the operator's source to its end, on the calling thread; does nothing the second time.
    ///
    /// # Errors
    /// The fault of the source.
    pub fn run_source(&mut self) -> Result<(), Fault> {
        let Some(source_thread) = self.source_thread.take() else {
            return Ok(());
        };
        thread_runner::run_source(&self.region, source_thread)?;
        self.region.end_outputs(0)
    }

    /// Closes the operator, and flushes standard output.
    ///
    /// # Errors
    /// The fault of the operator, or of writing to standard output.
    pub fn close(&mut self) -> Result<(), Fault> {
        let closed = self
            .region
            .with_instance(0, |instance| instance.close(&self.region));
        closed.and(self.region.wiring.context.flush())
    }

    /// Takes all tuples and markers that were submitted since the last call.
    pub fn take_outputs(&mut self) -> Vec<HarnessOutput> {
        std::mem::take(&mut lock(&self.recorded))
    }

    /// Counts of the operator so far: tuples, markers, metrics.
    pub fn operator_counts(&self) -> OperatorCounts {
        self.region.wiring.operator_counts().swap_remove(0)
    }

    /// The stop signal of the harness's PE.
    pub fn stop_signal(&self) -> StopSignal {
        self.region.wiring.context.stop_signal.clone()
    }
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
