//! How a loop waits for the other side: it spins, and now and then gives its core away.
//!
//! Every raw control and every peer waits by this type, so no contender gains from another way of
//! waiting. It never sleeps: waking a thread would be most of what is measured.

use std::hint::spin_loop;
use std::thread;

/// Spins, and yields the core once in `SPINS_PER_YIELD` calls, in case the other side has none.
///
/// # Example
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use thalweg_control::Backoff;
///
/// let is_ready = AtomicBool::new(false);
/// std::thread::scope(|scope| {
///     scope.spawn(|| is_ready.store(true, Ordering::Release));
///     let mut backoff = Backoff::default();
///     while !is_ready.load(Ordering::Acquire) {
///         backoff.wait();
///     }
/// });
/// ```
#[derive(Debug, Default)]
pub struct SpinBackoff<const SPINS_PER_YIELD: u32> {
    /// Calls of [`SpinBackoff::wait`] so far.
    waits: u32,
}

/// The backoff of raw controls, and of contenders that run beside one in the same bench: a yield in
/// 1,000 spins, about 40 microseconds of them.
pub type Backoff = SpinBackoff<1000>;

impl<const SPINS_PER_YIELD: u32> SpinBackoff<SPINS_PER_YIELD> {
    /// Lets a moment pass because there was nothing to do.
    #[inline]
    pub fn wait(&mut self) {
        self.waits = self.waits.wrapping_add(1);
        match self.waits.is_multiple_of(SPINS_PER_YIELD) {
            true => thread::yield_now(),
            false => spin_loop(),
        }
    }
}
