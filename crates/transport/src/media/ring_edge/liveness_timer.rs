//! Times at which an end asks the system whether its peer is alive: seldom enough to cost nothing,
//! often enough that even an end that never sleeps notices a death within a second.

use std::time::{Duration, Instant};

/// Calls between two looks at the clock, which cost more than a call.
const CALLS_PER_CLOCK_READ: u32 = 64;

/// Least time between two questions to the system; more if calls are rare.
const CHECK_PERIOD: Duration = Duration::from_millis(10);

/// Counts calls that found nothing to do, and says when to ask.
pub(super) struct LivenessTimer {
    calls: u32,
    last_check: Instant,
}

impl LivenessTimer {
    /// A timer whose period begins now.
    pub(super) fn new() -> LivenessTimer {
        LivenessTimer {
            calls: 0,
            last_check: Instant::now(),
        }
    }

    /// Counts a call. `true`: it is time to ask.
    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        self.calls += 1;
        self.calls >= CALLS_PER_CLOCK_READ && self.has_period_elapsed(Instant::now())
    }

    #[cold]
    fn has_period_elapsed(&mut self, now: Instant) -> bool {
        self.calls = 0;
        let is_time = now.saturating_duration_since(self.last_check) >= CHECK_PERIOD;
        if is_time {
            self.last_check = now;
        }
        is_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longest time between two questions of an end that looks for work at this interval.
    fn longest(pause: Duration) -> Duration {
        let mut timer = LivenessTimer::new();
        let begin = timer.last_check;
        let (mut now, mut asked, mut longest) = (begin, begin, Duration::ZERO);
        while now - begin < Duration::from_secs(10) {
            now += CALLS_PER_CLOCK_READ * pause;
            if timer.has_period_elapsed(now) {
                assert!(now - asked >= CHECK_PERIOD, "it asks too often");
                longest = longest.max(now - asked);
                asked = now;
            }
        }
        longest
    }

    #[test]
    fn an_end_that_spins_or_yields_asks_within_a_second() {
        for pause in [1, 10, 1_000, 10_000].map(Duration::from_micros) {
            let longest = longest(pause);
            assert!(longest > Duration::ZERO, "{pause:?}: it never asks");
            let bound = CHECK_PERIOD + CALLS_PER_CLOCK_READ * pause;
            assert!(longest <= bound, "{pause:?}: {longest:?}");
        }
        assert!(longest(Duration::from_millis(10)) < Duration::from_secs(1));
    }
}
