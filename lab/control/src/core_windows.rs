//! Rates that other programs do not affect: only times in which both sides had a core count.
//!
//! A run is cut into windows of some rounds through a ring. At its edges each side notes the time,
//! and the time that it had a core. A window in which a side had to wait for its core is left out.

use rustix::time::{ClockId, clock_gettime};
use transport::monotonic_ns;

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
    /// Number of messages, and nanoseconds of the monotonic clock and of the thread's, at each
    /// edge. A side that passes several edges at once notes them all alike.
    edges: Vec<[u64; 3]>,
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

    /// Notes that `count` messages were sent or received by now: 0 before the first message, all
    /// after the last one. The last window ends with that call.
    #[inline(always)]
    pub fn reached(&mut self, count: u64) {
        if count >= self.next {
            self.note(count);
        }
    }

    #[cold]
    fn note(&mut self, count: u64) {
        let thread = clock_gettime(ClockId::ThreadCPUTime);
        let thread_ns = thread.tv_sec as u64 * 1_000_000_000 + thread.tv_nsec as u64;
        let edge = [count, monotonic_ns(), thread_ns];
        while count >= self.next && self.edges.len() <= self.windows {
            self.edges.push(edge);
            self.next += self.messages_per_window;
        }
    }

    /// The edges as bytes, for [`CoreWindows::read_edges`] in another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.edges.iter().flatten();
        words.flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// Takes edges that another process has noted in a run of this size.
    pub fn read_edges(&mut self, bytes: &[u8]) {
        let (edges, _) = bytes.as_chunks::<24>();
        self.edges = edges
            .iter()
            .map(|edge| [0, 8, 16].map(|at| edge[at..].first_chunk().copied().unwrap_or_default()))
            .map(|edge| edge.map(u64::from_ne_bytes))
            .collect();
    }

    /// Messages a second in a window. `None`: the thread had no core for a part of it, or the edges
    /// were not noted, or at one time.
    fn rate_in(&self, window: usize) -> Option<f64> {
        let (from, to) = (self.edges.get(window)?, self.edges.get(window + 1)?);
        let [count, wall_ns, thread_ns] =
            [0, 1, 2].map(|at| to[at].saturating_sub(from[at]) as f64);
        // Not a number if no time has passed.
        let has_run = thread_ns / wall_ns > CORE_SHARE_MIN;
        has_run.then(|| count / wall_ns * 1e9)
    }

    /// Messages a second in each window in which both the sender and this receiver had a core. The
    /// first window and the last one do not count.
    pub fn rates(&self, sender: &CoreWindows) -> Vec<f64> {
        // The sender is ahead, by less than a window.
        let has_run = |at| sender.rate_in(at).is_some();
        let windows = (1..self.windows.saturating_sub(1)).filter_map(|at| {
            let rate = self.rate_in(at);
            rate.filter(|_| has_run(at) && has_run(at + 1))
        });
        windows.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::copy_blocks::{BLOCK_BYTES, copy_blocks};
    use crate::payload::Payload;
    use crate::word_ring::WordRing;

    /// Five windows of 10 µs; of the second a part of the thread's time is missing.
    fn noted(lost_ns: u64) -> CoreWindows {
        let mut windows = CoreWindows::new(1024, 5);
        let thread_ns = |wall_ns| wall_ns - if wall_ns > 10_000 { lost_ns } else { 0 };
        let edges = (0..=5).map(|edge| (edge * 1024, edge * 10_000));
        let edges = edges.map(|(count, wall_ns)| [count, wall_ns, thread_ns(wall_ns)]);
        windows.edges = edges.collect();
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
    fn a_window_that_the_sender_has_not_noted_does_not_count() {
        assert!(noted(0).rates(&CoreWindows::new(1024, 5)).is_empty());
        let mut cut = noted(0);
        cut.edges.pop();
        assert_eq!(noted(0).rates(&cut).len(), 2);
        let none = CoreWindows::new(1024, 0);
        assert!(none.rates(&none).is_empty());
    }

    #[test]
    fn windows_that_end_at_once_count_as_one() {
        let mut jumped = noted(0);
        jumped.edges[2] = jumped.edges[3];
        let rate = 1024.0 / 10_000.0 * 1e9;
        assert_eq!(
            jumped.rates(&noted(0)),
            [rate; 2],
            "of 20 and of 10 microseconds"
        );
        let mut windows = CoreWindows::new(1024, 5);
        [0, 2048, 2100, 3072, 9000]
            .into_iter()
            .for_each(|count| windows.reached(count));
        let counts = windows.edges.iter().map(|edge| edge[0]);
        assert_eq!(Vec::from_iter(counts), [0, 2048, 2048, 3072, 9000, 9000]);
    }

    #[test]
    fn every_way_to_send_notes_the_end() {
        let (payload, windows) = (Payload::with_bytes(1024), 2);
        let count = CoreWindows::message_count(1024, windows);
        let [mut sent, mut got] = [0, 0].map(|_| CoreWindows::new(1024, windows));
        let ring = WordRing::new_private(1).expect("memory");
        thread::scope(|scope| {
            scope.spawn(|| ring.write_noting(payload, count, |number| sent.reached(number)));
            ring.read_all_noting(payload, count, |count| got.reached(count));
        });
        assert_eq!([sent.edges.len(), got.edges.len()], [windows + 1; 2]);

        let count = CoreWindows::message_count(BLOCK_BYTES, windows);
        let [mut sent, mut got] = [0, 0].map(|_| CoreWindows::new(BLOCK_BYTES, windows));
        copy_blocks(
            count,
            |number| sent.reached(number),
            |number| got.reached(number),
        );
        assert_eq!([sent.edges.len(), got.edges.len()], [windows + 1; 2]);
    }

    #[test]
    fn edges_of_another_process_are_the_same() {
        let mut joined = CoreWindows::new(1024, 5);
        joined.read_edges(&noted(500).to_bytes());
        assert_eq!(joined.edges, noted(500).edges);
    }
}
