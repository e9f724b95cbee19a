//! Errors of a measurement, each a sentence for the user.

use std::fmt;
use std::io;

/// The reason why a measurement has ended early.
#[derive(Debug)]
pub enum Error {
    /// An option is invalid; the text says why, and what would be right.
    Option(String),
    /// The topic cannot be used.
    Topic(topic::Error),
    /// The output cannot be written.
    Output(io::Error),
    /// The thread cannot be pinned; the text says why, and to which processors it could be.
    Affinity(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Option(why) | Error::Affinity(why) => f.write_str(why),
            Error::Topic(error) => write!(f, "{error}"),
            Error::Output(error) => write!(f, "cannot write the results: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<topic::Error> for Error {
    fn from(error: topic::Error) -> Error {
        Error::Topic(error)
    }
}

impl From<topic::ConfigError> for Error {
    fn from(error: topic::ConfigError) -> Error {
        Error::Option(error.to_string())
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Output(error)
    }
}
