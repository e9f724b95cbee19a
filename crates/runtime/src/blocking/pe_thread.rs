//! The threads of a PE by number, and which of them the calling thread is.

use std::cell::Cell;

/// A thread of a PE, numbered from 0: those that run sources in the order of the PE's operators,
/// then the one of the timers, if any. The number behind these belongs to the thread that
/// closes the operators.
pub(crate) type PeThreadId = u32;

thread_local! {
    /// The number of the calling thread; `None` on threads that run no sources or timers.
    static CURRENT: Cell<Option<PeThreadId>> = const { Cell::new(None) };
}

/// Gives the calling thread its number.
pub(crate) fn set_current(thread: PeThreadId) {
    CURRENT.set(Some(thread));
}

/// The number of the calling thread; `None` if it is none of those that run a PE's sources and
/// timers.
pub(crate) fn current() -> Option<PeThreadId> {
    CURRENT.get()
}
