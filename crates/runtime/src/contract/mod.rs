//! The operator contract: what the author of a built operator implements and is given.
//!
//! ```text
//!   registry               OperatorEntry: a model, and how the operator is made
//!   while the PE is wired  BuildContext -> Operator, and a Source if it has a thread of its own
//!   while the PE runs      Operator::process(tuple, Outlet) -> Outlet::submit
//! ```
//! [`operator`] numbers the rules. [`crate::Outlet`] is defined in [`crate::abi`], because compiled
//! code submits through it too.

pub(crate) mod build_context;
pub(crate) mod flush_buffer;
pub(crate) mod incomplete_windows;
pub(crate) mod operator;
pub(crate) mod operator_entry;
