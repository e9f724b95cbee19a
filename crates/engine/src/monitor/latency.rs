//! What a histogram of latencies says in a few numbers.

use runtime::crossing::bucket_end_ns;
use serde::Serialize;

/// How long tuples were under way on a link, since the job began. Percentiles are the ends of their
/// buckets: at most a thirty-second too large.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LatencySample {
    /// How many tuples were measured.
    pub count: u64,
    /// Half of them took at most so many nanoseconds.
    pub ns_p50: u64,
    /// Nine of ten.
    pub ns_p90: u64,
    /// 99 of a hundred.
    pub ns_p99: u64,
    /// 999 of a thousand.
    pub ns_p999: u64,
    /// All of them.
    pub ns_max: u64,
}

impl LatencySample {
    /// Of the counts of all buckets, and the longest time.
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
