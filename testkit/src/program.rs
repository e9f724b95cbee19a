//! Building and running whole programs by hand.

use std::sync::{Arc, Mutex};

use graph::{Annotation, Fault, OperatorModel, Program};
use runtime::abi::interpreted::Interpreted;
use runtime::{Build, Make, Operator, OperatorEntry, Options, Outlet, Pe, Report, Running, Tally};
use tuple::text;
use tuple::{Layout, Punctuation, TupleRef, Value};

use crate::Invoke;

/// Memory that a PE writes to and a test reads.
#[derive(Clone, Debug, Default)]
pub struct Shared(pub(crate) Arc<Mutex<Vec<u8>>>);

/// A program of these operators; input ports name their feeders by number ([`Invoke::fed`]).
pub fn program(operators: impl IntoIterator<Item = Invoke>) -> Program {
    Program {
        name: "Main".into(),
        files: vec!["main.spl".into()],
        operators: operators.into_iter().map(Invoke::done).collect(),
        ..Program::default()
    }
}

/// Runs a program on the interpreter to its end; what it printed, and how it ended.
pub fn run(program: &Program, registry: &[OperatorEntry]) -> (String, Result<Vec<Tally>, Report>) {
    let printed = Shared::default();
    let options = Options {
        stdout: Box::new(printed.clone()),
        ..Options::default()
    };
    let mut backend = Interpreted::new(&program.functions, &[]);
    let pe = Pe::wire(program, registry, &mut backend, options);
    let ended = pe.and_then(Pe::start).and_then(Running::join);
    (printed.text(), ended)
}

/// `@catch(exception = ...)`
pub(crate) fn catch(exception: &str) -> Annotation {
    let value = Value::RString(exception.into());
    ("catch".into(), vec![("exception".into(), value)])
}

static SINK: OperatorModel = OperatorModel {
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
pub fn sinks() -> [OperatorEntry; 1] {
    [OperatorEntry {
        model: &SINK,
        make: Make::Build(print),
    }]
}

fn print(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let layouts = build.inputs.clone();
    let line = Vec::new();
    Ok(Box::new(Print { layouts, line }))
}

struct Print {
    layouts: Vec<Arc<Layout>>,
    line: Vec<u8>,
}

impl Print {
    fn mark(port: u32, mark: Punctuation, out: &mut dyn Outlet) -> Result<(), Fault> {
        let name = format!("{mark:?}").to_lowercase();
        out.services()
            .print(format!("{port} {name}\n").as_bytes(), false)
    }
}

impl Operator for Print {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.line.clear();
        self.line.extend_from_slice(format!("{port} ").as_bytes());
        text::print_tuple(tuple, &self.layouts[port as usize], &mut self.line);
        self.line.push(b'\n');
        out.services().print(&self.line, false)
    }

    fn window_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        Print::mark(port, Punctuation::Window, out)
    }

    fn final_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        Print::mark(port, Punctuation::Final, out)
    }
}
