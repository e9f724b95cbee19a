//! Errors of topics, each a sentence for the user.

use std::fmt;
use std::io;

use ring::{JoinError, RingFault};

use crate::config::ConfigError;

/// The reason why a call has failed.
#[derive(Debug)]
pub enum Error {
    /// No topic can have this name; the text says why.
    InvalidName(String),
    /// The configuration is invalid.
    Config(ConfigError),
    /// The topic has a publisher already.
    AlreadyPublished {
        /// Name of the topic.
        topic: String,
        /// Process id of the publisher.
        pid: i32,
    },
    /// A process of another user holds a name of this topic.
    ForeignUser {
        /// Name of the topic.
        topic: String,
        /// User id of that process.
        user: u32,
    },
    /// A process that does not answer holds a name of this topic.
    Unresponsive {
        /// Name of the topic.
        topic: String,
    },
    /// As many subscribers as possible wait for the topic already.
    TooManyWaiting {
        /// Name of the topic.
        topic: String,
    },
    /// The publisher serves as many subscribers as it may.
    PublisherFull {
        /// Name of the topic.
        topic: String,
        /// Most subscribers of the publisher.
        receivers: u32,
    },
    /// The message is longer than the ring can hold.
    MessageTooLong {
        /// Bytes of the message.
        bytes: usize,
        /// Most bytes of a message.
        bytes_max: usize,
    },
    /// More bytes are completed than were acquired.
    NotAcquired {
        /// Bytes that were to be completed.
        bytes: usize,
        /// Bytes that were acquired; `None`: no message was.
        acquired: Option<usize>,
    },
    /// The publisher's handshake is invalid.
    InvalidHandshake {
        /// Name of the topic.
        topic: String,
        /// Sentence that says what is wrong.
        reason: String,
    },
    /// The publisher's ring cannot be joined.
    Join(JoinError),
    /// The publisher has broken the ring: no correct publisher writes this.
    RingBroken(RingFault),
    /// The system refused a call.
    System {
        /// Action that was tried; completes the sentence "cannot ...".
        action: &'static str,
        /// Error of the system.
        error: io::Error,
    },
}

impl Error {
    /// The error of a failed system call.
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
