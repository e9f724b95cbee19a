//! Why a measurement cannot be made, in a sentence.

use std::fmt;
use std::io;

/// Why it has ended early.
#[derive(Debug)]
pub enum Error {
    /// An option that cannot be: why, and what would be right.
    Option(String),
    /// The topic.
    Topic(topic::Error),
    /// The output cannot be written.
    Output(io::Error),
    /// The thread cannot be put on its processor: why, and on which it could.
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
