//! The clock of time windows.

use std::time::Instant;

/// Clock that counts nanoseconds from its start and never goes back.
#[derive(Clone, Copy, Debug)]
pub struct WindowClock(Option<Instant>);

impl WindowClock {
    /// A clock at zero. It stays there if no window asks for the time, because a system call for
    /// the time costs more than most work on a tuple.
    pub fn new(is_needed: bool) -> WindowClock {
        WindowClock(is_needed.then(Instant::now))
    }

    /// Nanoseconds since the start.
    pub fn now_ns(self) -> u64 {
        self.0.map_or(0, |start| start.elapsed().as_nanos() as u64)
    }
}
