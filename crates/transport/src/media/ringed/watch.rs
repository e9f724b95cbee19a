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
        self.calls >= CALLS && self.is_time()
    }

    #[cold]
    fn is_time(&mut self) -> bool {
        self.calls = 0;
        let is_time = self.last.elapsed() >= PERIOD;
        if is_time {
            self.last = Instant::now();
        }
        is_time
    }
}
