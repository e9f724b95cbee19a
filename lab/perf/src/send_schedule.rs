//! Schedule of messages: evenly spaced, and late ones are caught up with.

/// Nanoseconds of a second.
const SECOND_NS: u64 = 1_000_000_000;

/// An even schedule from a start time on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendSchedule {
    /// Messages a second, at least 1.
    pub(crate) rate: u64,
    /// Time at which the first message is due.
    pub(crate) start_ns: u64,
}

impl SendSchedule {
    /// Number of messages due by now. The first is due at once, so that the pause comes after it.
    #[inline]
    pub(crate) fn due_count(self, now_ns: u64) -> u64 {
        let elapsed = now_ns - self.start_ns;
        // In two parts, because the product outgrows 64 bits within a minute.
        let (seconds, rest) = (elapsed / SECOND_NS, elapsed % SECOND_NS);
        seconds * self.rate + rest * self.rate / SECOND_NS + 1
    }

    /// Time at which the message of this number is due, counted from 0.
    #[inline]
    pub(crate) fn due_ns(self, number: u64) -> u64 {
        let (seconds, rest) = (number / self.rate, number % self.rate);
        self.start_ns + seconds * SECOND_NS + (rest * SECOND_NS).div_ceil(self.rate)
    }

    /// Whether single messages can be sent when they are due, with a clock that takes `clock_ns` to
    /// read. Otherwise there is a rate, but no time that a message could miss.
    pub(crate) fn is_achievable(self, clock_ns: u64) -> bool {
        SECOND_NS / self.rate >= 2 * clock_ns.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_due_when_it_is_counted_as_due() {
        for rate in [1, 3, 1000, 250_000, 999_999_999, SECOND_NS] {
            let pace = SendSchedule { rate, start_ns: 77 };
            assert_eq!((pace.due_count(77), pace.due_ns(0)), (1, 77));
            for number in [1, 2, 5, 1000, 1_000_000_007] {
                let due_ns = pace.due_ns(number);
                assert_eq!(pace.due_count(due_ns), number + 1, "{number} at {rate}");
                assert_eq!(pace.due_count(due_ns - 1), number, "{number} at {rate}");
            }
        }
    }

    #[test]
    fn a_long_run_does_not_outgrow_its_numbers() {
        let pace = SendSchedule {
            rate: 999_999_999,
            start_ns: 0,
        };
        assert_eq!(pace.due_count(3600 * SECOND_NS), 3600 * 999_999_999 + 1);
    }

    #[test]
    fn a_pace_is_kept_if_the_clock_is_faster() {
        let pace = |rate| SendSchedule { rate, start_ns: 0 };
        assert!(pace(10_000_000).is_achievable(25));
        assert!(!pace(999_999_999).is_achievable(25));
        assert!(!pace(SECOND_NS).is_achievable(0));
    }
}
