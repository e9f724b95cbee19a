//! From a source file to a program: calls the compiler with the toolkit's models and functions.

mod compile;
mod operator_models;

pub use compile::{Analysis, Compilation, CompileRequest, analyse, check, compile};
pub(crate) use compile::{compile_again, print_stage};
pub use operator_models::is_library_name;
pub(crate) use operator_models::operator_models;
