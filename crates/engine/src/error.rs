//! What goes wrong outside of a program's text: files that cannot be read, jobs that fail.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use graph::Program;
use planner::PlanError;

/// Why compiling or running did not come to its end. The sentences say what was tried.
#[derive(Debug)]
pub enum Error {
    /// A source file cannot be read.
    Read(PathBuf, io::Error),
    /// The data directory is not there.
    DataDirectory(PathBuf),
    /// The program failed while it ran, or could not be set up; one line a failure.
    Program(String),
    /// There is no such plan for the program; one line or more a reason.
    Plan(String),
    /// The system refused something: what was tried, and why it failed.
    System(String, io::Error),
    /// Compiled code could not be made: a mistake of the engine.
    Codegen(String),
    /// The program ended because nobody reads its output any more; there is nothing to say.
    OutputClosed,
}

impl Error {
    /// A source file that cannot be read.
    pub(crate) fn read(path: &Path, error: io::Error) -> Error {
        Error::Read(path.to_owned(), error)
    }

    /// A plan that cannot be made.
    pub(crate) fn plan(program: &Program, errors: &[PlanError]) -> Error {
        let texts: Vec<_> = errors.iter().map(|error| error.text(program)).collect();
        Error::Plan(texts.join("\n"))
    }

    /// From a failed system call: what was tried.
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
