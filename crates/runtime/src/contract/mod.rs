//! The operator contract: what the author of a built operator implements and is given.
//!
//! ```text
//!   while the PE is wired  BuildContext -> Operator, and a Source if it has a thread of its own
//!   while the PE runs      Operator::process(tuple, Outlet) -> Outlet::submit
//! ```
//! [`operator`] numbers the rules. [`crate::OperatorEntry`] says how an operator is made.
//! [`crate::Outlet`] is defined in [`crate::abi`], because compiled code submits through it too. An
//! author needs nothing else; what the operators of a plan and compiled code need besides is in
//! [`crate::inserted`] and [`crate::abi::CodeOutlet`].

pub(crate) mod build_context;
pub(crate) mod flush_buffer;
pub(crate) mod incomplete_windows;
pub(crate) mod late_tuples;
pub(crate) mod operator;
