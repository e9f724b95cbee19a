//! Rates of short windows of a run, by kind.
//!
//! A rate over a whole run mixes times in which the two sides collide on every message with others
//! in which they just miss each other, and describes neither. So a run is cut into windows of a few
//! thousand messages, and each counts for its kind.

use measure::LatencyHistogram;

/// Fewest messages of a window: long enough to time, short enough to be of one kind.
const WINDOW_MESSAGES_MIN: u64 = 4096;

/// Rates of the windows of one kind.
#[derive(Default)]
pub(crate) struct RateWindows {
    /// Picoseconds a message, for each window.
    pace_ps: LatencyHistogram,
}

/// Beginning of the current window.
pub(crate) struct RateWindowTimer {
    count: u64,
    time_ns: u64,
    is_first: bool,
}

/// Messages and time of a window that has ended.
#[derive(Clone, Copy)]
pub(crate) struct RateWindow {
    messages: u64,
    duration_ns: u64,
}

impl RateWindows {
    /// Adds the rate of a window.
    pub(crate) fn add(&mut self, window: RateWindow) {
        let pace = u128::from(window.duration_ns) * 1000 / u128::from(window.messages.max(1));
        self.pace_ps.record(u64::try_from(pace).unwrap_or(u64::MAX));
    }

    /// Number of windows of this kind.
    pub(crate) fn count(&self) -> u64 {
        self.pace_ps.count()
    }

    /// Messages a second in the median window; 0 if there is none.
    pub(crate) fn rate(&self) -> f64 {
        match self.pace_ps.quantile_ns(0.5) {
            0 => 0.0,
            pace => 1e12 / pace as f64,
        }
    }
}

impl RateWindowTimer {
    /// A timer that begins with the next call of [`RateWindowTimer::advance`].
    pub(crate) fn new() -> RateWindowTimer {
        RateWindowTimer {
            count: 0,
            time_ns: 0,
            is_first: true,
        }
    }

    /// Notes that `count` messages were there by now. Returns a window, if one has ended.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        count: u64,
        now_ns: impl FnOnce() -> u64,
    ) -> Option<RateWindow> {
        let messages = count - self.count;
        if messages < WINDOW_MESSAGES_MIN && !self.is_first {
            return None;
        }
        let now_ns = now_ns();
        let window = RateWindow {
            messages,
            duration_ns: now_ns - self.time_ns,
        };
        let is_whole = !std::mem::replace(&mut self.is_first, false);
        (self.count, self.time_ns) = (count, now_ns);
        is_whole.then_some(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_stream_has_its_rate_and_what_came_before_does_not_count() {
        let (mut cut, mut windows) = (RateWindowTimer::new(), RateWindows::default());
        assert!(
            cut.advance(10, || 5_000_000_000).is_none(),
            "it begins here"
        );
        for count in (11..=10 + 8 * WINDOW_MESSAGES_MIN).step_by(1) {
            let time_ns = 5_000_000_000 + (count - 10) * 50;
            if let Some(window) = cut.advance(count, || time_ns) {
                windows.add(window);
            }
        }
        assert_eq!(windows.count(), 8);
        let rate = windows.rate();
        assert!((rate - 20e6).abs() < 20e6 / 500.0, "{rate}");
    }

    #[test]
    fn no_window_has_no_rate() {
        assert_eq!(
            (
                RateWindows::default().count(),
                RateWindows::default().rate()
            ),
            (0, 0.0)
        );
    }
}
