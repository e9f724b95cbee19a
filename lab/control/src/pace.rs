//! Sending at an even pace. A message carries the time at which it was due, so a delay of the
//! sender counts as latency.
//!
//! ```text
//!   due   0         1         2         3         4
//!   sent  |trip|    |trip ........... ||trip||trip|  |trip|
//!                   '-- 1 took so long, and 2 and 3 waited: counted from their due times --'
//! ```

use std::hint::spin_loop;
use std::time::Duration;

use crate::Error;
use crate::sink::now_ns;

/// A clock that a pace reads and waits by; tests simulate one.
pub trait PaceClock {
    /// Nanoseconds since a fixed time.
    fn now_ns(&self) -> i64;
    /// Lets about `time_ns` nanoseconds pass without using the core.
    fn sleep(&self, time_ns: i64);
    /// Lets an instant pass on the core.
    fn spin(&self);
}

/// The system's monotonic clock.
pub struct MonotonicClock;

impl PaceClock for MonotonicClock {
    fn now_ns(&self) -> i64 {
        now_ns()
    }

    fn sleep(&self, time_ns: i64) {
        std::thread::sleep(Duration::from_nanos(time_ns.unsigned_abs()));
    }

    fn spin(&self) {
        spin_loop();
    }
}

/// Nanoseconds before the first message is due, in which the receiver gets ready.
const LEAD_NS: i64 = 10_000_000;

/// How a sender waits until the next message is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaceWait {
    /// Sleeps, and leaves the core to threads that have to run before the next message.
    Sleep,
    /// Spins, since no other thread needs the core. Waking a sleeping thread takes tens of
    /// microseconds, which would be all that is measured.
    Spin,
}

impl PaceWait {
    /// Nanoseconds before a message is due in which the sender spins, since sleeping threads wake
    /// late.
    pub fn spin_ns(self) -> i64 {
        match self {
            PaceWait::Sleep => 100_000,
            PaceWait::Spin => i64::from(u32::MAX) * 1_000_000_000,
        }
    }
}

/// Sends `count` messages at `rate` messages a second. Calls `send` with the number of the message
/// and the time when it is due, in nanoseconds of the clock.
///
/// # Errors
/// The first error of `send`.
///
/// # Example
/// ```
/// use thalweg_control::pace::{MonotonicClock, PaceWait, send_at_pace};
///
/// let mut due = Vec::new();
/// send_at_pace(&MonotonicClock, PaceWait::Sleep, (1e6, 3), |_, due_ns| {
///     due.push(due_ns);
///     Ok(())
/// })?;
/// assert_eq!(due[2] - due[0], 2_000);
/// # Ok::<(), thalweg_control::Error>(())
/// ```
pub fn send_at_pace(
    clock: &impl PaceClock,
    waiting: PaceWait,
    (rate, count): (f64, u64),
    mut send: impl FnMut(u64, i64) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = clock.now_ns() + LEAD_NS;
    for number in 0..count {
        let due = start + (number as f64 * 1e9 / rate) as i64;
        wait_until(clock, due - waiting.spin_ns(), due);
        send(number, due)?;
    }
    Ok(())
}

fn wait_until(clock: &impl PaceClock, wake: i64, due: i64) {
    let early = wake - clock.now_ns();
    if early > 0 {
        clock.sleep(early);
    }
    while clock.now_ns() < due {
        clock.spin();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use measure::{LatencyHistogram, LatencyPercentiles};

    use super::*;

    /// A clock that moves only when it is told to; sleepers wake late.
    struct Simulated {
        now: Cell<i64>,
        late: Cell<i64>,
    }

    impl Default for Simulated {
        fn default() -> Simulated {
            Simulated {
                now: Cell::new(0),
                late: Cell::new(55_000),
            }
        }
    }

    impl Simulated {
        fn pass(&self, time_ns: i64) {
            self.now.set(self.now.get() + time_ns);
        }
    }

    impl PaceClock for Simulated {
        fn now_ns(&self) -> i64 {
            self.now.get()
        }

        fn sleep(&self, time_ns: i64) {
            self.pass(time_ns + self.late.get());
        }

        fn spin(&self) {
            self.pass(20);
        }
    }

    /// Sends messages one by one; the nanoseconds that each took from when it was due.
    fn trips(clock: &Simulated, rate: f64, count: u64, trip: impl Fn(u64)) -> Vec<i64> {
        let mut took = Vec::new();
        let sent = send_at_pace(clock, PaceWait::Sleep, (rate, count), |number, due| {
            trip(number);
            took.push(clock.now_ns() - due);
            Ok(())
        });
        sent.unwrap();
        took
    }

    fn latency(took: &[i64]) -> LatencyPercentiles {
        let mut histogram = LatencyHistogram::new();
        took.iter().for_each(|ns| histogram.record(*ns as u64));
        histogram.percentiles().unwrap()
    }

    #[track_caller]
    fn assert_close(is: u64, should: u64) {
        let off = is.abs_diff(should) as f64 / should as f64;
        assert!(off < 0.01, "{is} is not {should}");
    }

    #[test]
    fn a_known_latency_is_found_at_a_known_rate() {
        for (rate, takes) in [(1000.0, 28_000), (5000.0, 57_000), (100.0, 3_000_000)] {
            let clock = Simulated::default();
            let took = trips(&clock, rate, 10_000, |_| clock.pass(takes));
            let latency = latency(&took);
            for found in [latency.p50, latency.p99, latency.p9999, latency.max] {
                assert_close(found, takes as u64);
            }
            let elapsed = (clock.now_ns() - LEAD_NS) as u64;
            assert_close(elapsed, (10_000.0 * 1e9 / rate) as u64);
        }
    }

    #[test]
    fn who_stays_awake_never_sleeps() {
        let clock = Simulated::default();
        let took = |waiting| {
            let mut latest = 0;
            let sent = send_at_pace(&clock, waiting, (1000.0, 1000), |_, due| {
                latest = latest.max(clock.now_ns() - due);
                Ok(())
            });
            sent.unwrap();
            latest
        };
        clock.late.set(150_000);
        assert!(took(PaceWait::Sleep) > 40_000, "woken too late");
        assert!(took(PaceWait::Spin) <= 20);
    }

    #[test]
    fn a_stall_is_seen_by_all_that_it_held_up() {
        let clock = Simulated::default();
        let took = trips(&clock, 1000.0, 10_000, |number| {
            clock.pass(if number == 5000 { 100_000_000 } else { 20_000 });
        });
        // The stalled trip and the hundred that were due meanwhile: one in a hundred, 1 to 100 ms.
        let late = took.iter().filter(|ns| **ns > 1_000_000).count();
        assert!((100..=103).contains(&late), "{late}");
        let latency = latency(&took);
        assert_close(latency.max, 100_000_000);
        assert_close(latency.p50, 20_000);
        // A thousandth are ten trips: those behind the stall had to wait for 90 ms and more.
        assert!(
            (88_000_000..93_000_000).contains(&latency.p999),
            "{latency:?}"
        );
    }
}
