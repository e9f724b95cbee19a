//! From a source file to a program: calls the compiler with the toolkit's models and functions.

mod compile;
mod operator_models;

pub(crate) use compile::compile_again;
pub use compile::{Compilation, CompileRequest, check, compile};
pub use operator_models::is_library_name;
pub(crate) use operator_models::operator_models;
