//! Results that a compilation has computed so far, in tables that the stages fill and read.
//!
//! A [`crate::Session`] holds one of each. `types`, `function` and `condition` compute their
//! entries.

mod condition_symbols;
mod function_table;
mod output_functions;
mod requested_values;
mod signature;
mod type_constraint;
mod type_definitions;
mod type_pattern;
mod user_function;

pub(crate) use condition_symbols::ConditionSymbols;
pub(crate) use function_table::FunctionTable;
pub use output_functions::OutputFunctions;
pub(crate) use requested_values::RequestedValues;
pub(crate) use signature::{FunctionOwner, Signature, SignatureFormal, UserFunctionId};
pub(crate) use type_constraint::TypeConstraint;
pub(crate) use type_definitions::TypeDefinitions;
pub(crate) use type_pattern::TypePattern;
pub(crate) use user_function::UserFunction;
