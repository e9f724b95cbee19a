//! Backoff of a thread that polls a topic: spinning, then yielding.

use std::hint::spin_loop;
use std::thread::yield_now;

/// Empty polls before the thread yields: far longer than a message takes, and less than the system
/// takes to give another thread the processor.
const SPINS_BEFORE_YIELD: u32 = 20_000;

/// Spins, and yields after many empty polls: on a machine with fewer cores than threads the other
/// side might be waiting for this processor.
#[derive(Debug, Default)]
pub struct TopicBackoff {
    spins: u32,
}

impl TopicBackoff {
    /// Notes that a poll found something.
    #[inline]
    pub fn reset(&mut self) {
        self.spins = 0;
    }

    /// Spins or yields after an empty poll.
    #[inline]
    pub fn back_off(&mut self) {
        if self.spins < SPINS_BEFORE_YIELD {
            self.spins += 1;
            spin_loop();
        } else {
            yield_now();
        }
    }
}
