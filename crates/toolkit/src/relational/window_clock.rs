//! The clock of time windows.

use std::time::Instant;

/// Nanoseconds since it was made; never goes back.
#[derive(Clone, Copy, Debug)]
pub struct WindowClock(Option<Instant>);

impl WindowClock {
    /// Starts at zero, and stays there if no window asks for the time: to look at the clock takes
    /// longer than most of what is done with a tuple.
    pub fn new(is_needed: bool) -> WindowClock {
        WindowClock(is_needed.then(Instant::now))
    }

    /// Now.
    pub fn now_ns(self) -> u64 {
        self.0.map_or(0, |start| start.elapsed().as_nanos() as u64)
    }
}
