//! Congestion: how much of the last seconds a sender has waited, in percent.
//!
//! ```text
//!         window k - 1          window k
//!    |--------------------|---------- now      waited time / all of this time
//! ```
//! Time is cut into windows of five seconds. The meter covers the present window, as far as it has
//! come, and the one before. A waiting thread writes a wait into its windows when it is over, which
//! is not the tuple path; a reader adds the wait that still lasts.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

const WINDOW_NS: u64 = 5_000_000_000;

/// Bits of a window's waited nanoseconds; the window's number, cut, stands above them. 40 bits hold
/// 18 minutes, far more than a window.
const WAITED_BITS: u32 = 40;

/// Waits of one side. One thread writes, any thread may read and may see a window stale.
#[derive(Debug, Default)]
pub(crate) struct CongestionMeter {
    /// Waits of the latest window of an even and of an odd number: the number and the nanoseconds.
    waited_ns: [AtomicU64; 2],
}

impl CongestionMeter {
    /// Adds a wait that is over.
    pub fn record_wait(&self, wait_ns: Range<u64>) {
        for window in recent_windows(wait_ns.end) {
            let more = overlap_ns(&wait_ns, window);
            let slot = &self.waited_ns[(window % 2) as usize];
            let now = waited_in_window(slot.load(Ordering::Relaxed), window) + more;
            if more > 0 {
                slot.store(window_tag(window) << WAITED_BITS | now, Ordering::Relaxed);
            }
        }
    }

    /// Share of the recent time since `begin_ns` that was waited: 0 to 100. `blocked_since_ns` is
    /// the start of a wait that still lasts.
    pub fn percent(&self, begin_ns: u64, now_ns: u64, blocked_since_ns: Option<u64>) -> u8 {
        let windows = recent_windows(now_ns);
        let since_ns = begin_ns.max(windows.start * WINDOW_NS).min(now_ns);
        let waited = windows.map(|window| {
            let over = self.waited_ns[(window % 2) as usize].load(Ordering::Relaxed);
            let lasts = blocked_since_ns.map_or(0, |since| overlap_ns(&(since..now_ns), window));
            waited_in_window(over, window) + lasts
        });
        let waited: u64 = waited.sum();
        let percent = waited * 100 / (now_ns - since_ns).max(1);
        percent.min(100) as u8
    }
}

/// Numbers of the window of a time and of the one before.
fn recent_windows(at_ns: u64) -> Range<u64> {
    let window = at_ns / WINDOW_NS;
    window.saturating_sub(1)..window + 1
}

/// Nanoseconds of a time span that lie in a window.
fn overlap_ns(time_ns: &Range<u64>, window: u64) -> u64 {
    let begin = time_ns.start.max(window * WINDOW_NS);
    let end = time_ns.end.min((window + 1) * WINDOW_NS);
    end.saturating_sub(begin)
}

fn window_tag(window: u64) -> u64 {
    window & ((1 << (u64::BITS - WAITED_BITS)) - 1)
}

/// Waited nanoseconds in a word, if the word is of this window.
fn waited_in_window(waited: u64, window: u64) -> u64 {
    match waited >> WAITED_BITS == window_tag(window) {
        true => waited & ((1 << WAITED_BITS) - 1),
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Percent at a second, of a side that began at 1000.
    fn at(congestion: &CongestionMeter, second: u64, blocked_since: Option<u64>) -> u8 {
        let since = blocked_since.map(|second| second * SECOND);
        congestion.percent(1000 * SECOND, second * SECOND, since)
    }

    #[test]
    fn waits_count_in_this_window_and_the_one_before() {
        let congestion = CongestionMeter::default();
        assert_eq!(at(&congestion, 1000, None), 0);
        congestion.record_wait(1000 * SECOND..1001 * SECOND);
        assert_eq!(at(&congestion, 1001, None), 100);
        assert_eq!(at(&congestion, 1004, None), 25);
        congestion.record_wait(1004 * SECOND..1006 * SECOND);
        assert_eq!(at(&congestion, 1006, None), 50);
        assert_eq!(at(&congestion, 1009, None), 33);
        // The first window is gone, of the second one a second was waited.
        assert_eq!(at(&congestion, 1011, None), 16);
        assert_eq!(at(&congestion, 1015, None), 0);
    }

    #[test]
    fn a_wait_that_lasts_counts() {
        let congestion = CongestionMeter::default();
        assert_eq!(at(&congestion, 1002, Some(1001)), 50);
        assert_eq!(at(&congestion, 1100, Some(1001)), 100);
        congestion.record_wait(1001 * SECOND..1100 * SECOND);
        assert_eq!(at(&congestion, 1100, None), 100);
        assert_eq!(at(&congestion, 1104, None), 55);
        assert_eq!(at(&congestion, 1105, None), 0);
    }
}
