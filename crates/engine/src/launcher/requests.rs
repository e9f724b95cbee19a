//! Requests of other threads to the launcher's thread.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use transport::Wakeup;

/// Requests of other threads to the launcher's thread, and the counts that it returns.
pub struct LauncherRequests {
    /// Wakes the launcher's thread when there is a request.
    pub wakeup: Wakeup,
    /// Whether the counts of the sources were requested.
    pub wants_counts: AtomicBool,
    counts: Mutex<Vec<(String, u64)>>,
}

impl LauncherRequests {
    pub fn new() -> io::Result<LauncherRequests> {
        Ok(LauncherRequests {
            wakeup: Wakeup::new()?,
            wants_counts: AtomicBool::new(false),
            counts: Mutex::default(),
        })
    }

    pub fn set_counts(&self, counts: Vec<(String, u64)>) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// Returns the last counts and requests new ones.
    pub fn counts(&self) -> Vec<(String, u64)> {
        self.wants_counts.store(true, Ordering::Relaxed);
        self.wakeup.wake();
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
