//! The tuples that an expression of a built operator reads.

use tuple::TupleRef;

/// The tuples that an evaluation reads: one for each input port, and the results of output function
/// calls. The run time adds the tuple histories.
///
/// ```
/// use thalweg_runtime::EvaluationInputs;
///
/// // A Join has tuples of both ports at hand; a Functor only one.
/// let tuples = [None, None];
/// let inputs = EvaluationInputs::new(&tuples);
/// assert!(inputs.results.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EvaluationInputs<'a> {
    /// The current tuple of each input port, by port. A tuple that no expression reads may be
    /// `None`, and trailing ones may be missing.
    pub tuples: &'a [Option<TupleRef<'a>>],
    /// Results of the output port's function calls, in the layout that
    /// [`crate::BuildContext::results_layout`] returns.
    pub results: Option<TupleRef<'a>>,
}

impl<'a> EvaluationInputs<'a> {
    /// Inputs with the current tuples of the ports, and no results of output functions.
    pub fn new(tuples: &'a [Option<TupleRef<'a>>]) -> EvaluationInputs<'a> {
        let results = None;
        EvaluationInputs { tuples, results }
    }

    /// Like `self`, with results of output function calls.
    pub fn with_results(self, results: TupleRef<'a>) -> EvaluationInputs<'a> {
        let results = Some(results);
        EvaluationInputs { results, ..self }
    }
}
