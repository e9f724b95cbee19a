//! Sets of readers that a writer shares with others of its process: with its admission, and with
//! the readers.

use std::sync::Arc;

use crate::sync::{AtomicU64, Ordering};

/// A bit for each reader that the writer waits for. Written by the admission, and by a writer that
/// dismisses a reader; read by the writer. Loads and stores pair where the memory barrier orders
/// them: `[admission]`.
pub(crate) type LiveReaders = Arc<AtomicU64>;

/// Readers of this process that were made together with the writer or admitted, not joined. Each
/// set has a bit for each reader; both bits are set before the reader exists.
pub(crate) struct ReadersInProcess {
    /// Readers that may still look at frames. Read by the writer: even a reader that was dismissed
    /// keeps its frames as long as it can look at them. Cleared by the reader when it is dropped;
    /// clearing and loading pair as release and acquire: `[in process]`.
    awaited: AtomicU64,
    /// Numbers that are in use. Read by the admission. Cleared as the last step of the reader's
    /// drop: until then the number must not be given to another reader, which the rest of the drop
    /// would mark as gone. Clearing and loading pair as release and acquire: `[number]`.
    numbers: AtomicU64,
}

impl ReadersInProcess {
    /// Both sets without any reader.
    pub(crate) fn new() -> ReadersInProcess {
        ReadersInProcess {
            awaited: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
        }
    }

    /// Adds readers, a bit for each, before they exist.
    pub(crate) fn add(&self, readers: u64) {
        self.numbers.fetch_or(readers, Ordering::Relaxed);
        self.awaited.fetch_or(readers, Ordering::Release);
    }

    /// Set of the readers that may still look at frames.
    #[inline]
    pub(crate) fn awaited(&self) -> u64 {
        self.awaited.load(Ordering::Acquire) // [in process]
    }

    /// Set of the numbers that are in use.
    pub(crate) fn numbers(&self) -> u64 {
        self.numbers.load(Ordering::Acquire) // [number]
    }

    /// Gives up the room of readers that look at no frame any more.
    pub(crate) fn stop_awaiting(&self, readers: u64) {
        self.awaited.fetch_and(!readers, Ordering::Release); // [in process]
    }

    /// Gives back the numbers of readers whose room was given up: others may have them now.
    pub(crate) fn free_numbers(&self, readers: u64) {
        self.numbers.fetch_and(!readers, Ordering::Release); // [number]
    }
}
