//! Completions: news of operations that are done.

use crate::error::FabricError;

/// Most completions that a call of [`poll_completions`](crate::RdmaNode::poll_completions) appends:
/// a list with room for them does not grow.
pub const COMPLETIONS_PER_POLL: usize = 32;

/// News of an operation that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Number that was given with the operation. For a peer's write: that of the receive buffer
    /// which the write has used up, or 0 if the provider uses none.
    pub number: u64,
    /// Outcome of the operation.
    pub kind: CompletionKind,
}

/// Outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A write, read or message of this node is done: its memory may change.
    Posted,
    /// A message has filled a receive buffer.
    Received {
        /// Size of the message in bytes.
        bytes: usize,
        /// Number that came with the message.
        immediate: Option<u64>,
    },
    /// A peer's write has been placed, with this number.
    RemoteWrite {
        /// Number that came with the write.
        immediate: u64,
    },
    /// The operation has failed, mostly because the connection is gone.
    Failed(FabricError),
}
