//! The clock of time windows.

use std::time::Instant;

/// Nanoseconds since it was made; never goes back.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Starts at zero.
    pub fn new() -> Clock {
        Clock(Instant::now())
    }

    /// Now.
    pub fn now_ns(self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}
