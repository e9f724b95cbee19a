//! The thread of a PE that the calling thread is, or takes the part of.

use std::cell::Cell;

use graph::PeThreadId;

/// The number of no thread, where an atomic number says which thread it is.
pub(crate) const NO_THREAD: PeThreadId = PeThreadId(u32::MAX);

thread_local! {
    /// The number of the calling thread; `None` on threads that run no sources or timers.
    static CURRENT: Cell<Option<PeThreadId>> = const { Cell::new(None) };
}

/// Gives the calling thread a number, and returns the one before.
pub(crate) fn set_current(thread: Option<PeThreadId>) -> Option<PeThreadId> {
    CURRENT.replace(thread)
}

/// The number of the calling thread; `None` if it is none of those that run a PE's sources and
/// timers.
pub(crate) fn current() -> Option<PeThreadId> {
    CURRENT.get()
}
