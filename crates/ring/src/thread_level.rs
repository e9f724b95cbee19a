//! The thread level: how many threads of a pool look for work, and which of the others to wake.
//!
//! ```text
//!            begin_sleep                        begin_wait
//!   asleep <-------------  active: looks for   ------------> waits for another thread
//!          ------------->  work, or does it    <------------
//!      take_sleeper, end_sleep                  end_wait
//! ```
//! There are as many active threads as the level says, as long as there is work for them. A thread
//! that waits for another one does not count, so that another takes its place.
//!
//! # No work is forgotten
//! A thread announces its sleep or wait, and then looks whether there is work
//! ([`crate::ClaimWord`]); a thread that makes work announces it, and then looks whether the level
//! is reached. A fence stands between the two on both sides (`[sleep]`), so one of the two sees the
//! other. If the level is reached, an active thread is left that looks later, before it sleeps.

use crate::sync::{AtomicU32, Ordering, fence};

/// Numbers of active and of wanted threads of a pool, and the threads that sleep.
///
/// ```
/// use thalweg_ring::ThreadLevel;
///
/// let level = ThreadLevel::new(2, 1);
/// level.add_active();
/// level.begin_sleep(0);
/// assert_eq!(level.take_sleeper(), Some(0), "wake it: one active thread is wanted");
/// assert_eq!(level.take_sleeper(), None);
/// assert!(!level.end_sleep(0), "it was woken");
/// ```
#[derive(Debug)]
pub struct ThreadLevel {
    /// Number of threads that look for work or do it.
    active: AtomicU32,
    /// Number of active threads that is wanted; at least 1.
    level: AtomicU32,
    /// By thread: 1 while it sleeps and nobody has woken it. Changed by swaps alone, so that each
    /// sees the one before.
    asleep: Box<[AtomicU32]>,
}

impl ThreadLevel {
    /// The level of a pool of at most `threads_max` threads, none of which is active yet.
    pub fn new(threads_max: usize, level: u32) -> ThreadLevel {
        ThreadLevel {
            active: AtomicU32::new(0),
            level: AtomicU32::new(level.max(1)),
            asleep: (0..threads_max).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Sets the number of active threads that is wanted.
    pub fn set_level(&self, level: u32) {
        self.level.store(level.max(1), Ordering::Release);
        fence(Ordering::SeqCst); // [sleep]
    }

    /// Counts a thread that begins.
    pub fn add_active(&self) {
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether fewer threads are active than wanted.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.active.load(Ordering::Acquire) < self.level.load(Ordering::Acquire)
    }

    /// Announces that a thread waits for another one. The caller then looks whether there is work
    /// for a thread in its place.
    pub fn begin_wait(&self) {
        self.active.fetch_sub(1, Ordering::AcqRel);
        fence(Ordering::SeqCst); // [sleep]
    }

    /// Notes that the wait is over.
    pub fn end_wait(&self) {
        self.add_active();
    }

    /// Announces that a thread is about to sleep. The thread then looks for work, and if there is
    /// some, calls [`ThreadLevel::end_sleep`] instead of sleeping.
    pub fn begin_sleep(&self, thread: usize) {
        self.asleep[thread].swap(1, Ordering::AcqRel);
        self.active.fetch_sub(1, Ordering::AcqRel);
        fence(Ordering::SeqCst); // [sleep]
    }

    /// Announces that a thread is about to sleep if more are active than wanted. `true`: it sleeps
    /// until it is woken, work or not.
    pub fn begin_surplus_sleep(&self, thread: usize) -> bool {
        if self.active.load(Ordering::Relaxed) <= self.level.load(Ordering::Relaxed) {
            return false;
        }
        // First, so that a thread which then finds too few active sees this one.
        self.asleep[thread].swap(1, Ordering::AcqRel);
        let mut active = self.active.load(Ordering::Relaxed);
        while active > self.level.load(Ordering::Relaxed) {
            let fewer = active - 1;
            match self
                .active
                .compare_exchange(active, fewer, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => {
                    fence(Ordering::SeqCst); // [sleep]
                    return true;
                }
                Err(now) => active = now,
            }
        }
        if self.asleep[thread].swap(0, Ordering::AcqRel) == 0 {
            // It was woken and counted, although it never slept.
            self.active.fetch_sub(1, Ordering::AcqRel);
        }
        false
    }

    /// Ends a sleep by the thread itself. `false`: another thread has woken and counted it.
    pub fn end_sleep(&self, thread: usize) -> bool {
        let was_asleep = self.asleep[thread].swap(0, Ordering::AcqRel) == 1;
        if was_asleep {
            self.add_active();
        }
        was_asleep
    }

    /// A thread that sleeps, if fewer are active than wanted. It is counted as active; the caller
    /// wakes it.
    pub fn take_sleeper(&self) -> Option<usize> {
        if !self.is_short() {
            return None;
        }
        let mut all = self.asleep.iter();
        let sleeper = all.position(|asleep| {
            asleep.load(Ordering::Relaxed) == 1 && asleep.swap(0, Ordering::AcqRel) == 1
        })?;
        self.add_active();
        Some(sleeper)
    }
}
