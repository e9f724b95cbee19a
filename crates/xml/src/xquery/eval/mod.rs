//! Evaluation of queries: each expression gives a sequence.

mod compare;
mod construct;
mod evaluator;
mod flwor;
mod node_test;
mod path;
mod sequence_limit;
mod types;

pub(super) use evaluator::evaluate;
