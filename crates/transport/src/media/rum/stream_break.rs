//! A position at which a stream broke, and how often: a sender that breaks it there again and again
//! is given up.

use std::time::{Duration, Instant};

/// Times that the sender may send broken bytes at one position before it is given up.
const REFUSALS_MAX: u32 = 8;

/// A position at which the stream broke.
pub(super) struct StreamBreak {
    position: u64,
    /// Time of the first break at this position.
    first_at: Instant,
    /// Number of breaks that the sender caused by broken bytes.
    refusals: u32,
}

impl StreamBreak {
    /// The position of a stream that has not broken yet.
    pub(super) fn none() -> StreamBreak {
        StreamBreak::new(u64::MAX)
    }

    fn new(position: u64) -> StreamBreak {
        StreamBreak {
            position,
            first_at: Instant::now(),
            refusals: 0,
        }
    }

    /// Notes a break; `has_held`: the connection had existed for long.
    pub(super) fn note(&mut self, position: u64, has_held: bool) {
        if self.position != position || has_held {
            *self = StreamBreak::new(position);
        }
    }

    /// Notes that the sender caused the break by broken bytes. `true`: it is to be given up.
    pub(super) fn note_refusal(&mut self) -> bool {
        self.refusals += 1;
        self.refusals > REFUSALS_MAX
    }

    /// Time since the first break at this position.
    pub(super) fn since(&self) -> Duration {
        self.first_at.elapsed()
    }
}
