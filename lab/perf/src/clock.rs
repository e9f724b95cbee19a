//! The clock of both ends: nanoseconds that all processes of a host count alike.

use rustix::time::{ClockId, clock_gettime};

/// Number of pairs of readings from which the cost of a reading is computed.
const READING_PAIRS: usize = 1001;

/// Nanoseconds since the machine was started.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Nanoseconds that a reading of the clock takes: the median of pairs, one right after the other. A
/// latency between two readings contains it once.
pub(crate) fn read_cost_ns() -> u64 {
    let mut pairs: Vec<u64> = (0..READING_PAIRS)
        .map(|_| {
            let first = now_ns();
            now_ns() - first
        })
        .collect();
    pairs.sort_unstable();
    pairs[READING_PAIRS / 2]
}
