//! The stop signal of a PE: a flag, and a way to sleep that a shutdown ends.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{before_sleep, pool_thread};

/// A handle to the shutdown of a PE. It is cheap to clone; any thread may request the shutdown, any
/// number of times.
///
/// ```
/// let stop = thalweg_runtime::StopSignal::default();
/// assert!(!stop.sleep(0.001), "slept to the end");
/// stop.request();
/// assert!(stop.sleep(60.0), "the request ends the sleep");
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<StopSignalState>);

#[derive(Debug, Default)]
struct StopSignalState {
    /// Set once, never cleared. Relaxed order suffices, because the flag publishes no data.
    is_raised: AtomicBool,
    /// Callbacks of [`StopSignal::on_request`]. The lock is held while the flag is set, so that no
    /// thread falls asleep between a look at the flag and its wait.
    callbacks: Mutex<Vec<StopCallback>>,
    woken: Condvar,
}

/// A callback that runs once, when the shutdown is requested.
struct StopCallback(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for StopCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StopCallback")
    }
}

/// Longest sleep, a hundred years: longer ones would overflow [`Instant`].
const SLEEP_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

impl StopSignal {
    /// Asks for an orderly shutdown: sources return, final markers follow, and all operators
    /// finish.
    pub fn request(&self) {
        let mut callbacks = self
            .0
            .callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.0.is_raised.store(true, Ordering::Relaxed);
        self.0.woken.notify_all();
        for callback in callbacks.drain(..) {
            (callback.0)();
        }
    }

    /// Whether a shutdown was requested.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.0.is_raised.load(Ordering::Relaxed)
    }

    /// Requests the shutdown after `seconds`, unless it was requested before.
    ///
    /// # Errors
    /// The system has no thread left for the wait.
    pub fn request_after(&self, seconds: f64) -> io::Result<()> {
        let stop = self.clone();
        let later = move || {
            stop.sleep(seconds);
            stop.request();
        };
        std::thread::Builder::new().spawn(later).map(drop)
    }

    /// Sleeps for `seconds`, or until a shutdown is requested. Returns whether it was.
    pub fn sleep(&self, seconds: f64) -> bool {
        let Some(pause) = positive_duration(seconds) else {
            return self.is_requested();
        };
        self.sleep_until(Instant::now() + pause)
    }

    /// Sleeps until the time `until`, or until a shutdown is requested. Returns whether it was.
    /// What the thread's operators hold back is sent before.
    pub fn sleep_until(&self, until: Instant) -> bool {
        if Instant::now() < until && !self.is_requested() {
            before_sleep::flush_until(until);
        }
        pool_thread::while_waiting(|| self.wait_until(until))
    }

    fn wait_until(&self, until: Instant) -> bool {
        let mut callbacks = self
            .0
            .callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.is_requested() {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.0.woken.wait_timeout(callbacks, left);
            callbacks = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Calls `callback` when the shutdown is requested, for threads that wait for something else
    /// too; immediately if it was requested already.
    pub fn on_request(&self, callback: impl FnOnce() + Send + 'static) {
        let mut callbacks = self
            .0
            .callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.is_requested() {
            drop(callbacks);
            callback();
        } else {
            callbacks.push(StopCallback(Box::new(callback)));
        }
    }

    /// Address of the flag for compiled code: one byte, 0 or 1.
    pub(crate) fn address(&self) -> *const u8 {
        self.0.is_raised.as_ptr().cast_const().cast()
    }
}

/// Seconds as a duration; `None` if there is nothing to wait for (zero, negative, not a number).
pub(crate) fn positive_duration(seconds: f64) -> Option<Duration> {
    if seconds > 0.0 {
        let duration = Duration::try_from_secs_f64(seconds);
        Some(duration.unwrap_or(SLEEP_MAX).min(SLEEP_MAX))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_wakes_a_sleeper_and_runs_callbacks() {
        let stop = StopSignal::default();
        let (sent, woken) = std::sync::mpsc::channel();
        let early = sent.clone();
        stop.on_request(move || early.send("before").unwrap());
        let sleeper = std::thread::spawn({
            let stop = stop.clone();
            move || stop.sleep(f64::INFINITY)
        });
        stop.request();
        assert!(sleeper.join().unwrap());
        stop.on_request(move || sent.send("after").unwrap());
        assert_eq!(woken.iter().collect::<Vec<_>>(), ["before", "after"]);
    }

    #[test]
    fn no_time_is_no_sleep() {
        let stop = StopSignal::default();
        for seconds in [0.0, -1.0, f64::NAN, 1e-9] {
            assert!(!stop.sleep(seconds));
        }
        assert_eq!(positive_duration(1e300), Some(SLEEP_MAX));
    }
}
