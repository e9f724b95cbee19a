//! The threads of a PE by number, and which of them the calling thread is.

use std::cell::Cell;

/// A thread of a PE, numbered from 0 in the order of the PE's operators.
pub(crate) type PeThreadId = u32;

thread_local! {
    /// The number of the calling thread; `None` on threads that belong to no PE.
    static CURRENT: Cell<Option<PeThreadId>> = const { Cell::new(None) };
}

/// Gives the calling thread its number.
pub(crate) fn set_current(thread: PeThreadId) {
    CURRENT.set(Some(thread));
}

/// The number of the calling thread; `None` if no PE started it.
pub(crate) fn current() -> Option<PeThreadId> {
    CURRENT.get()
}
