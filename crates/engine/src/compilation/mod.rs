//! From a file to a program: the compiler, given the toolkit's models and functions and the files on
//! disk.

mod compile;
mod operator_models;

pub(crate) use compile::compile_again;
pub use compile::{Compilation, CompileRequest, check, compile};
pub use operator_models::is_library_name;
pub(crate) use operator_models::operator_models;
