//! Counters of a sending end: what went out, and how long it had to wait for whom.
//!
//! Plain atomics that the end writes and whoever exports them reads; nothing on the data path ever
//! reads them. What can be seen without the end's help is written when somebody asks:
//! [`EdgeCounters::refresh`].

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::time::{ClockId, clock_gettime};

/// Refusals that are kept.
const LAST_REFUSALS_MAX: usize = 8;

/// What an end counts. Numbers only grow unless they say otherwise.
#[derive(Debug, Default)]
pub struct EdgeCounters {
    /// Frames that went out. On rings and rum 0: they count no frames, and whoever commits them
    /// does.
    pub frames: AtomicU64,
    /// Bytes of them, with their headers.
    pub bytes: AtomicU64,
    /// Batches that they went out in, on media that batch.
    pub batches: AtomicU64,
    /// Bytes that are committed and not yet released by the slowest receiver, a gauge.
    pub queued_bytes: AtomicU64,
    /// The receiver that has most to release, a gauge.
    pub slowest_receiver: AtomicU32,
    /// Time that the end was without room, in nanoseconds, without the wait that lasts.
    pub blocked_ns: AtomicU64,
    /// Since when it is without room, in nanoseconds of the monotonic clock; 0: there is room.
    pub blocked_since_ns: AtomicU64,
    /// Connections that were made again.
    pub reconnects: AtomicU64,
    /// Connections that were refused.
    pub refusals: AtomicU64,
    last_refusals: Mutex<VecDeque<String>>,
    refresh: Mutex<CounterRefresh>,
}

/// Brings numbers up to date.
#[derive(Default)]
struct CounterRefresh(Option<CounterRefreshFn>);

type CounterRefreshFn = Box<dyn Fn(&EdgeCounters) + Send>;

impl fmt::Debug for CounterRefresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Look").field(&self.0.is_some()).finish()
    }
}

impl EdgeCounters {
    /// Brings up to date what the end does not write by itself; before a look at the numbers.
    pub fn refresh(&self) {
        if let CounterRefresh(Some(look)) = &*self.lock_refresh() {
            look(self);
        }
    }

    /// How it is brought up to date.
    pub(crate) fn set_refresh(&self, look: impl Fn(&EdgeCounters) + Send + 'static) {
        self.lock_refresh().0 = Some(Box::new(look));
    }

    /// The end goes: the numbers stay as they are.
    pub(crate) fn freeze(&self) {
        self.refresh();
        self.lock_refresh().0 = None;
    }

    fn lock_refresh(&self) -> MutexGuard<'_, CounterRefresh> {
        self.refresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last connections that were refused, oldest first: who, and why.
    pub fn last_refusals(&self) -> Vec<String> {
        let last = self.last_refusals.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner);
        last.iter().cloned().collect()
    }

    /// Time that the end was without room, in nanoseconds, with the wait that lasts.
    pub fn blocked_ns_now(&self) -> u64 {
        let since = self.blocked_since_ns.load(Ordering::Relaxed);
        let lasts = match since {
            0 => 0,
            since => now_ns().saturating_sub(since),
        };
        self.blocked_ns.load(Ordering::Relaxed) + lasts
    }

    /// There is no room. Called by the end alone.
    pub(crate) fn block(&self) {
        if self.blocked_since_ns.load(Ordering::Relaxed) == 0 {
            self.blocked_since_ns.store(now_ns(), Ordering::Relaxed);
        }
    }

    /// There is room. Called by the end alone.
    pub(crate) fn unblock(&self) {
        let since = self.blocked_since_ns.load(Ordering::Relaxed);
        if since != 0 {
            let waited = now_ns().saturating_sub(since);
            self.blocked_ns.fetch_add(waited, Ordering::Relaxed);
            self.blocked_since_ns.store(0, Ordering::Relaxed);
        }
    }

    /// A connection was refused.
    pub(crate) fn count_refusal(&self, why: String) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
        let last = self.last_refusals.lock();
        let mut last = last.unwrap_or_else(PoisonError::into_inner);
        if last.len() == LAST_REFUSALS_MAX {
            last.pop_front();
        }
        last.push_back(why);
    }
}

/// The monotonic clock, which is the same for every process of a host.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_add_up() {
        let counters = EdgeCounters::default();
        counters.unblock();
        assert_eq!(counters.blocked_ns_now(), 0);
        counters.block();
        let since = counters.blocked_since_ns.load(Ordering::Relaxed);
        counters.block();
        assert_eq!(counters.blocked_since_ns.load(Ordering::Relaxed), since);
        while counters.blocked_ns_now() == 0 {}
        counters.unblock();
        let waited = counters.blocked_ns.load(Ordering::Relaxed);
        assert!(waited > 0);
        assert_eq!(counters.blocked_ns_now(), waited);
    }

    #[test]
    fn the_last_refusals_are_kept() {
        let counters = EdgeCounters::default();
        (0..20).for_each(|number| counters.count_refusal(number.to_string()));
        let last = counters.last_refusals();
        assert_eq!(last, ["12", "13", "14", "15", "16", "17", "18", "19"]);
    }
}
