//! Output functions that say something of one tuple, or of where it comes from: `FileName()`,
//! `AsIs(expression)`.
//!
//! Arguments are worked out in one go, then each call is answered, then the output clause is written
//! with the answers. Functions of whole windows are Aggregate's own.

use std::ops::Range;
use std::sync::Arc;

use graph::Fault;
use runtime::abi::Projection;
use runtime::{Build, Outlet, Row};
use tuple::{Layout, TupleBuf, TupleRef, Value};

/// The output clause of a port, with its calls of functions `F`.
pub struct Calls<F> {
    output: Projection,
    whole: TupleBuf,
    results_layout: Arc<Layout>,
    results: TupleBuf,
    /// Arguments of all calls.
    arguments: Projection,
    values: TupleBuf,
    /// Each call with where its arguments are among all.
    calls: Vec<(F, Range<usize>)>,
}

impl<F> Calls<F> {
    /// The calls of an output port; `function` knows them by name.
    pub fn new(
        build: &mut Build<'_>,
        port: usize,
        function: impl Fn(&str) -> F,
    ) -> Result<Calls<F>, Fault> {
        let operator = build.operator;
        let mut arguments = Vec::new();
        let calls = operator.outputs[port].calls.iter().map(|call| {
            let first = arguments.len();
            arguments.extend(call.args.iter().cloned());
            (function(&call.function), first..arguments.len())
        });
        let calls = calls.collect();
        Ok(Calls {
            output: build.output(port)?,
            whole: TupleBuf::default(),
            results_layout: build.results(port),
            results: TupleBuf::default(),
            arguments: build.projection(&arguments)?,
            values: TupleBuf::default(),
            calls,
        })
    }

    /// Works the output tuple out for a row of input tuples. `answer` is asked for each call, with
    /// its arguments.
    pub fn write(
        &mut self,
        row: &Row<'_>,
        out: &mut dyn Outlet,
        mut answer: impl FnMut(&F, &[Value]) -> Result<Value, Fault>,
    ) -> Result<&mut TupleBuf, Fault> {
        self.arguments.write(row, out, &mut self.values)?;
        self.results.begin(&self.results_layout);
        for (at, (function, range)) in self.calls.iter().enumerate() {
            let values = range.clone().map(|n| self.argument(n));
            let result = answer(function, &values.collect::<Vec<_>>())?;
            self.results.set(&self.results_layout, at, &result);
        }
        let row = row.with(self.results.as_ref());
        self.output.write(&row, out, &mut self.whole)?;
        Ok(&mut self.whole)
    }

    fn argument(&self, at: usize) -> Value {
        self.values.as_ref().get(&self.arguments.layout, at)
    }

    /// The tuple written last.
    pub fn tuple(&self) -> TupleRef<'_> {
        self.whole.as_ref()
    }
}
