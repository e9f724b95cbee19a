//! The flush watchdog: how closely the IO thread watches frames that the sending thread has left
//! unsent.
//!
//! ```text
//!   off --a batch begins unsent--> close --the sending thread sends it itself--> far
//!    ^                               |  <------ a batch was left behind -------- |
//!    +------ nothing to watch for a while ---------------------------------------+
//! ```
//! Close, the IO thread comes when the batch is due, for all receivers or for idle ones, and
//! whenever a receiver reports something. Far, it comes less and less often and sends only batches
//! that are due, because it has found for a while that there was nothing to do: a sending thread
//! that sends batch after batch should not be disturbed. So a thread that did so and stops without
//! a flush may have its last batch sent a millisecond late.

use std::time::{Duration, Instant};

/// Longest period of looks, unless the longest batching time is longer.
const CHECK_PERIOD_MAX: Duration = Duration::from_millis(1);

/// Time with nothing to watch after which it is off.
const OFF_DELAY: Duration = Duration::from_millis(1);

/// How closely the IO thread watches one sender.
#[derive(Debug)]
pub(in crate::media) struct FlushWatchdog {
    time_max: Duration,
    period: Duration,
    is_on: bool,
    /// Time at which the batch of the last look began.
    batch_began_at: Option<Instant>,
    /// Whether a batch has begun since the last look.
    has_new_batch: bool,
    /// Time since when there is nothing to watch.
    nothing_since: Option<Instant>,
}

impl FlushWatchdog {
    /// A watchdog that is off, for batches that wait at most `time_max`.
    pub(in crate::media) fn new(time_max: Duration) -> FlushWatchdog {
        FlushWatchdog {
            time_max,
            period: time_max,
            is_on: false,
            batch_began_at: None,
            has_new_batch: false,
            nothing_since: None,
        }
    }

    /// Notes that a batch begins. `true`: the watchdog was idle, and the IO thread must be called.
    pub(in crate::media) fn note_batch(&mut self) -> bool {
        self.has_new_batch = true;
        let was_quiet = self.nothing_since.take().is_some();
        if was_quiet {
            (self.period, self.batch_began_at) = (self.time_max, None);
        }
        !std::mem::replace(&mut self.is_on, true) || was_quiet
    }

    /// Turns the watchdog off.
    pub(in crate::media) fn turn_off(&mut self) {
        *self = FlushWatchdog::new(self.time_max);
    }

    /// Whether the watchdog is on.
    pub(in crate::media) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether the IO thread must learn at once that a receiver is idle.
    pub(in crate::media) fn is_prompt(&self) -> bool {
        self.is_on && self.period == self.time_max
    }

    /// Time until the next look, for frames that came while the watchdog was to be turned off.
    pub(in crate::media) fn recheck_delay(&self) -> Duration {
        self.time_max.min(OFF_DELAY)
    }

    /// Notes that the IO thread has sent frames. `is_left_behind`: the sending thread had left
    /// them.
    pub(in crate::media) fn note_flush(&mut self, is_left_behind: bool) {
        if is_left_behind {
            self.period = self.time_max;
            self.batch_began_at = None;
        }
    }

    /// Time of the next look, for a batch that began at the given time.
    pub(in crate::media) fn next_check(
        &mut self,
        batch: Option<Instant>,
        now: Instant,
    ) -> Option<Instant> {
        let has_begun = std::mem::take(&mut self.has_new_batch);
        let Some(began) = batch else {
            return self.next_check_without_batch(has_begun, now);
        };
        self.is_on = true;
        self.nothing_since = None;
        let due = began + self.time_max;
        if self.batch_began_at.is_some_and(|before| before != began) {
            self.back_off();
        }
        self.batch_began_at = Some(began);
        match self.is_prompt() {
            true => Some(due),
            false => Some(due.max(now + self.period)),
        }
    }

    fn next_check_without_batch(&mut self, has_begun: bool, now: Instant) -> Option<Instant> {
        if !self.is_on {
            return None;
        }
        if has_begun {
            // The sending thread has itself sent every batch that began.
            self.back_off();
            return Some(now + self.period.min(CHECK_PERIOD_MAX));
        }
        let until = *self.nothing_since.get_or_insert(now) + OFF_DELAY;
        (now < until).then_some(until)
    }

    fn back_off(&mut self) {
        self.period = (self.period * 2).min(CHECK_PERIOD_MAX.max(self.time_max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_MAX: Duration = Duration::from_micros(50);

    #[test]
    fn a_batch_that_waits_is_looked_after_in_time() {
        let (mut guard, now) = (FlushWatchdog::new(TIME_MAX), Instant::now());
        assert!(guard.note_batch());
        assert!(!guard.note_batch());
        assert_eq!(guard.next_check(Some(now), now), Some(now + TIME_MAX));
        assert!(guard.is_prompt());
        guard.note_flush(true);
        assert!(guard.is_prompt());
    }

    #[test]
    fn a_busy_thread_is_disturbed_less_and_less() {
        let (mut guard, mut now) = (FlushWatchdog::new(TIME_MAX), Instant::now());
        guard.note_batch();
        let mut waits = Vec::new();
        for _ in 0..10 {
            let next = guard.next_check(Some(now), now).expect("a look");
            waits.push(next - now);
            now = next;
        }
        assert!(waits.is_sorted(), "{waits:?}");
        assert_eq!(waits.last(), Some(&CHECK_PERIOD_MAX));
        assert!(!guard.is_prompt());
        guard.note_flush(true);
        assert!(guard.is_prompt());
    }

    #[test]
    fn it_goes_off_when_there_is_nothing() {
        let (mut guard, now) = (FlushWatchdog::new(TIME_MAX), Instant::now());
        assert_eq!(guard.next_check(None, now), None);
        guard.note_batch();
        let next = guard.next_check(None, now);
        assert_eq!(next, Some(now + 2 * TIME_MAX), "something has begun");
        let until = guard.next_check(None, now).expect("another look");
        assert!(until > now && guard.is_on());
        assert!(guard.note_batch(), "the IO thread is far away");
        assert!(guard.is_prompt() && !guard.note_batch());
        assert_eq!(guard.next_check(None, until), Some(until + 2 * TIME_MAX));
        assert_eq!(guard.next_check(None, until), Some(until + OFF_DELAY));
        assert_eq!(guard.next_check(None, until + OFF_DELAY), None);
        guard.turn_off();
        assert!(!guard.is_on());
    }

    #[test]
    fn a_thread_that_sends_itself_is_not_asked_to_call() {
        let (mut guard, mut now) = (FlushWatchdog::new(TIME_MAX), Instant::now());
        assert!(guard.note_batch());
        for _ in 0..10 {
            now = guard.next_check(None, now).expect("a look");
            assert!(!guard.note_batch());
        }
        assert!(!guard.is_prompt());
        assert_eq!(
            guard.next_check(Some(now), now),
            Some(now + CHECK_PERIOD_MAX)
        );
    }
}
