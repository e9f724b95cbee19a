//! A counter of tuples that one thread at a time bumps and any thread may read.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows. The thread that is inside the operator writes it, or compiled code
/// there, with a plain load and store of 8 bytes. Any thread may read it and may see it stale.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`. Two threads never call this at one time, so a load and a store suffice.
    #[inline]
    pub fn add(&self, n: u64) {
        let now = self.0.load(Ordering::Relaxed);
        self.0.store(now.wrapping_add(n), Ordering::Relaxed);
    }

    /// The count so far, perhaps stale.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The address at which compiled code bumps the counter, valid as long as the counter lives.
    pub fn address(&self) -> *mut u64 {
        self.0.as_ptr()
    }
}
