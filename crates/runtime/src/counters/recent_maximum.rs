//! The largest of the latest values of a gauge.

use std::sync::atomic::{AtomicU64, Ordering};

/// The largest values of two spans of time: the current one and the one before it. One thread
/// writes, any thread may read.
#[derive(Debug, Default)]
pub(crate) struct RecentMaximum {
    /// Start of the current span, in milliseconds.
    begun_ms: AtomicU64,
    current: AtomicU64,
    previous: AtomicU64,
}

/// Length of a span, in milliseconds: one minute, as the metric `recentMaxItemsQueuedInterval`
/// reports.
pub(crate) const INTERVAL_MS: u64 = 60_000;

impl RecentMaximum {
    /// Records a value at a time.
    pub fn record(&self, value: u64, now_ms: u64) {
        let spans = self.spans(now_ms);
        if spans > 0 {
            let before = if spans == 1 { get(&self.current) } else { 0 };
            set(&self.previous, before);
            set(&self.begun_ms, now_ms);
            set(&self.current, value);
        } else if value > get(&self.current) {
            set(&self.current, value);
        }
    }

    /// The largest value of the last one to two spans.
    pub fn largest(&self, now_ms: u64) -> u64 {
        match self.spans(now_ms) {
            0 => get(&self.current).max(get(&self.previous)),
            1 => get(&self.current),
            _ => 0,
        }
    }

    /// Number of spans that have ended since the current one began.
    fn spans(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(get(&self.begun_ms)) / INTERVAL_MS
    }
}

fn get(value: &AtomicU64) -> u64 {
    value.load(Ordering::Relaxed)
}

fn set(value: &AtomicU64, to: u64) {
    value.store(to, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_forgotten_after_two_spans() {
        let recent = RecentMaximum::default();
        let start = 5 * INTERVAL_MS;
        recent.record(7, start);
        recent.record(3, start + 1);
        assert_eq!(recent.largest(start + 2), 7);
        recent.record(2, start + INTERVAL_MS);
        assert_eq!(recent.largest(start + INTERVAL_MS), 7);
        recent.record(1, start + 2 * INTERVAL_MS);
        assert_eq!(recent.largest(start + 2 * INTERVAL_MS), 2);
        assert_eq!(recent.largest(start + 3 * INTERVAL_MS), 1);
        assert_eq!(recent.largest(start + 4 * INTERVAL_MS), 0);
        recent.record(4, start + 9 * INTERVAL_MS);
        assert_eq!(recent.largest(start + 9 * INTERVAL_MS), 4);
    }
}
