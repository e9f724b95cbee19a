//! The guard: how closely the pump looks after frames that the sending thread has left behind.
//!
//! ```text
//!   off --a batch begins that is not sent at once--> close --the sending thread sends itself--> far
//!    ^                                                 |  <------ a batch was left behind ------ |
//!    +---------- nothing to look after for a while ----+-----------------------------------------+
//! ```
//! Close, the pump comes when the batch is due, for all or for whoever is idle, and whenever a
//! receiver says something. Far, it comes less and less often, and sends only what is due, as it
//! has found for a while that there is nothing for it to do: a sending thread that sends batch
//! after batch is not to be disturbed. So a thread that has done so and stops without a flush may
//! have its last batch sent late, by a millisecond.

use std::time::{Duration, Instant};

/// Far is so far at most, or the longest batching time.
const CHECK_PERIOD_MAX: Duration = Duration::from_millis(1);

/// So long it stays on with nothing to look after.
const OFF_DELAY: Duration = Duration::from_millis(1);

/// How closely.
#[derive(Debug)]
pub(super) struct FlushWatchdog {
    time_max: Duration,
    period: Duration,
    is_on: bool,
    /// The beginning of the batch that was there the last time.
    batch_began_at: Option<Instant>,
    /// Whether a batch has begun since the pump looked.
    has_new_batch: bool,
    /// Since when there is nothing.
    nothing_since: Option<Instant>,
}

impl FlushWatchdog {
    /// Off, for batches that wait so long at most.
    pub(super) fn new(time_max: Duration) -> FlushWatchdog {
        FlushWatchdog {
            time_max,
            period: time_max,
            is_on: false,
            batch_began_at: None,
            has_new_batch: false,
            nothing_since: None,
        }
    }

    /// A batch begins. `true`: nothing was looked after, and the pump has to be called.
    pub(super) fn note_batch(&mut self) -> bool {
        self.has_new_batch = true;
        let was_quiet = self.nothing_since.take().is_some();
        if was_quiet {
            (self.period, self.batch_began_at) = (self.time_max, None);
        }
        !std::mem::replace(&mut self.is_on, true) || was_quiet
    }

    /// It is off from now on.
    pub(super) fn turn_off(&mut self) {
        *self = FlushWatchdog::new(self.time_max);
    }

    /// Whether it is on.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether the pump has to hear at once when a receiver is idle.
    pub(super) fn is_prompt(&self) -> bool {
        self.is_on && self.period == self.time_max
    }

    /// When to come back for frames that have come while it was to be switched off.
    pub(super) fn recheck_delay(&self) -> Duration {
        self.time_max.min(OFF_DELAY)
    }

    /// The pump has sent frames: because the sending thread has not come by, or not.
    pub(super) fn note_flush(&mut self, is_left_behind: bool) {
        if is_left_behind {
            self.period = self.time_max;
            self.batch_began_at = None;
        }
    }

    /// When the pump has to come back, for a batch that began then.
    pub(super) fn next_check(&mut self, batch: Option<Instant>, now: Instant) -> Option<Instant> {
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
            // The sending thread has sent itself whatever has begun.
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
        assert!(guard.note_batch(), "the pump is far away");
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
