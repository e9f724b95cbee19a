//! The thread of the timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::TimerId;
use crate::crossing::order;
use crate::launch::{Thread, Waiting};
use crate::region::Region;
use crate::runner;
use crate::stop::{Stop, duration};

/// When each timer fires next; the earliest first.
pub(crate) struct Timers {
    due: BinaryHeap<Reverse<Due>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Instant,
    node: u32,
    timer: u32,
    period: Duration,
}

/// Shorter periods are stretched to this.
const SHORTEST: Duration = Duration::from_micros(1);

impl Timers {
    /// Timers that start now: operators and seconds.
    pub fn new(timers: Vec<(u32, Vec<f64>)>) -> Timers {
        let now = Instant::now();
        let due = timers.iter().flat_map(|(node, seconds)| {
            (0..).zip(seconds).map(move |(timer, &seconds)| {
                let period = duration(seconds).unwrap_or(SHORTEST).max(SHORTEST);
                let (at, node) = (now + period, *node);
                Reverse(Due {
                    at,
                    node,
                    timer,
                    period,
                })
            })
        });
        Timers { due: due.collect() }
    }

    /// Starts the thread; it runs until the returned handle or a failure of the PE stops it. A
    /// shutdown does not: what is still on its way goes through the same windows as before.
    pub fn start(mut self, thread: Waiting, region: Region) -> (Stop, Thread) {
        let stop = Stop::default();
        let shutdown = stop.clone();
        region.wiring.house.failed.wake(move || shutdown.request());
        let until = stop.clone();
        let thread = thread.run(region, move |region| {
            while let Some(Reverse(due)) = self.due.pop() {
                if until.sleep_until(due.at) {
                    break;
                }
                fire(region, due);
                self.due.push(Reverse(due.next(Instant::now())));
            }
            region.wiring.waits.ended(region.thread);
        });
        (stop, thread)
    }
}

fn fire(region: &Region, due: Due) {
    let origin = region.wiring.begun_by(due.node);
    order::begin(origin);
    runner::guard(region, due.node, || {
        let timer = TimerId(due.timer);
        let fired = region.with_node(due.node, |node| node.timer(region, timer));
        fired.unwrap_or(Ok(()))
    });
    order::pause(origin);
}

impl Due {
    /// The next beat that is not yet over: beats that nobody had time for are left out.
    fn next(self, now: Instant) -> Due {
        let late = now.saturating_duration_since(self.at).as_nanos();
        let beats = late / self.period.as_nanos() + 1;
        let beats = u32::try_from(beats).unwrap_or(u32::MAX);
        Due {
            at: self.at + self.period * beats,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_keep_their_rhythm_and_missed_ones_are_left_out() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let due = Due {
            at: start,
            node: 0,
            timer: 0,
            period: second,
        };
        assert_eq!(due.next(start).at, start + second);
        assert_eq!(due.next(start + second / 2).at, start + second);
        assert_eq!(due.next(start + second * 7 / 2).at, start + second * 4);
    }
}
