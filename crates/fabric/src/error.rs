//! Errors of this crate, each a sentence for the user.

use std::fmt;

/// A fault of the library, of a provider or of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FabricError {
    /// libfabric is not installed, or a library that it needs.
    NoLibrary(String),
    /// No provider matches the query; the sentence says which and what to try.
    NoProvider(String),
    /// A call of libfabric has failed.
    Call {
        /// Name of the call, such as `fi_connect`.
        call: &'static str,
        /// libfabric's number of the error, positive.
        code: i32,
        /// libfabric's text for it.
        text: String,
    },
    /// The connection has ended or could not be made: the peer is gone, or it has refused.
    Disconnected(String),
    /// The operating system refuses; the sentence says what.
    System(String),
    /// An argument is outside of a memory, or names something that does not exist.
    OutOfBounds(String),
}

impl fmt::Display for FabricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FabricError::NoLibrary(why) => write!(
                f,
                "libfabric.so.1 cannot be loaded ({why}); Debian and Ubuntu have it in the package \
                 libfabric1, Fedora and RHEL in libfabric"
            ),
            FabricError::NoProvider(sentence)
            | FabricError::System(sentence)
            | FabricError::Disconnected(sentence)
            | FabricError::OutOfBounds(sentence) => f.write_str(sentence),
            FabricError::Call { call, code, text } => {
                write!(f, "libfabric's {call} failed: {text} ({code})")
            }
        }
    }
}

impl std::error::Error for FabricError {}
