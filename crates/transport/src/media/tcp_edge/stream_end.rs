//! How a stream over sockets ends: the last frame, the time for it to get out, and the reason that
//! the receiver reports. Frames that came before the end are polled first.

use std::time::Duration;

use crate::{Error, PeerLoss};

/// Flags of the padding frame that says that the sender has closed its end and nothing follows.
pub(crate) const END_OF_STREAM: u8 = 1;

/// Longest time for which the IO thread goes on sending committed frames after a sending end was
/// dropped. Ten seconds bridge a receiver that pauses, and do not hold up a shutdown for ever.
pub(crate) const LINGER_TIMEOUT: Duration = Duration::from_secs(10);

/// How a stream has ended.
#[derive(Clone)]
pub(crate) enum StreamEnd {
    /// The sender is gone, in this way.
    Lost(String),
    /// The sender has sent broken bytes, in this way.
    Refused(String),
}

impl StreamEnd {
    /// The sender has closed its end in order.
    pub(crate) fn goodbye() -> StreamEnd {
        StreamEnd::Lost("it has closed its end".to_owned())
    }

    /// The error that a poll returns for it.
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
