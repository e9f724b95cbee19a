//! What a spinning thread does between two looks that find nothing.

use std::hint::spin_loop;
use std::thread::yield_now;

/// Looks in vain before others get a turn: far longer than a message takes, and less than the
/// system takes to give another thread the processor.
const SPINS_BEFORE_YIELD: u32 = 20_000;

/// Spins, and lets others run when it has been for nothing for long: on a machine with fewer cores
/// than threads the other side might be waiting for this processor.
#[derive(Debug, Default)]
pub struct TopicBackoff {
    spins: u32,
}

impl TopicBackoff {
    /// There was something.
    #[inline]
    pub fn reset(&mut self) {
        self.spins = 0;
    }

    /// There was nothing.
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
