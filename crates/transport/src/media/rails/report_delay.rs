//! The report delay of a rail: how long the first segment that waits on it takes until the receiver
//! reports it, on average, and how much that varies.
//!
//! ```text
//!   sent, or first now        reported        late_after
//!   --+-----------------------------+-----------------+--
//!     |<------- a sample ---------->|
//!     |<--- mean --->|<------ 4 deviations ---------->|
//! ```
//! The average and the mean deviation are those of the retransmission timer of TCP (RFC 6298).

use std::time::Duration;

/// Longest sample: a path that was interrupted for longer says nothing about its delay.
const SAMPLE_MAX: Duration = Duration::from_secs(1);

/// Average of the delay of a rail's reports, and its variation.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::media) struct ReportDelay {
    mean: Duration,
    deviation: Duration,
    has_sample: bool,
}

impl ReportDelay {
    /// Notes a report, and the time for which its first segment had been the first that waited.
    pub(in crate::media) fn note(&mut self, took: Duration) {
        if took > SAMPLE_MAX {
            return;
        }
        if !std::mem::replace(&mut self.has_sample, true) {
            (self.mean, self.deviation) = (took, took / 2);
            return;
        }
        self.deviation = self.deviation * 3 / 4 + self.mean.abs_diff(took) / 4;
        self.mean = self.mean * 7 / 8 + took / 8;
    }

    /// Average time; 0 before the first report.
    pub(in crate::media) fn mean(&self) -> Duration {
        self.mean
    }

    /// Time after which a report is late by this rail's measure; 0 before the first report.
    pub(in crate::media) fn late_after(&self) -> Duration {
        self.mean + 4 * self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn a_steady_delay_is_late_soon_and_a_varying_one_later() {
        let after = |samples: [u32; 2]| {
            let mut delay = ReportDelay::default();
            for _ in 0..100 {
                samples
                    .iter()
                    .for_each(|sample| delay.note(MILLI * *sample));
            }
            delay.late_after()
        };
        assert_eq!(ReportDelay::default().late_after(), Duration::ZERO);
        assert!((3 * MILLI..4 * MILLI).contains(&after([3, 3])));
        assert!(after([1, 5]) > 8 * MILLI, "{:?}", after([1, 5]));
    }

    #[test]
    fn an_outage_is_forgotten() {
        let mut delay = ReportDelay::default();
        (0..100).for_each(|_| delay.note(MILLI));
        let before = delay.late_after();
        delay.note(SAMPLE_MAX + MILLI);
        assert_eq!(delay.late_after(), before, "too long to count");
        delay.note(200 * MILLI);
        assert!(delay.late_after() > 200 * MILLI);
        (0..30).for_each(|_| delay.note(MILLI));
        assert!(delay.late_after() < 10 * MILLI);
    }
}
