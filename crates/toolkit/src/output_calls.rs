//! Output functions that describe one tuple or its origin, as `FileName()` and `AsIs(expression)`.
//!
//! All arguments are evaluated at once, then each call gets its result, then the output clause is
//! evaluated with the results. Functions of whole windows belong to Aggregate.

use std::ops::Range;
use std::sync::Arc;

use eval::Fault;
use graph::PortIndex;
use runtime::abi::Projection;
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{Layout, TupleBuf, TupleRef, Value};

/// The output clause of a port, with its calls of functions `F`.
pub struct OutputCalls<F> {
    output: Projection,
    tuple_buf: TupleBuf,
    results_layout: Arc<Layout>,
    result_values: TupleBuf,
    /// Arguments of all calls.
    arguments: Projection,
    argument_values: TupleBuf,
    /// Each call with the range of its arguments among all.
    calls: Vec<(F, Range<usize>)>,
}

impl<F> OutputCalls<F> {
    /// The calls of an output port; `function` finds each by name.
    pub fn new(
        build: &mut BuildContext<'_>,
        port: PortIndex,
        function: impl Fn(&str) -> F,
    ) -> Result<OutputCalls<F>, Fault> {
        let operator = build.operator;
        let mut arguments = Vec::new();
        let calls = operator.outputs[port.index()].calls.iter().map(|call| {
            let first = arguments.len();
            arguments.extend(call.args.iter().cloned());
            (function(&call.function), first..arguments.len())
        });
        let calls = calls.collect();
        Ok(OutputCalls {
            output: build.output_projection(port)?,
            tuple_buf: TupleBuf::default(),
            results_layout: build.results_layout(port)?,
            result_values: TupleBuf::default(),
            arguments: build.projection(&arguments)?,
            argument_values: TupleBuf::default(),
            calls,
        })
    }

    /// Evaluates the output tuple for the given inputs. `answer` gives the result of each call,
    /// from its arguments.
    pub fn write(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
        mut answer: impl FnMut(&F, &[Value]) -> Result<Value, Fault>,
    ) -> Result<&mut TupleBuf, Fault> {
        self.arguments
            .write(inputs, out, &mut self.argument_values)?;
        self.result_values.begin(&self.results_layout);
        for (at, (function, range)) in self.calls.iter().enumerate() {
            let values = range.clone().map(|n| self.argument(n));
            let result = answer(function, &values.collect::<Vec<_>>())?;
            self.result_values.set(&self.results_layout, at, &result);
        }
        let inputs = inputs.with_results(self.result_values.as_ref());
        self.output.write(&inputs, out, &mut self.tuple_buf)?;
        Ok(&mut self.tuple_buf)
    }

    fn argument(&self, at: usize) -> Value {
        self.argument_values
            .as_ref()
            .get(&self.arguments.layout, at)
    }

    /// The tuple written last.
    pub fn tuple(&self) -> TupleRef<'_> {
        self.tuple_buf.as_ref()
    }
}
