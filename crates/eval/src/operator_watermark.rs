//! The watermark of an operator, in words that compiled code reads and stores.
//!
//! ```text
//!   latest      latest event time that has passed   i64::MIN, i64::MAX: it is in Rust's part
//!   next_sent   least event time whose watermark is sent
//! ```
//! Both count what the attribute of the event time counts: ticks, or nanoseconds for a timestamp.
//! The watermark is the latest event time less the lag. Compiled code compares an event time with
//! both words and stores the first one. All else it leaves to [`OperatorWatermark::advance`]: an
//! event time whose watermark is sent, or that is outside of i64.
//!
//! # Threads
//! One thread at a time advances the watermark, with plain stores. Any thread may read it, and may
//! see it stale.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tuple::{EventTime, whole_units};

/// The watermark of an operator, and the next one that it sends.
#[derive(Debug)]
pub struct OperatorWatermark {
    latest: AtomicI64,
    next_sent: AtomicI64,
    /// Nanoseconds of what the words count; 0 before the first event time.
    unit_ns: AtomicI64,
    lag_ns: i128,
    exact: Mutex<ExactWatermark>,
}

/// A watermark in nanoseconds.
#[derive(Debug, Default)]
struct ExactWatermark {
    /// Watermark that the word does not tell; `None` before the first one.
    current: Option<EventTime>,
    /// Least watermark that is far enough from the last one to be sent.
    next_sent: Option<EventTime>,
}

impl Default for OperatorWatermark {
    fn default() -> OperatorWatermark {
        OperatorWatermark::new(0)
    }
}

impl OperatorWatermark {
    /// No watermark yet; later ones are this number of nanoseconds behind the event times.
    pub fn new(lag_ns: i128) -> OperatorWatermark {
        OperatorWatermark {
            latest: AtomicI64::new(i64::MIN),
            next_sent: AtomicI64::new(i64::MIN),
            unit_ns: AtomicI64::new(0),
            lag_ns,
            exact: Mutex::default(),
        }
    }

    /// The watermark, if there was one.
    pub fn current(&self) -> Option<EventTime> {
        let latest = self.latest.load(Ordering::Relaxed);
        match (latest, self.unit_ns.load(Ordering::Relaxed)) {
            (i64::MIN | i64::MAX, _) | (_, 0) => self.lock().current,
            (latest, unit_ns) => {
                let ns = i128::from(latest) * i128::from(unit_ns);
                Some(EventTime(ns.saturating_sub(self.lag_ns)))
            }
        }
    }

    /// Sets the watermark of an operator that makes none.
    pub fn set(&self, at: EventTime) {
        // Nanoseconds, which the lag is subtracted from.
        match i64::try_from(at.0.saturating_add(self.lag_ns)) {
            Ok(latest) if !matches!(latest, i64::MIN | i64::MAX) => {
                self.unit_ns.store(1, Ordering::Relaxed);
                self.latest.store(latest, Ordering::Relaxed);
            }
            _ => {
                self.lock().current = Some(at);
                self.latest.store(i64::MIN, Ordering::Relaxed);
            }
        }
    }

    /// Advances the watermark by an event time, a whole number of `unit_ns` nanoseconds. Returns
    /// the watermark if it has advanced by the gap since one was sent last, so that it is to be
    /// sent.
    pub fn advance(&self, time: EventTime, unit_ns: i64, gap_ns: i128) -> Option<EventTime> {
        let to = EventTime(time.0.saturating_sub(self.lag_ns));
        if self.current() >= Some(to) {
            return None;
        }
        let mut exact = self.lock();
        exact.current = Some(to);
        let unit = i128::from(unit_ns);
        self.unit_ns.store(unit_ns, Ordering::Relaxed);
        let latest = whole_units(time.0, unit);
        self.latest.store(nearest_word(latest), Ordering::Relaxed);
        if exact.next_sent.is_some_and(|next| to < next) {
            return None;
        }
        exact.next_sent = Some(EventTime(to.0.saturating_add(gap_ns)));
        // Without a gap, too, only a later watermark is sent.
        let later = time.0.saturating_add(gap_ns.max(1));
        let whole = whole_units(later, unit);
        let next = whole + i128::from(whole.saturating_mul(unit) < later);
        self.next_sent.store(nearest_word(next), Ordering::Relaxed);
        Some(to)
    }

    /// The address of the word of the latest event time, valid as long as the watermark lives.
    pub fn latest_address(&self) -> *mut i64 {
        self.latest.as_ptr()
    }

    /// The address of the word of the least event time whose watermark is sent.
    pub fn next_sent_address(&self) -> *mut i64 {
        self.next_sent.as_ptr()
    }

    fn lock(&self) -> MutexGuard<'_, ExactWatermark> {
        self.exact.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The nearest number that an int64 holds.
fn nearest_word(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEYOND: i128 = 1 << 100;

    /// Whether the watermark is sent.
    fn is_sent(watermark: &OperatorWatermark, time: i128, gap_ns: i128) -> bool {
        watermark.advance(EventTime(time), 1, gap_ns).is_some()
    }

    #[test]
    fn each_advance_is_seen_and_those_by_the_gap_are_sent() {
        let watermark = OperatorWatermark::new(2);
        assert_eq!(watermark.current(), None);
        let steps = [
            (-5, true),
            (-9, false),
            (3, false),
            (5, true),
            (14, false),
            (15, true),
        ];
        let mut latest = i128::MIN;
        for (to, sent) in steps {
            latest = latest.max(to);
            assert_eq!(is_sent(&watermark, to, 10), sent, "{to}");
            assert_eq!(watermark.current(), Some(EventTime(latest - 2)));
        }
    }

    #[test]
    fn watermarks_beyond_a_word_are_exact() {
        let watermark = OperatorWatermark::default();
        for (to, sent) in [
            (-BEYOND, true),
            (-BEYOND - 1, false),
            (i64::MIN.into(), true),
            (0, true),
            (i128::from(i64::MAX) - 1, true),
            (i64::MAX.into(), false),
            (BEYOND, true),
            (BEYOND + 9, false),
        ] {
            assert_eq!(is_sent(&watermark, to, 10), sent, "{to}");
        }
        assert_eq!(watermark.current(), Some(EventTime(BEYOND + 9)));
        assert!(!is_sent(&watermark, 7, 10));
        assert_eq!(watermark.current(), Some(EventTime(BEYOND + 9)));
    }

    #[test]
    fn without_a_gap_each_later_watermark_is_sent() {
        let watermark = OperatorWatermark::default();
        let sent = [1, 1, 2, 2, 1, 3].map(|to| is_sent(&watermark, to, 0));
        assert_eq!(sent, [true, false, true, false, false, true]);
    }

    #[test]
    fn a_watermark_that_is_set_is_exact() {
        let watermark = OperatorWatermark::new(7);
        for at in [
            0,
            -5,
            i128::from(i64::MAX) - 7,
            i64::MAX.into(),
            12,
            -BEYOND,
            i64::MIN.into(),
            3,
        ] {
            watermark.set(EventTime(at));
            assert_eq!(watermark.current(), Some(EventTime(at)));
        }
    }

    #[test]
    fn words_count_units() {
        let watermark = OperatorWatermark::new(7);
        let sent = watermark.advance(EventTime(3_000), 1_000, 1_500);
        assert_eq!(sent, Some(EventTime(2_993)));
        assert_eq!(watermark.latest.load(Ordering::Relaxed), 3);
        assert_eq!(watermark.next_sent.load(Ordering::Relaxed), 5);
        assert_eq!(watermark.current(), Some(EventTime(2_993)));
    }
}
