//! Driving one operator by hand.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use graph::{Fault, Operator};
use runtime::abi::Backend;
use runtime::abi::interpreted::Interpreted;
use runtime::workbench::Item;
use runtime::{OperatorEntry, Options, Stop, Tally, TimerId, Workbench};
use tuple::text::{self, Reader};
use tuple::{Layout, Punctuation, TupleBuf, Type, Value};

use crate::program::Shared;

/// An operator under test. Its methods panic where a test would: on faults, on text that is no
/// tuple; those with `try` return the fault.
pub struct Harness {
    bench: Workbench,
    inputs: Vec<Arc<Layout>>,
    outputs: Vec<Arc<Layout>>,
    printed: Shared,
}

impl Harness {
    /// Makes the operator on the interpreter, without library functions.
    pub fn new(operator: &Operator, entry: OperatorEntry) -> Harness {
        Harness::with(operator, entry, &mut Interpreted::new(&[], &[]))
    }

    /// Makes the operator on a backend.
    pub fn with(operator: &Operator, entry: OperatorEntry, backend: &mut dyn Backend) -> Harness {
        Harness::try_with(operator, entry, backend).unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// Makes the operator on a backend; what it cannot be made for.
    pub fn try_with(
        operator: &Operator,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
    ) -> Result<Harness, Fault> {
        Harness::in_directory(operator, entry, backend, &std::env::temp_dir())
    }

    /// The same with a data directory.
    pub fn in_directory(
        operator: &Operator,
        entry: OperatorEntry,
        backend: &mut dyn Backend,
        data_directory: &std::path::Path,
    ) -> Result<Harness, Fault> {
        let printed = Shared::default();
        let options = Options {
            data_directory: data_directory.to_owned(),
            stdout: Box::new(printed.clone()),
            ..Options::default()
        };
        let bench = Workbench::new(operator, entry, backend, options);
        let bench = bench.map_err(|mut report| report.failures.swap_remove(0).fault)?;
        Ok(Harness {
            bench,
            inputs: operator
                .inputs
                .iter()
                .map(|p| Layout::of(&p.schema))
                .collect(),
            outputs: operator
                .outputs
                .iter()
                .map(|p| Layout::of(&p.schema))
                .collect(),
            printed,
        })
    }

    /// Hands over a tuple, written as `{a=1,b="x"}`.
    pub fn text(&mut self, port: u32, tuple: &str) {
        self.try_text(port, tuple)
            .unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Hands over tuples, one after the other.
    pub fn texts(&mut self, port: u32, tuples: &[&str]) {
        tuples.iter().for_each(|tuple| self.text(port, tuple));
    }

    /// Hands over a tuple, written as text.
    pub fn try_text(&mut self, port: u32, tuple: &str) -> Result<(), Fault> {
        let ty = Type::Tuple(self.inputs[port as usize].schema.clone());
        let value = text::read(&mut Reader::new(tuple.as_bytes()), &ty);
        let value = value.unwrap_or_else(|error| panic!("{tuple}: {error}"));
        self.try_value(port, &value)
    }

    /// Hands over a tuple, as a value.
    pub fn try_value(&mut self, port: u32, tuple: &Value) -> Result<(), Fault> {
        let layout = self.inputs[port as usize].clone();
        let mut flat = TupleBuf::default();
        flat.begin(&layout);
        flat.set_all(&layout, tuple);
        self.bench.tuple(port, flat.as_ref())
    }

    /// Hands over a window marker.
    pub fn window(&mut self, port: u32) {
        self.mark(port, Punctuation::Window);
    }

    /// Ends an input port.
    pub fn ends(&mut self, port: u32) {
        self.mark(port, Punctuation::Final);
    }

    fn mark(&mut self, port: u32, mark: Punctuation) {
        let handed = self.bench.mark(port, mark);
        handed.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Fires a timer.
    pub fn timer(&mut self, timer: u32) {
        let fired = self.bench.timer(TimerId(timer));
        fired.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Runs the operator's own thread to its end, here.
    pub fn run(&mut self) {
        self.try_run().unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// Runs the operator's own thread to its end, here.
    pub fn try_run(&mut self) -> Result<(), Fault> {
        self.bench.run()
    }

    /// Ends the operator: what it holds back is written.
    pub fn close(&mut self) {
        let closed = self.bench.close();
        closed.unwrap_or_else(|fault| panic!("{fault}"));
    }

    /// What was sent since the last time: `0 {a=1}`, `1 window`, `0 final`.
    pub fn sent(&mut self) -> Vec<String> {
        let items = self.bench.take();
        items.iter().map(|item| self.show(item)).collect()
    }

    fn show(&self, item: &Item) -> String {
        match item {
            Item::Mark(port, Punctuation::Window) => format!("{port} window"),
            Item::Mark(port, Punctuation::Final) => format!("{port} final"),
            Item::Tuple(port, tuple) => {
                let mut text = Vec::new();
                let layout = &self.outputs[*port as usize];
                text::print_tuple(tuple.as_ref(), layout, &mut text);
                format!("{port} {}", String::from_utf8_lossy(&text))
            }
        }
    }

    /// What was printed so far.
    pub fn printed(&mut self) -> String {
        let _ = self.bench.close();
        self.printed.text()
    }

    /// Counts and metrics.
    pub fn tally(&self) -> Tally {
        self.bench.tally()
    }

    /// The handle to the shutdown.
    pub fn stop(&self) -> Stop {
        self.bench.stop()
    }
}

/// Writes into memory that the test can read.
impl Write for Shared {
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

impl Shared {
    /// What was written so far.
    pub fn text(&self) -> String {
        let bytes: &Mutex<Vec<u8>> = &self.0;
        String::from_utf8_lossy(&bytes.lock().expect("no writer panics")).into_owned()
    }
}
