//! The cost of reading the clock, which every measured latency contains.

use transport::monotonic_ns;

/// Number of pairs of readings from which the cost of a reading is computed.
const READING_PAIRS: usize = 1001;

/// Nanoseconds that a reading of the clock takes: the median of pairs, one right after the other. A
/// latency between two readings contains it once.
pub(crate) fn read_cost_ns() -> u64 {
    let mut pairs: Vec<u64> = (0..READING_PAIRS)
        .map(|_| {
            let first = monotonic_ns();
            monotonic_ns() - first
        })
        .collect();
    pairs.sort_unstable();
    pairs[READING_PAIRS / 2]
}
