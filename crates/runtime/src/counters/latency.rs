//! How long tuples are under way on a link: stamps between them, and what the receiver makes of
//! them.
//!
//! ```text
//!   Send                                               Receive
//!     tuple at hand: t0  [ stamp t0 | tuple ] [tuple] ...   takes the stamp: now - t0 -> histogram
//! ```
//! # What is measured
//! From when the sending operator has a tuple at hand, before it waits for room, until the
//! receiver's thread has worked through everything before that tuple and takes it. Both clocks are
//! the monotonic one, which all processes of a host share.
//!
//! # Which tuples
//! At most one in [`TUPLES_PER_STAMP`], and the first one of each tick of the coarse clock. Where
//! compiled code writes frames itself, of those that it calls for: one in so many, and each that
//! comes after the receiver had gone to sleep; the others pass no code that could look.
//!
//! # Cost
//! Nothing unless it is asked for: who stamps is an operator of its own around [`super::send`].
//! Else a look at the clock on both sides and a frame of 16 bytes for each stamp.
//!
//! # The histogram
//! Log-linear: nanoseconds up to [`BUCKETS_PER_OCTAVE`] have a bucket each, and each power of two
//! above as many of equal width; so a value is known to a part in [`BUCKETS_PER_OCTAVE`]. The last
//! bucket holds what is longer than 18 minutes.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

use crate::abi::Counter;

/// Tuples that pass `process` between two stamps, if the coarse clock stands still.
pub(crate) const TUPLES_PER_STAMP: u32 = 64;

/// Buckets of a power of two.
const BUCKETS_PER_OCTAVE: u64 = 32;

const BUCKETS_PER_OCTAVE_BITS: u32 = BUCKETS_PER_OCTAVE.trailing_zeros();

/// Longer times are all one: 2 to this, in nanoseconds.
const LONGEST_NS_BITS: u32 = 40;

/// How many buckets there are.
pub const BUCKET_COUNT: usize =
    ((LONGEST_NS_BITS - BUCKETS_PER_OCTAVE_BITS + 1) as u64 * BUCKETS_PER_OCTAVE) as usize;

/// Counts times. Written by the receiver's thread, read by anybody.
#[derive(Debug)]
pub struct CrossingLatencyHistogram {
    buckets: Box<[Counter]>,
    longest_ns: AtomicU64,
}

impl Default for CrossingLatencyHistogram {
    fn default() -> CrossingLatencyHistogram {
        CrossingLatencyHistogram {
            buckets: (0..BUCKET_COUNT).map(|_| Counter::default()).collect(),
            longest_ns: AtomicU64::new(0),
        }
    }
}

impl CrossingLatencyHistogram {
    /// Counts a time.
    pub fn record(&self, ns: u64) {
        self.buckets[bucket(ns)].add(1);
        if ns > self.longest_ns.load(Ordering::Relaxed) {
            self.longest_ns.store(ns, Ordering::Relaxed);
        }
    }

    /// How many times are in each bucket.
    pub fn bucket_counts(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().map(Counter::get)
    }

    /// The longest time, exactly.
    pub fn longest_ns(&self) -> u64 {
        self.longest_ns.load(Ordering::Relaxed)
    }
}

/// The bucket of a time.
fn bucket(ns: u64) -> usize {
    if ns < BUCKETS_PER_OCTAVE {
        return ns as usize;
    }
    let ns = ns.min((1 << LONGEST_NS_BITS) - 1);
    // The leading bit says which power of two, the next ones where in it.
    let shift = ns.ilog2() - BUCKETS_PER_OCTAVE_BITS;
    (u64::from(shift) * BUCKETS_PER_OCTAVE + (ns >> shift)) as usize
}

/// The largest time, in nanoseconds, that is counted in a bucket; `BUCKET_COUNT` of them.
pub fn bucket_end_ns(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / BUCKETS_PER_OCTAVE).saturating_sub(1);
    // What `bucket` has added for the powers below is taken off again.
    let top = bucket - shift * BUCKETS_PER_OCTAVE;
    ((top + 1) << shift) - 1
}

/// Says when a stamp is due.
#[derive(Debug, Default)]
pub(crate) struct StampSchedule {
    tuples_left: u32,
    tick: u64,
}

impl StampSchedule {
    /// Whether the next tuple is to have a stamp.
    pub fn is_due(&mut self) -> bool {
        let now = clock_gettime(ClockId::MonotonicCoarse);
        let tick = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        if self.tuples_left > 0 && tick == self.tick {
            self.tuples_left -= 1;
            return false;
        }
        (self.tuples_left, self.tick) = (TUPLES_PER_STAMP - 1, tick);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_gapless_and_narrow() {
        let mut begin = 0;
        for at in 0..BUCKET_COUNT {
            let end = bucket_end_ns(at);
            assert_eq!((bucket(begin), bucket(end)), (at, at), "{begin} to {end}");
            assert!(
                (end - begin) * BUCKETS_PER_OCTAVE <= begin.max(BUCKETS_PER_OCTAVE),
                "{begin} to {end}"
            );
            begin = end + 1;
        }
        assert_eq!(begin, 1 << LONGEST_NS_BITS);
        assert_eq!(bucket(u64::MAX), BUCKET_COUNT - 1);
    }

    #[test]
    fn times_are_counted_and_the_longest_is_exact() {
        let histogram = CrossingLatencyHistogram::default();
        for ns in [5, 1000, 1_000_003, 999] {
            histogram.record(ns);
        }
        assert_eq!(histogram.bucket_counts().sum::<u64>(), 4);
        assert_eq!(histogram.longest_ns(), 1_000_003);
        assert_eq!(histogram.bucket_counts().nth(5), Some(1));
    }

    #[test]
    fn a_stamp_is_due_at_the_latest_after_so_many() {
        let mut pace = StampSchedule::default();
        assert!(pace.is_due());
        let until_next = (1..=TUPLES_PER_STAMP).find(|_| pace.is_due());
        assert!(until_next.is_some());
    }
}
