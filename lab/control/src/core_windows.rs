//! Rates that other programs do not affect: only times in which both sides had a core count.
//!
//! A run is cut into windows of some rounds through a ring. At its edges each side notes the time,
//! and the time that it had a core. A window in which a side had to wait for its core is left out.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Bytes of the messages of one window.
const WINDOW_BYTES: usize = 1 << 20;

/// Least share of a window for which a side must have had a core; other windows do not count.
const CORE_SHARE_MIN: f64 = 0.97;

/// Times that one side has noted, at each edge between windows.
pub struct CoreWindows {
    messages_per_window: u64,
    /// Number of messages at the next edge.
    next: u64,
    windows: usize,
    /// Nanoseconds of the monotonic clock and of the thread's, at each edge.
    edges: Vec<[u64; 2]>,
}

impl CoreWindows {
    /// No edges yet, of a run of `windows` windows with messages of `bytes` bytes.
    pub fn new(bytes: usize, windows: usize) -> CoreWindows {
        CoreWindows {
            messages_per_window: (WINDOW_BYTES / bytes) as u64,
            next: 0,
            windows,
            edges: Vec::with_capacity(windows + 2),
        }
    }

    /// Number of messages of `bytes` bytes that a run of `windows` windows has.
    pub const fn message_count(bytes: usize, windows: usize) -> u64 {
        (WINDOW_BYTES / bytes * windows) as u64
    }

    /// Notes that `count` messages were sent or received by now.
    #[inline(always)]
    pub fn reached(&mut self, count: u64) {
        if count >= self.next {
            self.note();
        }
    }

    #[cold]
    fn note(&mut self) {
        self.next += self.messages_per_window;
        let time = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
        let clocks = [ClockId::Monotonic, ClockId::ThreadCPUTime];
        self.edges
            .push(clocks.map(|clock| time(clock).as_nanos() as u64));
    }

    /// The edges as bytes, for [`CoreWindows::read_edges`] in another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.edges.iter().flatten();
        words.flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// Takes edges that another process has noted in a run of this size.
    pub fn read_edges(&mut self, bytes: &[u8]) {
        let (edges, _) = bytes.as_chunks::<16>();
        self.edges = edges
            .iter()
            .map(|edge| [0, 8].map(|at| edge[at..].first_chunk().copied().unwrap_or_default()))
            .map(|edge| edge.map(u64::from_ne_bytes))
            .collect();
    }

    /// Nanoseconds of a window, and the part of it for which the thread had a core.
    fn window(&self, at: usize) -> Option<(f64, f64)> {
        let (from, to) = (self.edges.get(at)?, self.edges.get(at + 1)?);
        let wall = to[0].saturating_sub(from[0]) as f64;
        let thread = to[1].saturating_sub(from[1]) as f64;
        Some((wall, thread / wall))
    }

    /// Messages a second in each window in which both the sender and this receiver had a core.
    pub fn rates(&self, sender: &CoreWindows) -> Vec<f64> {
        // The sender is ahead, by less than a window.
        let has_run = |at| {
            let window = sender.window(at);
            window.is_none_or(|(_, share)| share > CORE_SHARE_MIN)
        };
        let windows = (1..self.windows - 1).filter_map(|at| {
            let (wall, share) = self.window(at)?;
            let is_whole = share > CORE_SHARE_MIN && has_run(at) && has_run(at + 1);
            is_whole.then(|| self.messages_per_window as f64 / wall * 1e9)
        });
        windows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three windows of 10 µs; of the second a part of the thread's time is missing.
    fn noted(lost_ns: u64) -> CoreWindows {
        let mut windows = CoreWindows::new(1024, 5);
        let edges = [[0, 0], [10_000, 10_000], [20_000, 20_000 - lost_ns]];
        let after = [30_000, 30_000 - lost_ns];
        let last = [40_000, 40_000 - lost_ns];
        windows.edges = edges.into_iter().chain([after, last]).collect();
        windows
    }

    #[test]
    fn a_window_without_a_core_does_not_count() {
        assert_eq!(CoreWindows::message_count(1024, 5), 5 * 1024);
        let rate = 1024.0 / 10_000.0 * 1e9;
        assert_eq!(noted(0).rates(&noted(0)), [rate; 3]);
        assert_eq!(noted(500).rates(&noted(0)), [rate; 2]);
        assert_eq!(noted(0).rates(&noted(500)), [rate; 2]);
    }

    #[test]
    fn edges_of_another_process_are_the_same() {
        let mut joined = CoreWindows::new(1024, 5);
        joined.read_edges(&noted(500).to_bytes());
        assert_eq!(joined.edges, noted(500).edges);
    }
}
