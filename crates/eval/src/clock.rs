//! The clocks of [`graph::ExprKind::ClockSeconds`].

use graph::Clock;
use rustix::time::{ClockId, clock_gettime};

/// Seconds on a clock, since some moment before the process began; never less than before.
pub fn clock_seconds(clock: Clock) -> f64 {
    let id = match clock {
        Clock::Exact => ClockId::Monotonic,
        Clock::Ticks => ClockId::MonotonicCoarse,
    };
    let now = clock_gettime(id);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_a_little_behind() {
        let ticks = clock_seconds(Clock::Ticks);
        let exact = clock_seconds(Clock::Exact);
        assert!(ticks <= exact, "{ticks} {exact}");
        while clock_seconds(Clock::Ticks) < exact {
            std::thread::yield_now();
        }
    }
}
