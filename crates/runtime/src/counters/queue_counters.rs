//! A queue's counters, and the metrics of a threaded port that follow from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use rustix::time::{ClockId, clock_gettime};
use transport::monotonic_ns;
use tuple::Layout;

use super::recent_maximum::{INTERVAL_MS, RecentMaximum};
use crate::abi::Counter;

/// The metrics of a threaded port.
pub(crate) const METRICS: [&str; 7] = [
    "nTuplesDropped",
    "nTuplesQueued",
    "queueSize",
    "maxItemsQueued",
    "recentMaxItemsQueued",
    "recentMaxItemsQueuedInterval",
    "nEnqueueWaits",
];

/// A cache line and its neighbour, which processors fetch together.
#[derive(Debug, Default)]
#[repr(align(128))]
struct CacheLinePair<T>(T);

/// Counters of a queue. They change while other threads read them and may see them stale.
#[derive(Debug)]
pub struct QueueCounters {
    /// Name of the queue's operator.
    pub operator: Arc<str>,
    /// Number of items that the queue holds at most. Producers read it when they find as many.
    items_max: AtomicU64,
    /// Bytes of a tuple, if all have the same length.
    pub tuple_bytes: Option<u64>,
    producer: CacheLinePair<ProducerCounters>,
    consumer: CacheLinePair<ConsumerCounters>,
}

/// Counters of the producer, which one thread at a time writes.
#[derive(Debug, Default)]
struct ProducerCounters {
    /// Items that came in, tuples and markers.
    sent: Counter,
    /// Tuples that came in and were dropped for newer ones.
    replaced: Counter,
    dropped: Counter,
    waits: Counter,
    wait_ns: Counter,
    /// Start of the producer's wait; 0 while it does not wait.
    blocked_since_ns: AtomicU64,
}

/// Counters of the consumer, which the queue's thread writes.
#[derive(Debug, Default)]
struct ConsumerCounters {
    /// Items that the consumer has begun to process.
    taken: Counter,
    /// Largest number of items that was in the queue. Producers write it too.
    items_peak: AtomicU64,
    recent: RecentMaximum,
    idle_ns: Counter,
}

/// Values that any thread may read.
impl QueueCounters {
    /// Number of items in the queue. Items that came are read before items that left, so an item
    /// that comes and goes meanwhile is not counted as present.
    pub fn items(&self) -> u64 {
        let ProducerCounters { sent, replaced, .. } = &self.producer.0;
        let sent = sent.get();
        fence(Ordering::Acquire); // [shed]
        sent.saturating_sub(replaced.get() + self.consumer.0.taken.get())
    }

    /// Number of items that the queue holds at most.
    pub fn items_max(&self) -> u64 {
        self.items_max.load(Ordering::Relaxed)
    }

    /// Sets how many items the queue holds at most. What is in it already stays.
    pub(crate) fn set_items_max(&self, items: u64) {
        self.items_max.store(items.max(1), Ordering::Relaxed);
    }

    /// Number of items that came in, tuples and markers.
    pub fn sent(&self) -> u64 {
        self.producer.0.sent.get()
    }

    /// Number of tuples that were dropped, old and new ones.
    pub fn dropped(&self) -> u64 {
        self.producer.0.dropped.get()
    }

    /// Number of times that a producer has waited for room.
    pub fn waits(&self) -> u64 {
        self.producer.0.waits.get()
    }

    /// Nanoseconds of all waits that are over.
    pub fn wait_ns(&self) -> u64 {
        self.producer.0.wait_ns.get()
    }

    /// Nanoseconds of all waits of the consumer for items that are over.
    pub fn idle_ns(&self) -> u64 {
        self.consumer.0.idle_ns.get()
    }

    /// Adds a wait of the consumer that is over.
    pub(crate) fn record_idle(&self, ns: u64) {
        self.consumer.0.idle_ns.add(ns);
    }

    /// Start of the wait that lasts, in nanoseconds of the monotonic clock.
    pub fn blocked_since_ns(&self) -> Option<u64> {
        let since = self.producer.0.blocked_since_ns.load(Ordering::Relaxed);
        (since > 0).then_some(since)
    }

    /// The metrics of the threaded port, with the names that SPL gives them.
    pub fn metrics(&self) -> Vec<(String, i64)> {
        let named = METRICS.iter().zip(self.metric_values());
        named
            .map(|(name, value)| ((*name).to_owned(), i64::try_from(value).unwrap_or(i64::MAX)))
            .collect()
    }

    /// The value of one metric of the threaded port.
    pub(crate) fn metric_value(&self, wanted: &str) -> Option<u64> {
        let mut named = METRICS.iter().zip(self.metric_values());
        named.find_map(|(name, value)| (*name == wanted).then_some(value))
    }

    /// Whether it is one of them.
    pub(crate) fn is_metric(name: &str) -> bool {
        METRICS.contains(&name)
    }

    fn metric_values(&self) -> [u64; METRICS.len()] {
        let items = self.items();
        let items_peak = self.consumer.0.items_peak.load(Ordering::Relaxed);
        [
            self.dropped(),
            items,
            self.items_max(),
            items_peak.max(items),
            self.consumer.0.recent.largest(now_ms()).max(items),
            INTERVAL_MS,
            self.waits(),
        ]
    }
}

/// Counting, for the two sides of the queue.
impl QueueCounters {
    pub(crate) fn new(operator: Arc<str>, items_max: u64, layout: &Layout) -> QueueCounters {
        QueueCounters {
            operator,
            items_max: AtomicU64::new(items_max),
            tuple_bytes: layout.is_fixed.then_some(layout.size.into()),
            producer: CacheLinePair::default(),
            consumer: CacheLinePair::default(),
        }
    }

    /// Counts an item that has come in.
    #[inline]
    pub(crate) fn count_sent(&self) {
        self.producer.0.sent.add(1);
    }

    /// Address of the counter of items, for compiled code that writes items itself.
    pub(crate) fn sent_address(&self) -> *const u64 {
        self.producer.0.sent.address()
    }

    /// Counts a new tuple that was dropped.
    pub(crate) fn count_dropped(&self) {
        self.producer.0.dropped.add(1);
    }

    /// Counts an item that has come in and for which the oldest tuple was dropped. The drop is
    /// published first, so no thread sees more items than the queue holds.
    pub(crate) fn count_replaced(&self) {
        self.producer.0.replaced.add(1);
        self.producer.0.dropped.add(1);
        fence(Ordering::Release); // [shed]
        self.producer.0.sent.add(1);
    }

    /// Notes that the producer begins to wait.
    pub(crate) fn begin_wait(&self) {
        let ProducerCounters {
            waits,
            blocked_since_ns,
            ..
        } = &self.producer.0;
        waits.add(1);
        blocked_since_ns.store(monotonic_ns(), Ordering::Relaxed);
    }

    /// Notes that the producer's wait is over.
    pub(crate) fn end_wait(&self) {
        let since = self.producer.0.blocked_since_ns.swap(0, Ordering::Relaxed);
        let waited = monotonic_ns().saturating_sub(since);
        self.producer.0.wait_ns.add(waited);
    }

    /// Notes that the queue was full.
    pub(crate) fn record_full(&self) {
        self.consumer
            .0
            .items_peak
            .fetch_max(self.items_max(), Ordering::Relaxed);
    }

    /// Number of items that came in, without tuples that were dropped for newer ones.
    pub(crate) fn sent_and_kept(&self) -> u64 {
        let ProducerCounters { sent, replaced, .. } = &self.producer.0;
        sent.get() - replaced.get()
    }

    /// Number of items that the consumer has taken.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.consumer.0.taken.get()
    }

    /// Counts items that the consumer begins to process, and returns how many it has taken in all.
    #[inline]
    pub(crate) fn count_taken(&self, items: u64) -> u64 {
        self.consumer.0.taken.add(items);
        self.consumer.0.taken.get()
    }

    /// Notes that the consumer has seen `items` items in the queue.
    pub(crate) fn record_items(&self, items: u64) {
        let ConsumerCounters {
            items_peak, recent, ..
        } = &self.consumer.0;
        if items > items_peak.load(Ordering::Relaxed) {
            items_peak.fetch_max(items, Ordering::Relaxed);
        }
        recent.record(items, now_ms());
    }
}

/// Milliseconds of the coarse monotonic clock, which costs next to nothing.
fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    use tuple::{TupleType, Type};

    use super::*;

    #[test]
    fn nobody_sees_more_items_than_there_is_room_for() {
        const ITEMS: u64 = 1000;
        let schema = TupleType::new([("n".to_owned(), Type::Int64)]);
        let counters = QueueCounters::new("Q".into(), ITEMS, &Layout::new(&Arc::new(schema)));
        (0..ITEMS).for_each(|_| counters.count_sent());
        let (begin, is_over) = (Barrier::new(2), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                begin.wait();
                for _ in 0..300_000 {
                    counters.count_replaced();
                }
                is_over.store(true, Ordering::Relaxed);
            });
            begin.wait();
            while !is_over.load(Ordering::Relaxed) {
                assert!(counters.items() <= ITEMS);
                assert!(counters.metric_value("maxItemsQueued") <= Some(ITEMS));
            }
        });
        assert_eq!((counters.items(), counters.dropped()), (ITEMS, 300_000));
    }
}
