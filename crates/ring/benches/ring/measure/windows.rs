//! Rates that know nothing of other programs: only of times in which both sides ran.
//!
//! A turn is cut into windows, each some rounds through the ring long. At its edges both sides note
//! the time, and the time that they had a processor. A window in which a side had to wait for its
//! processor is left out.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Bytes of the messages of one window.
const WINDOW_BYTES: usize = 1 << 20;

/// Number of windows in a turn.
const COUNT: usize = 64;

/// Least share of a window for which a side must have had a processor; other windows do not count.
const SHARE_MIN: f64 = 0.97;

/// Message counts and times that one side has noted.
pub struct Windows {
    step: u64,
    next: u64,
    /// Times of the wall clock and of the thread, at each edge between windows.
    edges: Vec<(Duration, Duration)>,
}

impl Windows {
    /// Windows before the first message of this size.
    pub fn new(message_bytes: usize) -> Windows {
        Windows {
            step: (WINDOW_BYTES / message_bytes) as u64,
            next: 0,
            edges: Vec::with_capacity(COUNT + 2),
        }
    }

    /// Number of messages of this size that make a turn.
    pub const fn turn_count(message_bytes: usize) -> u64 {
        (WINDOW_BYTES / message_bytes * COUNT) as u64
    }

    /// Notes that `count` messages have been written or read by now.
    #[inline(always)]
    pub fn reached(&mut self, count: u64) {
        if count >= self.next {
            self.note();
        }
    }

    #[cold]
    fn note(&mut self) {
        self.next += self.step;
        let time = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
        let edge = (time(ClockId::Monotonic), time(ClockId::ThreadCPUTime));
        self.edges.push(edge);
    }

    /// Nanoseconds of a window, and the part of it for which the thread had a processor.
    fn window(&self, at: usize) -> Option<(f64, f64)> {
        let (from, to) = (self.edges.get(at)?, self.edges.get(at + 1)?);
        let wall = (to.0 - from.0).as_nanos() as f64;
        let thread = (to.1 - from.1).as_nanos() as f64;
        Some((wall, thread / wall))
    }
}

/// Messages a second in each window in which both sides ran.
pub fn rates(writer: &Windows, reader: &Windows) -> Vec<f64> {
    // The writer is ahead, by less than a window.
    let has_run = |at| writer.window(at).is_none_or(|(_, share)| share > SHARE_MIN);
    let windows = (1..COUNT - 1).filter_map(|at| {
        let (wall, share) = reader.window(at)?;
        let is_whole = share > SHARE_MIN && has_run(at) && has_run(at + 1);
        is_whole.then(|| reader.step as f64 / wall * 1e9)
    });
    windows.collect()
}
