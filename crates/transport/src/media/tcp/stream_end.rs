//! How a stream has ended, as its receiver sees it. Whatever came before is polled first.

use crate::{Error, PeerLoss};

/// The end of a stream.
#[derive(Clone)]
pub(crate) enum StreamEnd {
    /// The sender is gone: how.
    Lost(String),
    /// It broke its word: how.
    Refused(String),
}

impl StreamEnd {
    /// The sender has said that nothing follows.
    pub(crate) fn goodbye() -> StreamEnd {
        StreamEnd::Lost("it has closed its end".to_owned())
    }

    /// What a poll says of it.
    pub(crate) fn to_error(&self) -> Error {
        match self.clone() {
            StreamEnd::Refused(why) => Error::Refused(why),
            StreamEnd::Lost(why) => Error::PeerLost(PeerLoss {
                receiver: None,
                reason: why,
            }),
        }
    }
}
