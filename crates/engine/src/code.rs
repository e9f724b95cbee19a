//! The backend that makes machine code.

use graph::Program;
use runtime::abi::interpreted::Interpreted;

use crate::Error;

/// A JIT for a program.
pub fn backend(program: &Program, _perf_map: bool) -> Result<Interpreted, Error> {
    Ok(Interpreted::new(&program.functions, toolkit::functions()))
}
