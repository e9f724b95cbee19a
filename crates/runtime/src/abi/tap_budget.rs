//! The budget of a tap: how many tuples of a stream somebody still wants to see.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Number of tuples of an output port that a tap still takes; 0 if nobody taps the stream. A thread
/// that watches the PE sets it, the thread that submits lowers it. Compiled code looks whether it
/// is 0, and calls [`super::CodeOutlet::tap`] if not.
#[derive(Debug, Default)]
pub struct TapBudget {
    tuples: AtomicU32,
    is_hidden: AtomicBool,
}

impl TapBudget {
    /// Sets how many tuples are taken from now on.
    pub fn set(&self, tuples: u32) {
        self.tuples.store(tuples, Ordering::Relaxed);
    }

    /// Whether the next tuple is to be taken.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.tuples.load(Ordering::Relaxed) != 0
    }

    /// Takes one from the budget. Returns false if there was none left.
    pub fn take(&self) -> bool {
        let order = Ordering::Relaxed;
        let lower = |left: u32| left.checked_sub(1);
        self.tuples.fetch_update(order, order, lower).is_ok()
    }

    /// The address where compiled code looks, valid as long as the budget lives: 4 bytes.
    pub fn address(&self) -> *mut u32 {
        self.tuples.as_ptr()
    }

    /// Notes that compiled code takes tuples to consumers without a look at the budget.
    pub fn hide(&self) {
        self.is_hidden.store(true, Ordering::Relaxed);
    }

    /// Whether tuples are not seen.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden.load(Ordering::Relaxed)
    }
}
