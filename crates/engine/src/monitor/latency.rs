//! Percentiles of a crossing's latency histogram.

use runtime::crossing::bucket_end_ns;
use serde::Serialize;

/// Latency of the tuples of a crossing since the job began, in nanoseconds. Percentiles are the
/// ends of their buckets: too large by a thirty-second at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LatencySample {
    /// Number of tuples that were measured.
    pub count: u64,
    /// Nanoseconds that 50% of the tuples took at most.
    pub ns_p50: u64,
    /// Nanoseconds that 90% of the tuples took at most.
    pub ns_p90: u64,
    /// Nanoseconds that 99% of the tuples took at most.
    pub ns_p99: u64,
    /// Nanoseconds that 99.9% of the tuples took at most.
    pub ns_p999: u64,
    /// Nanoseconds that the slowest tuple took.
    pub ns_max: u64,
}

impl LatencySample {
    /// Percentiles from the counts of all buckets and the longest time.
    pub fn new(buckets: &[u64], longest_ns: u64) -> LatencySample {
        let count = buckets.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        let percentile = |per_mille: u64| {
            let rank = (u128::from(count) * u128::from(per_mille)).div_ceil(1000) as u64;
            let mut below: u64 = 0;
            let at = buckets.iter().position(|n| {
                below = below.saturating_add(*n);
                below >= rank
            });
            at.map_or(longest_ns, bucket_end_ns).min(longest_ns)
        };
        LatencySample {
            count,
            ns_p50: percentile(500),
            ns_p90: percentile(900),
            ns_p99: percentile(990),
            ns_p999: percentile(999),
            ns_max: longest_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use runtime::crossing::CrossingLatencyHistogram;

    use super::*;

    #[test]
    fn percentiles_are_of_the_rank_that_they_say() {
        let histogram = CrossingLatencyHistogram::default();
        (1..=1000).for_each(|n| histogram.record(n * 1000));
        let buckets: Vec<u64> = histogram.bucket_counts().collect();
        let sample = LatencySample::new(&buckets, histogram.longest_ns());
        assert_eq!((sample.count, sample.ns_max), (1000, 1_000_000));
        let exact = [
            (sample.ns_p50, 500_000),
            (sample.ns_p90, 900_000),
            (sample.ns_p99, 990_000),
            (sample.ns_p999, 999_000),
        ];
        for (found, exact) in exact {
            assert!(
                (exact..=exact + exact / 32).contains(&found),
                "{found} for {exact}"
            );
        }
    }

    #[test]
    fn nothing_measured_is_nothing() {
        let sample = LatencySample::new(&[0; 4], 0);
        assert_eq!((sample.count, sample.ns_p50, sample.ns_max), (0, 0, 0));
    }
}
