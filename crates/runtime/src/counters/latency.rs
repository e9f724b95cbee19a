//! Latency of a crossing: stamps between tuples, and the histogram that the receiver makes of them.
//!
//! ```text
//!    Send                                               Receive
//!     tuple at hand: t0  [ stamp t0 | tuple ] [tuple] ...  takes the stamp: now - t0 -> histogram
//! ```
//! # Measured time
//! From when the sending operator has a tuple at hand, before it waits for room, until the
//! receiver's thread has worked through everything before that tuple and takes it. Both clocks are
//! the monotonic one, which all processes of a host share.
//!
//! # Stamped tuples
//! At most one in [`TUPLES_PER_STAMP`], and the first one of each tick of the coarse clock. Where
//! compiled code writes frames itself, only tuples that it calls for are seen: one in
//! [`TUPLES_PER_STAMP`], and each that comes after the receiver had gone to sleep.
//!
//! # Cost
//! Nothing unless latency is asked for, because an operator of its own around Send makes the
//! stamps. Then two looks at the clock and a frame of 16 bytes for each stamp.
//!
//! # The histogram
//! Log-linear: nanoseconds up to [`BUCKETS_PER_OCTAVE`] have a bucket each, and each power of two
//! above has [`BUCKETS_PER_OCTAVE`] buckets of equal width, which bounds the relative error. The
//! last bucket holds all times above 18 minutes.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

use crate::abi::Counter;

/// Tuples that pass `process` between two stamps while the coarse clock stands still: few enough
/// for a busy stream to be measured, and enough for a stamp to be a small part of its frames.
pub(crate) const TUPLES_PER_STAMP: u32 = 64;

/// Buckets of a power of two: a time is known to 1/32.
const BUCKETS_PER_OCTAVE: u64 = 32;

const BUCKETS_PER_OCTAVE_BITS: u32 = BUCKETS_PER_OCTAVE.trailing_zeros();

/// Bits of the longest time that is told apart, in nanoseconds: 18 minutes.
const LONGEST_NS_BITS: u32 = 40;

/// Number of buckets of a histogram.
pub const BUCKET_COUNT: usize =
    ((LONGEST_NS_BITS - BUCKETS_PER_OCTAVE_BITS + 1) as u64 * BUCKETS_PER_OCTAVE) as usize;

/// A histogram of times. The receiver's thread writes it, any thread may read it.
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
    /// Counts a time in nanoseconds.
    pub fn record(&self, ns: u64) {
        self.buckets[bucket(ns)].add(1);
        if ns > self.longest_ns.load(Ordering::Relaxed) {
            self.longest_ns.store(ns, Ordering::Relaxed);
        }
    }

    /// Number of times in each bucket, from the shortest times up.
    pub fn bucket_counts(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().map(Counter::get)
    }

    /// The longest time so far, exactly, in nanoseconds.
    pub fn longest_ns(&self) -> u64 {
        self.longest_ns.load(Ordering::Relaxed)
    }
}

/// Index of the bucket that counts a time.
fn bucket(ns: u64) -> usize {
    if ns < BUCKETS_PER_OCTAVE {
        return ns as usize;
    }
    let ns = ns.min((1 << LONGEST_NS_BITS) - 1);
    // The leading bit says which power of two, the next ones where in it.
    let shift = ns.ilog2() - BUCKETS_PER_OCTAVE_BITS;
    (u64::from(shift) * BUCKETS_PER_OCTAVE + (ns >> shift)) as usize
}

/// The largest time, in nanoseconds, that a bucket counts; `bucket` is below [`BUCKET_COUNT`].
///
/// ```
/// use thalweg_runtime::crossing::{BUCKET_COUNT, bucket_end_ns};
///
/// assert_eq!(bucket_end_ns(5), 5);
/// assert_eq!(bucket_end_ns(BUCKET_COUNT - 1), (1 << 40) - 1);
/// ```
pub fn bucket_end_ns(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / BUCKETS_PER_OCTAVE).saturating_sub(1);
    // The offset that `bucket` has added for the powers below is subtracted again.
    let top = bucket - shift * BUCKETS_PER_OCTAVE;
    ((top + 1) << shift) - 1
}

/// Schedule of stamps: decides which tuples get one.
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
