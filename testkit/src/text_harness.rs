//! The text harness: drives one operator by hand, with tuples as text or values. The run time's
//! harness inside takes and gives flat tuples.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use eval::Fault;
use graph::{OperatorNode, PortIndex};
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::harness::HarnessOutput;
use runtime::{OperatorCounts, OperatorEntry, PeOptions, StopSignal, TestHarness, TimerId};
use tuple::text::{self, TextReader};
use tuple::{EventTime, Layout, Punctuation, TupleBuf, Type, Value};

use crate::program::SharedOutput;

/// An operator under test, which is given tuples as text and whose output is text. Its methods
/// panic where a test would: on faults, on text that is no tuple; those with `try` return the
/// fault.
pub struct TextHarness {
    harness: TestHarness,
    inputs: Vec<Arc<Layout>>,
    outputs: Vec<Arc<Layout>>,
    printed: SharedOutput,
}

impl TextHarness {
    /// Makes the operator on the interpreter, without library functions.
    pub fn new(operator: &OperatorNode, entry: OperatorEntry) -> TextHarness {
        TextHarness::with_backend(operator, entry, &mut InterpreterBackend::new(&[], &[]))
    }

    /// Makes the operator on a backend.
    pub fn with_backend(
        operator: &OperatorNode,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
    ) -> TextHarness {
        TextHarness::try_with_backend(operator, entry, backend)
            .unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// Values of metrics by their names; 0 for one that the operator does not have.
    pub fn metric_values(&self, names: &[&str]) -> Vec<i64> {
        let metrics = self.metrics().metrics;
        let value = |name: &&str| {
            let found = metrics.iter().find(|(other, _)| other == name);
            found.map_or(0, |(_, value)| *value)
        };
        names.iter().map(value).collect()
    }

    /// Builds the operator on a backend.
    ///
    /// # Errors
    /// The fault of building it.
    pub fn try_with_backend(
        operator: &OperatorNode,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
    ) -> Result<TextHarness, Fault> {
        TextHarness::try_with_data_directory(operator, entry, backend, &std::env::temp_dir())
    }

    /// Like [`TextHarness::try_with_backend`], with a data directory.
    ///
    /// # Errors
    /// The fault of building it.
    pub fn try_with_data_directory(
        operator: &OperatorNode,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
        data_directory: &std::path::Path,
    ) -> Result<TextHarness, Fault> {
        let printed = SharedOutput::default();
        let options = PeOptions {
            data_directory: data_directory.to_owned(),
            stdout: Box::new(printed.clone()),
            ..PeOptions::default()
        };
        let harness = TestHarness::new(operator, entry, backend, options);
        let harness = harness.map_err(|mut report| report.failures.swap_remove(0).fault)?;
        Ok(TextHarness {
            harness,
            inputs: operator
                .inputs
                .iter()
                .map(|p| Layout::new(&p.schema))
                .collect(),
            outputs: operator
                .outputs
                .iter()
                .map(|p| Layout::new(&p.schema))
                .collect(),
            printed,
        })
    }

    /// Hands over a tuple, written as `{a=1,b="x"}`.
    pub fn process_text(&mut self, port: PortIndex, tuple: &str) {
        self.try_process_text(port, tuple)
            .unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Hands over tuples, one after the other.
    pub fn process_texts(&mut self, port: PortIndex, tuples: &[&str]) {
        tuples
            .iter()
            .for_each(|tuple| self.process_text(port, tuple));
    }

    /// Gives the operator a tuple, written as text.
    ///
    /// # Errors
    /// The fault of processing it.
    pub fn try_process_text(&mut self, port: PortIndex, tuple: &str) -> Result<(), Fault> {
        let ty = Type::Tuple(self.inputs[port.index()].schema.clone());
        let value = text::read(&mut TextReader::new(tuple.as_bytes()), &ty);
        let value = value.unwrap_or_else(|error| panic!("{tuple}: {error}"));
        self.try_process_value(port, &value)
    }

    /// Gives the operator a tuple, as a value.
    ///
    /// # Errors
    /// The fault of processing it.
    pub fn try_process_value(&mut self, port: PortIndex, tuple: &Value) -> Result<(), Fault> {
        let layout = self.inputs[port.index()].clone();
        let mut flat = TupleBuf::default();
        flat.begin(&layout);
        flat.set_all(&layout, tuple);
        self.harness.process(port, flat.as_ref())
    }

    /// Advances the watermark to a number of nanoseconds.
    pub fn advance_watermark(&mut self, ns: i128) {
        let advanced = self.harness.advance_watermark(EventTime(ns));
        advanced.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Hands over a window marker.
    pub fn window_marker(&mut self, port: PortIndex) {
        self.process_punctuation(port, Punctuation::Window);
    }

    /// Ends an input port.
    pub fn final_marker(&mut self, port: PortIndex) {
        self.process_punctuation(port, Punctuation::Final);
    }

    fn process_punctuation(&mut self, port: PortIndex, mark: Punctuation) {
        let handed = self.harness.process_punctuation(port, mark);
        handed.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Fires a timer of the operator, by number.
    pub fn fire_timer(&mut self, timer: u32) {
        let fired = self.harness.fire_timer(TimerId(timer));
        fired.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Runs the operator's own thread to its end, here.
    pub fn run(&mut self) {
        self.try_run().unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Runs the operator's own thread to its end, on this thread.
    ///
    /// # Errors
    /// The fault of the run.
    pub fn try_run(&mut self) -> Result<(), Fault> {
        self.harness.run_source()
    }

    /// Ends the operator: what it holds back is written.
    pub fn close(&mut self) {
        let closed = self.harness.close();
        closed.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Submissions since the last call, a line each: `0 {a=1}`, `1 window_marker`, `0 final`.
    pub fn take_submitted(&mut self) -> Vec<String> {
        let items = self.harness.take_outputs();
        items
            .iter()
            .map(|item| self.format_submitted(item))
            .collect()
    }

    fn format_submitted(&self, item: &HarnessOutput) -> String {
        match item {
            HarnessOutput::Punctuation(port, Punctuation::Window) => format!("{port} window"),
            HarnessOutput::Punctuation(port, Punctuation::Final) => format!("{port} final"),
            HarnessOutput::Tuple(port, tuple) => {
                let mut text = Vec::new();
                let layout = &self.outputs[port.index()];
                text::print_tuple(tuple.as_ref(), layout, &mut text);
                format!("{port} {}", String::from_utf8_lossy(&text))
            }
        }
    }

    /// Text that the operator has printed so far.
    pub fn printed(&mut self) -> String {
        let _ = self.harness.close();
        self.printed.text()
    }

    /// Counters and metrics of the operator.
    pub fn metrics(&self) -> OperatorCounts {
        self.harness.operator_counts()
    }

    /// The handle to the shutdown.
    pub fn stop_signal(&self) -> StopSignal {
        self.harness.stop_signal()
    }
}

/// Writes into memory that the test can read.
impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("no writer panics")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedOutput {
    /// Text that was written so far.
    pub fn text(&self) -> String {
        let bytes: &Mutex<Vec<u8>> = &self.0;
        String::from_utf8_lossy(&bytes.lock().expect("no writer panics")).into_owned()
    }
}
