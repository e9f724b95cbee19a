//! Random well-typed programs for property tests: expressions and statements over input tuples,
//! state and locals, with functions to call and tuples to run on.
//!
//! A [`GeneratedCase`] is made from rows of numbers, each of which decides one thing:
//! [`GeneratedCase::new`]. The same rows give the same case, shorter rows or smaller numbers give a
//! simpler one, and a row that has run out decides for the simplest; so [`generated_cases`] shrinks
//! well although it knows nothing of types.
//!
//! ```
//! # use thalweg_testkit::arbitrary::{CaseDecisions, GeneratedCase};
//! let case = GeneratedCase::new(&CaseDecisions::default());
//! assert_eq!(case.interpret()[0].body_result, Ok(()));
//! ```
//!
//! # What is generated
//! Every form of expression and statement but one, over the types of [`environment`]; casts,
//! subscripts, slices, unwrapping and divisions that may fault and such that cannot; calls of
//! library functions ([`NATIVES`], `range` among them) and of generated functions with formals by
//! value and by reference; values of every composite type that are kept while what they were made
//! of changes (`keep`). Loops end, calls do not recurse without end. What SPL forbids is left out:
//! an expression does not change what it or another part of it reads, and the collection of a loop
//! does not change in the loop.
//!
//! # What is not
//! Constants that are NaN, and text of computed floats: which NaN comes out of an operation on two
//! of them is up to the machine. Results of output functions, which only operators with windows
//! have. Casts to xml, and casts of text to what it is not, but for a few.

mod choices;
mod constant;
mod copies;
pub mod environment;
mod expr;
mod function;
mod generated_case;
mod generator;
pub mod graphs;
mod native;
mod operation;
mod place;
mod run_outcome;
mod stmt;

pub use generated_case::{CaseDecisions, GeneratedCase};
pub use native::NATIVES;
use proptest::prelude::*;

pub use run_outcome::RunOutcome;

/// Decisions that fill all tuples of a case.
const DATA_DECISIONS: usize = 1600;

/// Cases with bodies of at most `decisions_max` decisions; 300 give about twenty statements.
pub fn generated_cases(decisions_max: usize) -> impl Strategy<Value = GeneratedCase> {
    let row = |len: usize| proptest::collection::vec(any::<u32>(), 0..=len);
    let rest = decisions_max / 2;
    let rows = (
        row(rest),
        row(rest),
        row(decisions_max),
        row(DATA_DECISIONS),
    );
    rows.prop_map(|(functions, expressions, body, data)| {
        GeneratedCase::new(&CaseDecisions {
            functions,
            expressions,
            body,
            data,
        })
    })
}
