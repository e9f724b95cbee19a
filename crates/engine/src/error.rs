//! Errors outside of a program's text: files that cannot be read, jobs that fail.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use graph::Program;
use planner::PlanError;

/// Why compiling or running a program failed; as text, a sentence that says what was tried.
#[derive(Debug)]
pub enum Error {
    /// A source file or folder cannot be read.
    Read(PathBuf, io::Error),
    /// The data directory does not exist.
    DataDirectory(PathBuf),
    /// The program failed while it ran, or could not be set up; the text has a line for each
    /// failure.
    Program(String),
    /// No plan for the program meets the requirements; the text has at least a line for each
    /// reason.
    Plan(String),
    /// A system call failed: what was tried, and the error of the call.
    System(String, io::Error),
    /// Generating machine code failed; a bug of the engine.
    Codegen(String),
    /// The program ended because the reader of its output has gone; there is nothing to report.
    OutputClosed,
}

impl Error {
    /// The error of a source file or folder that cannot be read.
    pub(crate) fn read(path: &Path, error: io::Error) -> Error {
        Error::Read(path.to_owned(), error)
    }

    /// The error of a plan that cannot be made.
    pub(crate) fn plan(program: &Program, errors: &[PlanError]) -> Error {
        let texts: Vec<_> = errors.iter().map(|error| error.text(program)).collect();
        Error::Plan(texts.join("\n"))
    }

    /// The error of a failed system call; `tried` completes the sentence "cannot ...".
    pub(crate) fn system(tried: impl Into<String>, error: impl Into<io::Error>) -> Error {
        Error::System(tried.into(), error.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Error::DataDirectory(path) => {
                write!(f, "the data directory {} does not exist", path.display())
            }
            Error::Program(message) | Error::Plan(message) => f.write_str(message),
            Error::System(tried, error) => write!(f, "cannot {tried}: {error}"),
            Error::Codegen(message) => write!(f, "cannot compile to machine code: {message}"),
            Error::OutputClosed => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read(_, error) | Error::System(_, error) => Some(error),
            _ => None,
        }
    }
}
