//! Whole machine functions: those of operators, which handles call, and user functions.

mod compile;
mod operator_function;
mod preserving_call;
mod user_function;

pub use operator_function::{FunctionContext, FunctionSource};
