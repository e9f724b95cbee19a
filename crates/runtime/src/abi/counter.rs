//! A counter of tuples that one thread at a time bumps and any thread may read.

use std::sync::atomic::{AtomicU64, Ordering};

/// Only grows. Written by the thread that is inside the operator (or by compiled code there, with a
/// plain 8-byte load and store), read by anybody, who may see it stale.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds; never called by two threads at the same time, so a load and a store suffice.
    #[inline]
    pub fn add(&self, n: u64) {
        let now = self.0.load(Ordering::Relaxed);
        self.0.store(now.wrapping_add(n), Ordering::Relaxed);
    }

    /// The count, perhaps stale.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Where compiled code finds it.
    pub fn address(&self) -> *mut u64 {
        self.0.as_ptr()
    }
}
