//! Evaluating a built operator's expressions over tuples that it has at hand.

use tuple::TupleRef;

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
