//! The threads that the clock wakes: one for all timers, and one that flushes what operators hold back.
//! The second does nothing but that, so that no timer is late because a file cannot be written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use crate::TimerId;
use crate::assemble::Periods;
use crate::crossing::order;
use crate::launch::{Thread, Waiting};
use crate::region::Region;
use crate::runner;
use crate::stop::{Stop, duration};

/// When each timer fires next; the earliest first.
pub(crate) struct Timers {
    due: BinaryHeap<Reverse<Due>>,
    does: Does,
}

/// What a thread does with an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Calls its timer.
    Fire,
    /// Flushes it.
    Flush,
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

/// How soon an operator is flushed that was busy when it should have been.
const RETRY: Duration = Duration::from_millis(10);

impl Does {
    /// What the system's tools call the thread.
    pub fn name(self) -> &'static str {
        match self {
            Does::Fire => "timers",
            Does::Flush => "flush",
        }
    }
}

impl Timers {
    /// Timers that start now: operators and seconds.
    pub fn new(timers: Periods, does: Does) -> Timers {
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
        let due = due.collect();
        Timers { due, does }
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
                let is_done = match self.does {
                    Does::Fire => fire(region, due),
                    Does::Flush => flush(region, due),
                };
                let now = Instant::now();
                self.due.push(Reverse(if is_done {
                    due.next(now)
                } else {
                    due.again(now)
                }));
            }
            region.wiring.waits.ended(region.thread);
        });
        (stop, thread)
    }
}

/// Fires a timer, whoever has to be waited for.
fn fire(region: &Region, due: Due) -> bool {
    let origin = region.wiring.begun_by(due.node);
    order::begin(origin);
    runner::guard(region, due.node, || {
        let timer = TimerId(due.timer);
        let fired = region.with_node(due.node, |node| node.timer(region, timer));
        fired.unwrap_or(Ok(()))
    });
    order::pause(origin);
    true
}

/// Flushes an operator; `false`: another thread is inside.
fn flush(region: &Region, due: Due) -> bool {
    let mut is_done = true;
    runner::guard(region, due.node, || {
        is_done = region.flush_one(due.node)?;
        Ok(())
    });
    is_done
}

impl Due {
    /// Soon: it could not be done now.
    fn again(self, now: Instant) -> Due {
        Due {
            at: now + RETRY,
            ..self
        }
    }

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
