//! When to ask the system whether a peer is still alive: seldom enough to cost nothing, often enough
//! that a death is noticed within a second even by an end that never sleeps.

use std::time::{Duration, Instant};

/// Calls between two looks at the clock.
const CALLS: u32 = 64;

/// Time between two questions, unless calls are rare.
const PERIOD: Duration = Duration::from_millis(10);

/// Counts the calls that found nothing to do.
pub(super) struct Watch {
    calls: u32,
    last: Instant,
}

impl Watch {
    /// From now on.
    pub(super) fn new() -> Watch {
        Watch {
            calls: 0,
            last: Instant::now(),
        }
    }

    /// Counts a call, and says whether it is time to ask.
    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        self.calls += 1;
        self.calls >= CALLS && self.is_time(Instant::now())
    }

    #[cold]
    fn is_time(&mut self, now: Instant) -> bool {
        self.calls = 0;
        let is_time = now.saturating_duration_since(self.last) >= PERIOD;
        if is_time {
            self.last = now;
        }
        is_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest time between two questions of an end that looks for work with this pause.
    fn longest(pause: Duration) -> Duration {
        let mut watch = Watch::new();
        let begin = watch.last;
        let (mut now, mut asked, mut longest) = (begin, begin, Duration::ZERO);
        while now - begin < Duration::from_secs(10) {
            now += CALLS * pause;
            if watch.is_time(now) {
                assert!(now - asked >= PERIOD, "it asks too often");
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
            let bound = PERIOD + CALLS * pause;
            assert!(longest <= bound, "{pause:?}: {longest:?}");
        }
        assert!(longest(Duration::from_millis(10)) < Duration::from_secs(1));
    }
}
