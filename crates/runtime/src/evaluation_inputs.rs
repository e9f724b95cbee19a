//! Evaluating a built operator's expressions over tuples that it has at hand.

use eval::Fault;
use tuple::{TupleBuf, TupleRef};

use crate::Outlet;
use crate::abi::{Predicate, Projection};

/// What an evaluation reads: a tuple for each input port, and results of output function calls. The
/// run time adds the tuple histories.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvaluationInputs<'a> {
    /// The current tuple of each input port, by port. Those that are not read may be `None`, and
    /// trailing ones missing.
    pub tuples: &'a [Option<TupleRef<'a>>],
    /// Results of the output port's function calls, as the layout of
    /// [`crate::Build::results`] says.
    pub results: Option<TupleRef<'a>>,
}

impl<'a> EvaluationInputs<'a> {
    /// A row of input tuples.
    pub fn new(tuples: &'a [Option<TupleRef<'a>>]) -> EvaluationInputs<'a> {
        let results = None;
        EvaluationInputs { tuples, results }
    }

    /// The same with results of output function calls.
    pub fn with_results(self, results: TupleRef<'a>) -> EvaluationInputs<'a> {
        let results = Some(results);
        EvaluationInputs { results, ..self }
    }
}

impl Projection {
    /// Evaluates for a row and writes the whole tuple.
    pub fn write(
        &mut self,
        row: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
        into: &mut TupleBuf,
    ) -> Result<(), Fault> {
        let code = &mut *self.code;
        out.evaluate(row, &mut |context| code.project(context, into))
    }
}

impl Predicate {
    /// Whether the condition holds for a row.
    pub fn holds(
        &mut self,
        row: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let code = &mut *self.code;
        let mut holds = false;
        out.evaluate(row, &mut |context| {
            holds = code.test(context)?;
            Ok(())
        })?;
        Ok(holds)
    }
}
