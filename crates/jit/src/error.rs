//! Errors while code is made.

use std::fmt;

use cranelift_codegen::ir::Function;
use cranelift_module::ModuleError;
use eval::{Fault, FaultKind};

/// Failure to generate code: a limit of the compiler or of the machine.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// An error that is described by a sentence.
    pub fn new(sentence: impl Into<String>) -> Error {
        Error(sentence.into())
    }

    /// The error of a function that Cranelift rejects. A debug build prints the function.
    pub fn compile(title: &str, error: &ModuleError, function: &Function) -> Error {
        let mut sentence = format!("{title} could not be compiled: {error}");
        if cfg!(debug_assertions) {
            if let ModuleError::Compilation(cause) = error {
                sentence = format!("{title} could not be compiled: {cause:?}");
            }
            sentence = format!("{sentence}\n{}", function.display());
        }
        Error(sentence)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<ModuleError> for Error {
    fn from(error: ModuleError) -> Error {
        Error(format!("the code could not be put together: {error}"))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::new(FaultKind::Limit, error.0)
    }
}
