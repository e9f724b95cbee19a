//! Threads that have a core of their own, besides those of queues: sources and receivers.
//!
//! A receiver is named by a stream that it brings in. Streams that share a receiver share its
//! thread and so its core.

use crate::{OperatorId, OutPortId};

/// A thread of a PE and the core that it has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The thread that runs on the core.
    pub thread: PinnedThread,
    /// The number of the core, as the system counts them.
    pub core: u32,
}

/// A thread that can be pinned and belongs to no queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinnedThread {
    /// The thread of a source.
    Source(OperatorId),
    /// The thread of the receiver that brings in a stream.
    Receiver(OutPortId),
}
