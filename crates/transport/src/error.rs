//! What can go wrong on a crossing edge.

use std::fmt;
use std::io;

/// Why an end of an edge does not work.
#[derive(Debug)]
pub enum Error {
    /// The other side is gone, without a word or by a broken connection. What it had committed has
    /// been delivered.
    PeerLost(PeerLoss),
    /// What came is not from a peer of this job, or not of this version, or broken: what is wrong.
    Refused(String),
    /// The system refused something: what was tried, and why it failed.
    System(String, io::Error),
}

/// Who is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerLoss {
    /// The receiver's number, or `None` for the sender.
    pub receiver: Option<u32>,
    /// What was noticed: `the process has ended`, `connection reset`.
    pub reason: String,
}

impl Error {
    /// From a failed system call: what was tried.
    pub fn system(tried: impl Into<String>, error: impl Into<io::Error>) -> Error {
        Error::System(tried.into(), error.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::PeerLost(PeerLoss {
                receiver,
                reason: why,
            }) => match receiver {
                Some(number) => write!(f, "receiver {number} is gone: {why}"),
                None => write!(f, "the sender is gone: {why}"),
            },
            Error::Refused(why) => f.write_str(why),
            Error::System(tried, error) => write!(f, "cannot {tried}: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::System(_, error) => Some(error),
            _ => None,
        }
    }
}
