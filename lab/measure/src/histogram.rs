//! Latencies of a run, counted so that a pause hides nothing.
//!
//! A sender that waits for each answer sends nothing while it is held up. It measures one long wait
//! instead of all the waits that would have been long too: *coordinated omission*. There are two
//! remedies, and a measurement needs one of them. If messages carry the time at which they should
//! have been sent, every wait is in them: use [`LatencyHistogram::record`]. If they carry the time
//! at which they were sent, [`LatencyHistogram::record_at_pace`] adds the missing waits.
//!
//! # Cost
//! Recording takes a few additions in an array of 320 KB and allocates nothing.
//!
//! # Example
//! ```
//! use thalweg_measure::LatencyHistogram;
//!
//! let mut latencies = LatencyHistogram::new();
//! (1..=1000).for_each(|us| latencies.record(us * 1000));
//! assert!(latencies.quantile_ns(0.5).abs_diff(500_000) < 1000);
//! ```

use crate::LatencyPercentiles;

/// The largest latency that is recorded as it is: an hour, in nanoseconds. Larger ones count as an
/// hour.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// Latencies in nanoseconds, each kept to within a thousandth of its value.
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    counts: hdrhistogram::Histogram<u64>,
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram::new()
    }
}

impl LatencyHistogram {
    /// A histogram without any values.
    ///
    /// # Panics
    /// Never: the bounds are sound.
    pub fn new() -> LatencyHistogram {
        let counts = hdrhistogram::Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3);
        LatencyHistogram {
            counts: counts.expect("bounds are in order"),
        }
    }

    /// Adds a latency. One of more than an hour counts as an hour.
    pub fn record(&mut self, latency_ns: u64) {
        self.counts.saturating_record(latency_ns);
    }

    /// Adds a latency of a sender that sends every `interval_ns` but was held up. Also adds the
    /// latencies of the messages it did not send meanwhile: one per interval, each shorter than the
    /// one before by an interval.
    pub fn record_at_pace(&mut self, latency_ns: u64, interval_ns: u64) {
        self.record(latency_ns);
        if interval_ns == 0 {
            return;
        }
        let mut missing = latency_ns.min(LATENCY_NS_MAX).saturating_sub(interval_ns);
        while missing >= interval_ns {
            self.record(missing);
            missing -= interval_ns;
        }
    }

    /// Adds the latencies that another histogram has counted.
    ///
    /// # Panics
    /// Never: all histograms have equal bounds.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        let added = self.counts.add(&other.counts);
        added.expect("all have the same bounds");
    }

    /// The number of latencies.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// The smallest latency in nanoseconds; 0 of none.
    pub fn min_ns(&self) -> u64 {
        self.counts.min()
    }

    /// The largest latency in nanoseconds; 0 of none.
    pub fn max_ns(&self) -> u64 {
        self.counts.max()
    }

    /// The mean of the latencies in nanoseconds; 0 of none.
    pub fn mean_ns(&self) -> f64 {
        self.counts.mean()
    }

    /// The latency in nanoseconds that `share` of all latencies do not exceed; 0.5 gives the
    /// median.
    pub fn quantile_ns(&self, share: f64) -> u64 {
        self.counts.value_at_quantile(share).min(self.max_ns())
    }

    /// The percentiles that an outcome holds; `None` if no latency was recorded.
    pub fn percentiles(&self) -> Option<LatencyPercentiles> {
        (self.count() > 0).then(|| LatencyPercentiles {
            p50: self.quantile_ns(0.5),
            p90: self.quantile_ns(0.9),
            p99: self.quantile_ns(0.99),
            p999: self.quantile_ns(0.999),
            p9999: self.quantile_ns(0.9999),
            max: self.max_ns(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts equality within a thousandth, which is the histogram's precision, and rounding.
    fn assert_close(is: u64, should: u64) {
        let off = is.abs_diff(should) as f64 / should as f64;
        assert!(off < 0.002, "{is} is not {should}");
    }

    #[test]
    fn percentiles_of_a_ramp_are_its_own() {
        let mut ramp = LatencyHistogram::new();
        (1..=10_000).for_each(|micros| ramp.record(micros * 1000));
        let latency = ramp.percentiles().unwrap();
        assert_close(latency.p50, 5_000_000);
        assert_close(latency.p90, 9_000_000);
        assert_close(latency.p99, 9_900_000);
        assert_close(latency.p999, 9_990_000);
        assert_close(latency.p9999, 9_999_000);
        assert_close(latency.max, 10_000_000);
        assert_close(ramp.min_ns(), 1000);
        assert_close(ramp.mean_ns() as u64, 5_000_500);
    }

    #[test]
    fn a_pause_counts_for_all_that_it_held_up() {
        // 10,000 messages at 1,000 a second that take 10 µs, then 100 ms in which none is sent.
        let (mut paced, mut naive) = (LatencyHistogram::new(), LatencyHistogram::new());
        for _ in 0..10_000 {
            paced.record_at_pace(10_000, 1_000_000);
            naive.record(10_000);
        }
        paced.record_at_pace(100_000_000, 1_000_000);
        naive.record(100_000_000);
        assert_eq!(paced.count(), 10_000 + 100);
        assert_close(naive.quantile_ns(0.999), 10_000);
        // 100 of 10,100 wait, 1 to 100 ms: a thousandth of all are 10, of which the shortest is 91
        // ms.
        assert_close(paced.quantile_ns(1.0 - 10.0 / 10_100.0), 90_000_000);
        assert_close(paced.quantile_ns(0.99), 10_000);
    }

    #[test]
    fn nothing_has_no_percentiles_and_hours_are_an_hour() {
        assert_eq!(LatencyHistogram::new().percentiles(), None);
        let mut long = LatencyHistogram::new();
        long.record(u64::MAX);
        long.record_at_pace(5, 0);
        assert_close(long.max_ns(), LATENCY_NS_MAX);
        assert_eq!(long.count(), 2);
        let mut both = LatencyHistogram::new();
        both.merge(&long);
        both.merge(&long);
        assert_eq!(both.count(), 4);
    }
}
