//! Counters of a sending end: how much went out, and how long it waited for which receiver.
//!
//! The end writes plain atomics, and an exporter reads them; nothing on a tuple's way reads them.
//! Numbers that can be seen without the end are written when the exporter asks:
//! [`EdgeCounters::refresh`].

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::monotonic_clock::monotonic_ns;

/// Number of refusals whose reasons are kept: enough for a user to see a pattern.
const LAST_REFUSALS_MAX: usize = 8;

/// Counters of a sending end. Numbers only grow unless their doc says that they are gauges.
///
/// # Example
/// ```
/// use std::sync::atomic::Ordering;
/// use thalweg_transport::{Batching, EdgeSpec, media};
///
/// # let spec = EdgeSpec {
/// #     name: "Trades.0".into(),
/// #     edge: 0,
/// #     receiver_count: 1,
/// #     ring_bytes: 4096,
/// #     batching: Batching::default(),
/// #     token: [7; 16],
/// #     listen: std::net::Ipv4Addr::LOCALHOST.into(),
/// # };
/// let (mut sender, _tickets) = media::find("ring").expect("a medium").open(&spec)?;
/// sender.try_write(1, 0, &[0; 56])?;
/// let counters = sender.counters().expect("rings count");
/// counters.refresh();
/// assert_eq!(counters.queued_bytes.load(Ordering::Relaxed), 64);
/// assert_eq!(counters.blocked_ns_now(), 0);
/// # Ok::<(), thalweg_transport::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct EdgeCounters {
    /// Frames that went out. 0 on rings, on rum, and on libraries that give room for runs, which
    /// count no frames: there the caller that commits them counts.
    pub frames: AtomicU64,
    /// Bytes of frames that went out, with their headers.
    pub bytes: AtomicU64,
    /// Batches that the frames went out in, on media that batch.
    pub batches: AtomicU64,
    /// Bytes committed and not yet released by the slowest receiver; a gauge.
    pub queued_bytes: AtomicU64,
    /// Number of the receiver that has most to release; a gauge.
    pub slowest_receiver: AtomicU32,
    /// Nanoseconds for which the end had no room, without a wait that still lasts.
    pub blocked_ns: AtomicU64,
    /// Time since which the end has had no room, in nanoseconds of the monotonic clock; 0: it has
    /// room.
    pub blocked_since_ns: AtomicU64,
    /// Connections that were made again after a break.
    pub reconnects: AtomicU64,
    /// Connections that the listener has refused.
    pub refusals: AtomicU64,
    /// Counters of each rail of a striped stream; empty without rails.
    pub rails: Vec<RailCounters>,
    last_refusals: Mutex<VecDeque<String>>,
    refresh: Mutex<CounterRefresh>,
}

/// Counters of one rail of a striped stream, over all its connections. Numbers only grow.
#[derive(Debug, Default)]
pub struct RailCounters {
    /// Batches that went out on this rail.
    pub batches: AtomicU64,
    /// Bytes of these batches, with their headers.
    pub bytes: AtomicU64,
    /// Connections of this rail that broke.
    pub breaks: AtomicU64,
}

/// Function that brings the numbers up to date, if the end has one.
#[derive(Default)]
struct CounterRefresh(Option<CounterRefreshFn>);

type CounterRefreshFn = Box<dyn Fn(&EdgeCounters) + Send>;

impl fmt::Debug for CounterRefresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Look").field(&self.0.is_some()).finish()
    }
}

impl EdgeCounters {
    /// Counters of an end whose stream is striped over this many rails.
    pub(crate) fn with_rails(rails: usize) -> EdgeCounters {
        EdgeCounters {
            rails: (0..rails).map(|_| RailCounters::default()).collect(),
            ..EdgeCounters::default()
        }
    }

    /// Brings the numbers up to date that the end does not write by itself. Call it before reading
    /// them.
    pub fn refresh(&self) {
        if let CounterRefresh(Some(refresh)) = &*self.lock_refresh() {
            refresh(self);
        }
    }

    /// Sets the function that [`EdgeCounters::refresh`] calls.
    pub(crate) fn set_refresh(&self, refresh: impl Fn(&EdgeCounters) + Send + 'static) {
        self.lock_refresh().0 = Some(Box::new(refresh));
    }

    /// Refreshes the numbers a last time; called when the end is dropped.
    pub(crate) fn freeze(&self) {
        self.refresh();
        self.lock_refresh().0 = None;
    }

    fn lock_refresh(&self) -> MutexGuard<'_, CounterRefresh> {
        self.refresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last refused connections, oldest first: which address, and why.
    pub fn last_refusals(&self) -> Vec<String> {
        let last = self.last_refusals.lock();
        let last = last.unwrap_or_else(PoisonError::into_inner);
        last.iter().cloned().collect()
    }

    /// Nanoseconds for which the end had no room, including a wait that still lasts.
    pub fn blocked_ns_now(&self) -> u64 {
        let since = self.blocked_since_ns.load(Ordering::Relaxed);
        let current = match since {
            0 => 0,
            since => monotonic_ns().saturating_sub(since),
        };
        self.blocked_ns.load(Ordering::Relaxed) + current
    }

    /// Notes that the end has no room. Only the end calls it.
    pub(crate) fn block(&self) {
        if self.blocked_since_ns.load(Ordering::Relaxed) == 0 {
            self.blocked_since_ns
                .store(monotonic_ns(), Ordering::Relaxed);
        }
    }

    /// Notes that the end has room. Only the end calls it.
    pub(crate) fn unblock(&self) {
        let since = self.blocked_since_ns.load(Ordering::Relaxed);
        if since != 0 {
            let waited = monotonic_ns().saturating_sub(since);
            self.blocked_ns.fetch_add(waited, Ordering::Relaxed);
            self.blocked_since_ns.store(0, Ordering::Relaxed);
        }
    }

    /// Counts a refused connection and keeps the reason.
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
