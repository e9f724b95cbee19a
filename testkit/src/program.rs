//! Whole programs that a test builds of operators and runs without a compiler.

use std::sync::{Arc, Mutex};

use eval::Fault;
use graph::{Annotation, OperatorModel, PeThreads, PortIndex, Program};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::{
    BuildContext, FailureReport, Operator, OperatorCounts, OperatorEntry, Outlet, Pe, PeOptions,
    RunningPe,
};
use tuple::text;
use tuple::{Layout, Punctuation, TupleRef, Value};

use crate::OperatorBuilder;

/// Seconds after which a program of a test is stopped; it takes milliseconds on an idle machine.
const DEADLINE_SECONDS: f64 = 60.0;

/// Memory that a PE writes to and a test reads.
#[derive(Clone, Debug, Default)]
pub struct SharedOutput(pub(crate) Arc<Mutex<Vec<u8>>>);

/// A program of these operators; input ports name their feeders by number
/// ([`OperatorBuilder::connect`]).
pub fn build_program(operators: impl IntoIterator<Item = OperatorBuilder>) -> Program {
    Program {
        name: "Main".into(),
        files: ["main.spl".into()].into(),
        operators: operators.into_iter().map(OperatorBuilder::build).collect(),
        ..Program::default()
    }
}

/// Runs a program on the interpreter to its end or [`stop_at_deadline`]; what it printed, and how
/// it ended.
pub fn run_program(
    program: &Program,
    registry: &[OperatorEntry],
) -> (String, Result<Vec<OperatorCounts>, FailureReport>) {
    let printed = SharedOutput::default();
    let options = PeOptions {
        stdout: Box::new(printed.clone()),
        ..PeOptions::default()
    };
    let mut backend = InterpreterBackend::new(&program.functions, &[]);
    let (program, threads) = &planned(program, registry, &[]);
    let pe = Pe::wire(program, threads, registry, &mut backend, options);
    let pe = pe.inspect(stop_at_deadline);
    let ended = pe.and_then(Pe::start).and_then(RunningPe::join);
    (printed.text(), ended)
}

/// Requests the shutdown of a PE whose program should have ended long before, so that the test
/// fails where it would wait for ever.
pub fn stop_at_deadline(pe: &Pe) {
    let requested = pe.stop_signal().request_after(DEADLINE_SECONDS);
    requested.expect("a thread for the deadline");
}

/// The annotation `@catch(exception = ...)`.
pub(crate) fn catch_annotation(exception: &str) -> Annotation {
    let value = Value::RString(exception.into());
    ("catch".into(), vec![("exception".into(), value)])
}

static PRINT_MODEL: OperatorModel = OperatorModel {
    namespace: "testkit",
    name: "Print",
    doc: "Prints what comes in, a line each: `0 {a=1}`, `0 window`.",
    inputs: &[graph::InPortModel {
        count: graph::Cardinality::Any,
        ..graph::InPortModel::DEFAULT
    }],
    ..OperatorModel::DEFAULT
};

/// Operators that only tests use: `testkit::Print`.
pub fn test_operators() -> [OperatorEntry; 1] {
    [OperatorEntry::built(&PRINT_MODEL, build_print_operator)]
}

fn build_print_operator(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let layouts = build.inputs.clone();
    let line = Vec::new();
    Ok(Box::new(Print { layouts, line }))
}

struct Print {
    layouts: Vec<Arc<Layout>>,
    line: Vec<u8>,
}

impl Print {
    fn print_punctuation(
        port: PortIndex,
        mark: Punctuation,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let name = format!("{mark:?}").to_lowercase();
        out.services()
            .print(format!("{port} {name}\n").as_bytes(), false)
    }
}

impl Operator for Print {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.line.clear();
        self.line.extend_from_slice(format!("{port} ").as_bytes());
        text::print_tuple(tuple, &self.layouts[port.index()], &mut self.line);
        self.line.push(b'\n');
        out.services().print(&self.line, false)
    }

    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        Print::print_punctuation(port, Punctuation::Window, out)
    }

    fn process_final_marker(&mut self, port: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        Print::print_punctuation(port, Punctuation::Final, out)
    }
}

/// A program with the threads and timers that the models of its operators say.
pub fn with_threads_and_timers(program: &Program, registry: &[OperatorEntry]) -> Program {
    let mut program = program.clone();
    for operator in &mut program.operators {
        if let Some(entry) = OperatorEntry::find(registry, &operator.kind) {
            entry.model.set_threads_and_timers(operator);
        }
    }
    program
}

/// A program [`with_threads_and_timers`], and the threads of one PE that runs it, with the cores
/// that sources have for themselves (operator number, core).
pub fn planned(
    program: &Program,
    registry: &[OperatorEntry],
    pins: &[(u32, u32)],
) -> (Program, PeThreads) {
    let program = with_threads_and_timers(program, registry);
    let threads = planner::pe_threads(&program, pins);
    (program, threads)
}
