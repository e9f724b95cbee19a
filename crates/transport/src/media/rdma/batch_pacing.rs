//! When the batches of mode `batch` go out: `rum`'s deadlines and watchdog, for writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::peer_watch::PeerWatch;
use crate::media::rum::flush_deadline::FlushDeadline;
use crate::media::rum::flush_watchdog::FlushWatchdog;
use crate::media::tcp_edge::io_thread::Registration;
use crate::{Batching, EdgeCounters};

/// Parts of a sender that mode `batch` has and mode `write` has not.
pub(super) struct BatchPacing {
    pub(super) deadline: FlushDeadline,
    pub(super) watchdog: FlushWatchdog,
    /// Most time that a receiver may take to connect again.
    pub(super) reconnect_timeout: Duration,
    pub(super) counters: Arc<EdgeCounters>,
    /// Answers the probes of receivers; `None` in tests without them.
    watch: Option<Arc<PeerWatch>>,
    /// The IO thread's task that probes go by; `None` in tests without one.
    pub(super) registration: Option<Registration>,
    /// Whether the IO thread has to come for a batch that it does not know of.
    pub(super) needs_turn: bool,
    clock: fn() -> Instant,
}

/// Terms of mode `batch`.
#[derive(Clone)]
pub(super) struct BatchTerms {
    pub(super) batching: Batching,
    /// Most time that both sides wait for a broken connection to be made again.
    pub(super) reconnect_timeout: Duration,
    pub(super) counters: Arc<EdgeCounters>,
    /// Answers the probes of receivers; `None` in tests without them.
    pub(super) watch: Option<Arc<PeerWatch>>,
    pub(super) clock: fn() -> Instant,
}

impl BatchPacing {
    pub(super) fn new(terms: &BatchTerms) -> BatchPacing {
        let time_max = terms.batching.time_max.max(terms.batching.time_min);
        let batching = Batching {
            time_max,
            ..terms.batching
        };
        BatchPacing {
            deadline: FlushDeadline::new(batching, (terms.clock)()),
            watchdog: FlushWatchdog::new(time_max),
            reconnect_timeout: terms.reconnect_timeout,
            counters: terms.counters.clone(),
            watch: terms.watch.clone(),
            registration: None,
            needs_turn: false,
            clock: terms.clock,
        }
    }

    pub(super) fn now(&self) -> Instant {
        (self.clock)()
    }

    /// Has the IO thread watch the batch that was left.
    pub(super) fn request_flush(&mut self) {
        self.needs_turn |= self.watchdog.note_batch();
    }
}

impl Drop for BatchPacing {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.close();
        }
    }
}
