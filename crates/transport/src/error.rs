//! Errors of crossing edges.

use std::fmt;
use std::io;

/// The reason why an end of an edge does not work.
#[derive(Debug)]
pub enum Error {
    /// The other side is gone: it closed its end, died, or its connection broke. Frames that it had
    /// committed have been delivered.
    PeerLost(PeerLoss),
    /// The peer is not of this job or not of this version, or it sent broken bytes: the text says
    /// what is wrong.
    Refused(String),
    /// The system refused a call: what was tried, and why it failed.
    System(String, io::Error),
}

/// The end that is lost, and how that was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerLoss {
    /// Number of the lost receiver; `None`: the sender is lost.
    pub receiver: Option<u32>,
    /// How the loss was noticed, such as `the process has ended` or `connection reset`.
    pub reason: String,
}

impl Error {
    /// The error of a failed system call; `tried` completes the sentence "cannot ...".
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
