//! The guard: how closely the pump looks after frames that the sending thread has left behind.
//!
//! ```text
//!   off --a batch begins that is not sent at once--> close --the sending thread sends itself--> far
//!    ^                                                 |  <------ a batch was left behind ------ |
//!    +---------- nothing to look after for a while ----+-----------------------------------------+
//! ```
//! Close, the pump comes when the batch is due, for all or for whoever is idle, and whenever a receiver
//! says something. Far, it comes less and less often, and sends only what is due, as it has found for
//! a while that there is nothing for it to do: a sending thread that sends batch after batch is not to
//! be disturbed. So a thread that has done so and stops without a flush may have its last batch sent
//! late, by a millisecond.

use std::time::{Duration, Instant};

/// Far is so far at most, or the longest batching time.
const FAR: Duration = Duration::from_millis(1);

/// So long it stays on with nothing to look after.
const QUIET: Duration = Duration::from_millis(1);

/// How closely.
#[derive(Debug)]
pub(super) struct Guard {
    time_max: Duration,
    period: Duration,
    is_on: bool,
    /// The beginning of the batch that was there the last time.
    batch: Option<Instant>,
    /// Whether a batch has begun since the pump looked.
    has_begun: bool,
    /// Since when there is nothing.
    quiet: Option<Instant>,
}

impl Guard {
    /// Off, for batches that wait so long at most.
    pub(super) fn new(time_max: Duration) -> Guard {
        Guard {
            time_max,
            period: time_max,
            is_on: false,
            batch: None,
            has_begun: false,
            quiet: None,
        }
    }

    /// A batch begins. `true`: nothing was looked after, and the pump has to be called.
    pub(super) fn begin(&mut self) -> bool {
        self.has_begun = true;
        let was_quiet = self.quiet.take().is_some();
        if was_quiet {
            (self.period, self.batch) = (self.time_max, None);
        }
        !std::mem::replace(&mut self.is_on, true) || was_quiet
    }

    /// It is off from now on.
    pub(super) fn end(&mut self) {
        *self = Guard::new(self.time_max);
    }

    /// Whether it is on.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether the pump has to hear at once when a receiver is idle.
    pub(super) fn is_close(&self) -> bool {
        self.is_on && self.period == self.time_max
    }

    /// When to come back for frames that have come while it was to be switched off.
    pub(super) fn soon(&self) -> Duration {
        self.time_max.min(QUIET)
    }

    /// The pump has sent frames: because the sending thread has not come by, or not.
    pub(super) fn sent(&mut self, is_left_behind: bool) {
        if is_left_behind {
            self.period = self.time_max;
            self.batch = None;
        }
    }

    /// When the pump has to come back, for a batch that began then.
    pub(super) fn next(&mut self, batch: Option<Instant>, now: Instant) -> Option<Instant> {
        let has_begun = std::mem::take(&mut self.has_begun);
        let Some(began) = batch else {
            return self.next_without_batch(has_begun, now);
        };
        self.is_on = true;
        self.quiet = None;
        let due = began + self.time_max;
        if self.batch.is_some_and(|before| before != began) {
            self.go_farther();
        }
        self.batch = Some(began);
        match self.is_close() {
            true => Some(due),
            false => Some(due.max(now + self.period)),
        }
    }

    fn next_without_batch(&mut self, has_begun: bool, now: Instant) -> Option<Instant> {
        if !self.is_on {
            return None;
        }
        if has_begun {
            // The sending thread has sent itself whatever has begun.
            self.go_farther();
            return Some(now + self.period.min(FAR));
        }
        let until = *self.quiet.get_or_insert(now) + QUIET;
        (now < until).then_some(until)
    }

    fn go_farther(&mut self) {
        self.period = (self.period * 2).min(FAR.max(self.time_max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_MAX: Duration = Duration::from_micros(50);

    #[test]
    fn a_batch_that_waits_is_looked_after_in_time() {
        let (mut guard, now) = (Guard::new(TIME_MAX), Instant::now());
        assert!(guard.begin());
        assert!(!guard.begin());
        assert_eq!(guard.next(Some(now), now), Some(now + TIME_MAX));
        assert!(guard.is_close());
        guard.sent(true);
        assert!(guard.is_close());
    }

    #[test]
    fn a_busy_thread_is_disturbed_less_and_less() {
        let (mut guard, mut now) = (Guard::new(TIME_MAX), Instant::now());
        guard.begin();
        let mut waits = Vec::new();
        for _ in 0..10 {
            let next = guard.next(Some(now), now).expect("a look");
            waits.push(next - now);
            now = next;
        }
        assert!(waits.is_sorted(), "{waits:?}");
        assert_eq!(waits.last(), Some(&FAR));
        assert!(!guard.is_close());
        guard.sent(true);
        assert!(guard.is_close());
    }

    #[test]
    fn it_goes_off_when_there_is_nothing() {
        let (mut guard, now) = (Guard::new(TIME_MAX), Instant::now());
        assert_eq!(guard.next(None, now), None);
        guard.begin();
        let next = guard.next(None, now);
        assert_eq!(next, Some(now + 2 * TIME_MAX), "something has begun");
        let until = guard.next(None, now).expect("another look");
        assert!(until > now && guard.is_on());
        assert!(guard.begin(), "the pump is far away");
        assert!(guard.is_close() && !guard.begin());
        assert_eq!(guard.next(None, until), Some(until + 2 * TIME_MAX));
        assert_eq!(guard.next(None, until), Some(until + QUIET));
        assert_eq!(guard.next(None, until + QUIET), None);
        guard.end();
        assert!(!guard.is_on());
    }

    #[test]
    fn a_thread_that_sends_itself_is_not_asked_to_call() {
        let (mut guard, mut now) = (Guard::new(TIME_MAX), Instant::now());
        assert!(guard.begin());
        for _ in 0..10 {
            now = guard.next(None, now).expect("a look");
            assert!(!guard.begin());
        }
        assert!(!guard.is_close());
        assert_eq!(guard.next(Some(now), now), Some(now + FAR));
    }
}
