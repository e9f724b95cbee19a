//! Rates that other programs do not affect: only times in which both sides ran count.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Bytes of a window's frames.
const WINDOW_BYTES: usize = 1 << 20;

/// Number of windows in a run.
const COUNT: usize = 300;

/// Least share of a window for which a side must have had a processor; other windows do not count.
const SHARE_MIN: f64 = 0.97;

/// Fewest windows that must count for a result.
const WHOLE_MIN: usize = 5;

/// Times that one side has noted, at each edge between windows.
pub struct Windows {
    step: u64,
    next: u64,
    /// Nanoseconds of the wall and of the thread, at each edge.
    edges: Vec<[u64; 2]>,
}

/// Number of frames of this length that make a run.
pub fn run_count(len: usize) -> u64 {
    (WINDOW_BYTES / len * COUNT) as u64
}

impl Windows {
    /// Windows before the first frame of this length.
    pub fn new(len: usize) -> Windows {
        Windows {
            step: (WINDOW_BYTES / len) as u64,
            next: 0,
            edges: Vec::with_capacity(COUNT + 2),
        }
    }

    /// Notes that `count` frames were sent or received by now.
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
        let clocks = [ClockId::Monotonic, ClockId::ThreadCPUTime];
        self.edges
            .push(clocks.map(|clock| time(clock).as_nanos() as u64));
    }

    /// Encodes the windows for the other process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.edges.iter().flatten();
        words.flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// Decodes windows of the other process.
    pub fn from_bytes(len: usize, bytes: &[u8]) -> Windows {
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        let edges = bytes.chunks_exact(16);
        Windows {
            edges: edges
                .map(|edge| [word(&edge[..8]), word(&edge[8..])])
                .collect(),
            ..Windows::new(len)
        }
    }

    /// Nanoseconds of a window, and the part of it for which the thread had a processor.
    fn window(&self, at: usize) -> Option<(f64, f64)> {
        let (from, to) = (self.edges.get(at)?, self.edges.get(at + 1)?);
        let wall = to[0].saturating_sub(from[0]) as f64;
        let thread = to[1].saturating_sub(from[1]) as f64;
        Some((wall, thread / wall))
    }
}

/// Million frames a second in the median window; not a number if there were too few in which both
/// sides ran.
pub fn rate(sender: &Windows, receiver: &Windows) -> f64 {
    // The sender is ahead, by less than a window.
    let has_run = |at| sender.window(at).is_none_or(|(_, share)| share > SHARE_MIN);
    let windows = (1..COUNT - 1).filter_map(|at| {
        let (wall, share) = receiver.window(at)?;
        let is_whole = share > SHARE_MIN && has_run(at) && has_run(at + 1);
        is_whole.then(|| receiver.step as f64 / wall * 1e3)
    });
    let mut windows: Vec<f64> = windows.collect();
    windows.sort_by(f64::total_cmp);
    match windows.len() < WHOLE_MIN {
        true => f64::NAN,
        false => windows[windows.len() / 2],
    }
}
