//! The thread of a PE that runs the timers of all operators.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::TimerId;
use crate::blocking::stop_signal::{StopSignal, positive_duration};
use crate::execution::thread_region::ThreadRegion;
use crate::lifecycle::thread_launch::{IdleThread, RegionThread};

/// The time at which each timer fires next; the earliest first.
pub(crate) struct TimerQueue {
    queue: BinaryHeap<Reverse<DueTimer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DueTimer {
    at: Instant,
    operator: u32,
    timer: u32,
    period: Duration,
}

/// Shortest period; shorter ones are stretched to it, so that a timer leaves time for others.
const PERIOD_MIN: Duration = Duration::from_micros(1);

impl TimerQueue {
    /// Timers that start now: operators, and periods in seconds by timer id.
    pub fn new(timers: Vec<(u32, Vec<f64>)>) -> TimerQueue {
        let now = Instant::now();
        let due = timers.iter().flat_map(|(operator, seconds)| {
            (0..).zip(seconds).map(move |(timer, &seconds)| {
                let period = positive_duration(seconds)
                    .unwrap_or(PERIOD_MIN)
                    .max(PERIOD_MIN);
                let (at, operator) = (now + period, *operator);
                Reverse(DueTimer {
                    at,
                    operator,
                    timer,
                    period,
                })
            })
        });
        TimerQueue {
            queue: due.collect(),
        }
    }

    /// Starts the thread. It runs until the returned signal or a failure of the PE ends it. A
    /// shutdown does not, so tuples that are still under way pass windows as before.
    pub fn start(mut self, thread: IdleThread, region: ThreadRegion) -> (StopSignal, RegionThread) {
        let stop = StopSignal::default();
        let stop_signal = stop.clone();
        region
            .wiring
            .context
            .failed
            .on_request(move || stop_signal.request());
        let until = stop.clone();
        let thread = thread.run(region, move |region| {
            while let Some(Reverse(due)) = self.queue.pop() {
                if until.sleep_until(due.at) {
                    break;
                }
                fire_timer(region, due);
                self.queue.push(Reverse(due.next(Instant::now())));
            }
            region.wiring.waits.set_ended(region.thread);
        });
        (stop, thread)
    }
}

fn fire_timer(region: &ThreadRegion, due: DueTimer) {
    let origin = region.wiring.origin_of(due.operator);
    region.order.begin_origin(origin);
    region.contain_failure(due.operator, || {
        let timer = TimerId(due.timer);
        region.with_instance(due.operator, |instance| instance.fire_timer(region, timer))
    });
    region.order.pause_origin(origin);
}

impl DueTimer {
    /// The next due time that is not over. Times that the thread was too late for are left out.
    fn next(self, now: Instant) -> DueTimer {
        let late = now.saturating_duration_since(self.at).as_nanos();
        let periods = late / self.period.as_nanos() + 1;
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        DueTimer {
            at: self.at + self.period * periods,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_keep_their_rhythm_and_missed_times_are_left_out() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let due = DueTimer {
            at: start,
            operator: 0,
            timer: 0,
            period: second,
        };
        assert_eq!(due.next(start).at, start + second);
        assert_eq!(due.next(start + second / 2).at, start + second);
        assert_eq!(due.next(start + second * 7 / 2).at, start + second * 4);
    }
}
