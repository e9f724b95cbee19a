//! How a stream has ended, as its receiver sees it. Whatever came before is polled first.

use crate::{Error, Loss};

/// The end of a stream.
#[derive(Clone)]
pub(crate) enum End {
    /// The sender is gone: how.
    Lost(String),
    /// It broke its word: how.
    Refused(String),
}

impl End {
    /// The sender has said that nothing follows.
    pub(crate) fn goodbye() -> End {
        End::Lost("it has closed its end".to_owned())
    }

    /// What a poll says of it.
    pub(crate) fn error(&self) -> Error {
        match self.clone() {
            End::Refused(why) => Error::Refused(why),
            End::Lost(why) => Error::Lost(Loss {
                receiver: None,
                why,
            }),
        }
    }
}
