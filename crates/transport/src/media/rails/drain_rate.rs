//! The drain rate of a rail: bytes that its receiver reports as received, over the time that bytes
//! waited on the rail.
//!
//! A rail that carries one small frame now and then says little about its rate: it drains at least
//! that fast. So a sample counts only if so many bytes waited that the path was the bottleneck, or
//! if it raises the rate; else a rail that was slow for a while would stay unused.

use std::time::{Duration, Instant};

/// Fewest bytes on a rail for which the time until the next report says how fast it drains.
const LOADED_BYTES_MIN: u64 = 8 * 1024;

/// Bytes of a sample of the rate: some batches, so that a single late report weighs little.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// Time after which a sample with fewer bytes ends, too: a slow rail is recognized early.
const SAMPLE_TIME: Duration = Duration::from_millis(10);

/// Weight of the newest sample in the average.
const SAMPLE_WEIGHT: f64 = 0.25;

/// Average rate at which a rail drains.
#[derive(Clone, Copy, Debug)]
pub(in crate::media) struct DrainRate {
    bytes_per_second: Option<f64>,
    sample_bytes: u64,
    sample_time: Duration,
    /// Whether enough bytes waited during the whole sample.
    is_loaded: bool,
    /// Time up to which the rail was looked at.
    counted_to: Instant,
}

impl DrainRate {
    /// The rate of a rail that has carried nothing yet.
    pub(in crate::media) fn new(now: Instant) -> DrainRate {
        DrainRate {
            bytes_per_second: None,
            sample_bytes: 0,
            sample_time: Duration::ZERO,
            is_loaded: true,
            counted_to: now,
        }
    }

    /// Bytes per second; `None`: there was no sample yet.
    pub(in crate::media) fn bytes_per_second(&self) -> Option<f64> {
        self.bytes_per_second
    }

    /// Notes that bytes are sent on a rail that was empty.
    pub(in crate::media) fn note_begin(&mut self, now: Instant) {
        self.counted_to = now;
    }

    /// Notes a report: of the `waiting` bytes on the rail, `received` have come out.
    pub(in crate::media) fn note_received(&mut self, waiting: u64, received: u64, now: Instant) {
        let took = now.saturating_duration_since(self.counted_to);
        self.counted_to = now;
        self.is_loaded &= waiting >= LOADED_BYTES_MIN;
        self.sample_bytes += received;
        self.sample_time += took;
        let is_long = self.sample_bytes >= SAMPLE_BYTES || self.sample_time >= SAMPLE_TIME;
        if !is_long || self.sample_time.is_zero() {
            return;
        }
        let sample = self.sample_bytes as f64 / self.sample_time.as_secs_f64();
        let raises = self.bytes_per_second.is_some_and(|rate| rate < sample);
        if self.is_loaded || raises {
            let before = self.bytes_per_second.unwrap_or(sample);
            self.bytes_per_second = Some(before + (sample - before) * SAMPLE_WEIGHT);
        }
        (self.sample_bytes, self.sample_time) = (0, Duration::ZERO);
        self.is_loaded = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn a_steady_rail_has_its_rate_and_a_change_is_followed() {
        let mut now = Instant::now();
        let mut rate = DrainRate::new(now);
        let mut report = |bytes: u64| {
            now += MILLI;
            rate.note_received(100_000, bytes, now);
            rate.bytes_per_second().map(|rate| rate.round())
        };
        assert_eq!(report(32 * 1024), None, "no whole sample");
        assert_eq!(report(32 * 1024), Some(32_768_000.0));
        let later: Vec<_> = (0..400).filter_map(|_| report(1000)).collect();
        assert!(later.is_sorted_by(|a, b| a >= b), "{later:?}");
        let last = later.last().copied().expect("a rate");
        assert!((1_000_000.0..1_010_000.0).contains(&last), "{last}");
    }

    #[test]
    fn a_rail_without_load_is_not_slow_but_may_have_become_fast() {
        let mut now = Instant::now();
        let mut rate = DrainRate::new(now);
        let mut carry = |bytes: u64, count: u32| {
            for _ in 0..count {
                rate.note_begin(now);
                rate.note_received(bytes, bytes, now + MILLI);
                now += 2 * MILLI;
            }
            rate.bytes_per_second()
        };
        assert_eq!(carry(100, 1000), None);
        assert_eq!(carry(SAMPLE_BYTES, 1), Some(65_536_000.0));
        assert_eq!(carry(100, 1000), Some(65_536_000.0));
        let mut slow = carry(LOADED_BYTES_MIN, 1000).expect("a rate");
        assert!(slow < 8_200_000.0, "{slow}");
        slow = carry(LOADED_BYTES_MIN - 8, 1000).expect("a rate");
        assert!(slow < 8_200_000.0, "{slow}: no slower than before");
        rate.note_begin(now);
        for _ in 0..1000 {
            now += MILLI / 10;
            rate.note_received(4096, 4096, now);
        }
        assert!(
            rate.bytes_per_second()
                .is_some_and(|rate| rate > 40_000_000.0)
        );
    }
}
