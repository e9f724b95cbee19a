//! Stage `expand`: from the main composite to a flat list of operators. Composites are instantiated
//! where they are invoked, their formals bound to actuals, their ports joined to the streams
//! outside.
//!
//! Every stream gets one number ([`crate::names::StreamId`]) for the whole program. The stream that
//! leaves a composite has the number of the stream that the invoker declares for that port, and a
//! stream that enters keeps its own; so when the last operator is there, the edges are a table
//! look-up.
//!
//! ```text
//!   stream<T> X = C(A)  {}          A is #0, X is #1
//!     composite C(output Out; input In)
//!       stream<In> Mid = Filter(In)     In is #0, Mid is #2
//!       stream<T>  Out = Functor(Mid)   Out is #1
//! ```
//!
//! # Invariants
//! A composite is never within itself, so that expansion ends; how deep composites nest and how
//! many operators come out is bounded.

mod bind;
mod composite_instance;
mod declare;
mod definition;
mod expander;
mod inherited_clauses;
mod input_feed;
mod instances_text;
mod instantiate;
mod invocation;
mod operator_count;
mod parallel;

pub(crate) use expander::Expander;
