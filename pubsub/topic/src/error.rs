//! What can go wrong with a topic, in sentences.

use std::fmt;
use std::io;

use ring::{JoinError, RingFault};

use crate::config::ConfigError;

/// Why a call has failed.
#[derive(Debug)]
pub enum Error {
    /// No topic can be called that: why.
    InvalidName(String),
    /// A configuration that cannot be.
    Config(ConfigError),
    /// The topic has a publisher.
    AlreadyPublished {
        /// The topic.
        topic: String,
        /// The publisher's process.
        pid: i32,
    },
    /// A name of ours is held by somebody else.
    ForeignUser {
        /// The topic.
        topic: String,
        /// The other's number.
        user: u32,
    },
    /// A name of ours is held by somebody who does not answer.
    Unresponsive {
        /// The topic.
        topic: String,
    },
    /// So many subscribers wait for the topic already.
    TooManyWaiting {
        /// The topic.
        topic: String,
    },
    /// The publisher has no place left.
    PublisherFull {
        /// The topic.
        topic: String,
        /// How many subscribers it takes.
        receivers: u32,
    },
    /// A message that the ring can never hold.
    MessageTooLong {
        /// Bytes that were asked for.
        bytes: usize,
        /// Bytes that there may be.
        bytes_max: usize,
    },
    /// More is completed than was acquired.
    NotAcquired {
        /// Bytes to be completed.
        bytes: usize,
        /// Bytes that were acquired, if any.
        acquired: Option<usize>,
    },
    /// The publisher speaks another language.
    InvalidHandshake {
        /// The topic.
        topic: String,
        /// What is wrong.
        reason: String,
    },
    /// The publisher's ring cannot be joined.
    Join(JoinError),
    /// The publisher has written something into the ring that no publisher writes.
    RingBroken(RingFault),
    /// The system refused something.
    System {
        /// What was tried.
        action: &'static str,
        /// What it said.
        error: io::Error,
    },
}

impl Error {
    /// The system has refused what was tried.
    pub(crate) fn system(what: &'static str, error: impl Into<io::Error>) -> Error {
        let error = error.into();
        Error::System {
            action: what,
            error,
        }
    }

    /// The process that holds the topic's name does not answer.
    pub(crate) fn unresponsive(topic: &str) -> Error {
        let topic = topic.to_owned();
        Error::Unresponsive { topic }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidName(why) => write!(f, "{why}"),
            Error::Config(error) => write!(f, "{error}"),
            Error::AlreadyPublished { topic, pid } => write!(
                f,
                "topic `{topic}` has a publisher already, process {pid}; a topic has one at a time"
            ),
            Error::ForeignUser { topic, user } => write!(
                f,
                "topic `{topic}` of this user is held by a process of user {user}; it is not trusted"
            ),
            Error::Unresponsive { topic } => write!(
                f,
                "the name of topic `{topic}` is held by a process that does not answer"
            ),
            Error::TooManyWaiting { topic } => write!(
                f,
                "as many subscribers as there may be wait for topic `{topic}` already"
            ),
            Error::PublisherFull { topic, receivers } => write!(
                f,
                "the publisher of topic `{topic}` takes {receivers} subscribers and has them all; \
                 its `receivers` can be set to more"
            ),
            Error::MessageTooLong {
                bytes,
                bytes_max: most,
            } => write!(
                f,
                "a message of {bytes} bytes can never have room; with this ring one has at most \
                 {most}, and `ring_bytes` can be set to more"
            ),
            Error::NotAcquired { bytes, acquired } => match acquired {
                None => write!(f, "{bytes} bytes are completed that were not acquired"),
                Some(room) => write!(f, "{bytes} bytes are completed where {room} were acquired"),
            },
            Error::InvalidHandshake { topic, reason: why } => {
                write!(
                    f,
                    "whoever publishes topic `{topic}` is no publisher: {why}"
                )
            }
            Error::Join(error) => write!(f, "{error}"),
            Error::RingBroken(fault) => write!(f, "the publisher has broken the ring: {fault}"),
            Error::System {
                action: what,
                error,
            } => write!(f, "cannot {what}: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::System { error, .. } => Some(error),
            Error::Join(error) => Some(error),
            Error::RingBroken(fault) => Some(fault),
            Error::Config(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Error {
        Error::Config(error)
    }
}
