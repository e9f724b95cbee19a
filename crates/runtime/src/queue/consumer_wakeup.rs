//! How the consumer of a queue learns that there is an item again.

use transport::Wakeup;

use crate::blocking::region_pool::RegionWaker;

/// Tells the consumer of a queue that there is an item again.
#[derive(Clone, Debug)]
pub(crate) enum ConsumerWakeup {
    /// The consumer has a thread of its own.
    Thread(Wakeup),
    /// A thread of the pool runs the consumer's region.
    Pooled(RegionWaker),
}

impl ConsumerWakeup {
    /// Wakes the consumer's thread, or announces work for a thread of the pool.
    pub fn wake(&self) {
        match self {
            ConsumerWakeup::Thread(wakeup) => wakeup.wake(),
            ConsumerWakeup::Pooled(waker) => waker.wake(),
        }
    }
}
