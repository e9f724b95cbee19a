//! The backend that makes machine code of a program.

use graph::Program;
use jit::Jit;

use crate::error::Error;

/// Makes the JIT backend of a program.
///
/// # Errors
/// [`Error::Codegen`] if the machine is not supported or a function cannot be compiled.
pub fn jit_backend(program: &Program, options: jit::JitOptions) -> Result<Jit, Error> {
    Jit::new(&program.functions, toolkit::functions(), options)
        .map_err(|error| Error::Codegen(error.to_string()))
}
