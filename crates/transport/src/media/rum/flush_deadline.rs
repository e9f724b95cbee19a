//! Deadlines of a batch that is not full.
//!
//! ```text
//!   sent               settled                   time_min            time_max
//!   --+-------------------+-------------------------+-------------------+--
//!     | no receiver gets  | idle receivers          | the sending       | the IO thread
//!     | more              | get more                | thread sends all  | sends all
//! ```
//! A lone frame, of a thread that sent the last batch a while ago, does not wait for the report
//! that the receiver is done with that batch: the report takes as long as a frame.
//!
//! Sending takes the sending thread's time, the more the more receivers there are, and each of them
//! is idle again soon if it got little. So after an early batch no receiver gets more for as long
//! as sending that batch took: half of the thread's time is left for filling the next one. A thread
//! that commits a frame and then has nothing to do is expected to flush, as the engine's threads do
//! before they wait.

use std::time::{Duration, Instant};

use crate::Batching;

/// Time without a write after which a frame counts as a lone one.
const LONE_FRAME_PAUSE: Duration = Duration::from_micros(1);

/// Time that a batch after a full one waits for more, even if the receiver is idle: the sending
/// thread is in a stream, and a lone frame would delay it.
const SETTLE_AFTER_FULL: Duration = Duration::from_micros(10);

/// Most time that a batch waits after any other: the thread may have been interrupted while it
/// sent.
const SETTLE_MAX: Duration = Duration::from_micros(50);

/// Receivers whose batches go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::media) enum FlushScope {
    /// Receivers whose batches were begun and held up; they go out with any other.
    Blocked,
    /// Receivers that are idle.
    Idle,
    /// Receivers with at most the last batch to do: for a lone frame.
    Lone,
    /// All receivers of the sender.
    All,
}

/// A batch that a look has left unsent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::media) struct PendingFlush {
    /// Time that the batch has waited.
    pub(in crate::media) waited: Duration,
    /// Time that it waits before anything is to be done.
    pub(in crate::media) until: Duration,
}

/// Times of a sender's current batch.
#[derive(Debug)]
pub(in crate::media) struct FlushDeadline {
    time_min: Duration,
    time_max: Duration,
    /// Time at which the first frame was committed that could be sent and is not.
    opened_at: Option<Instant>,
    /// Time of the last write.
    sent_at: Instant,
    /// Time after the last write in which no receiver gets more.
    settle_time: Duration,
}

impl FlushDeadline {
    pub(in crate::media) fn new(batch: Batching, now: Instant) -> FlushDeadline {
        FlushDeadline {
            time_min: batch.time_min,
            time_max: batch.time_max,
            opened_at: None,
            sent_at: now,
            settle_time: Duration::ZERO,
        }
    }

    /// Time at which the unsent batch began; `None`: there is none.
    pub(in crate::media) fn opened_at(&self) -> Option<Instant> {
        self.opened_at
    }

    /// Notes the time of a write.
    pub(in crate::media) fn note_sent(&mut self, now: Instant) {
        self.sent_at = now;
    }

    /// Notes that every frame is sent that can be.
    pub(in crate::media) fn close_batch(&mut self) {
        self.opened_at = None;
    }

    /// Begins the next batch after a full one was sent, as far as it could be.
    pub(in crate::media) fn restart_after_full(&mut self, now: Instant) {
        self.sent_at = now;
        self.settle_time = SETTLE_AFTER_FULL;
        self.opened_at.get_or_insert(now);
    }

    /// Sets the pause after a look of the sending thread that began at `look` and may have sent
    /// frames.
    pub(in crate::media) fn settle_after(&mut self, look: Instant) {
        if self.sent_at > look {
            self.settle_time = (self.sent_at - look).min(self.time_min).min(SETTLE_MAX);
        }
    }

    /// Receivers to which the sending thread sends after it has committed a frame.
    ///
    /// # Errors
    /// No receiver yet: the batch waits.
    pub(in crate::media) fn scope_for_sender(
        &mut self,
        now: Instant,
    ) -> Result<FlushScope, PendingFlush> {
        let (is_first, waited) = (self.opened_at.is_none(), self.time_waited(now));
        self.opened_at.get_or_insert(now);
        let rested = now.saturating_duration_since(self.sent_at);
        match () {
            () if rested < self.settle_time => Err(PendingFlush {
                waited: rested,
                until: self.settle_time,
            }),
            () if waited >= self.time_min => Ok(FlushScope::All),
            () if is_first && waited >= LONE_FRAME_PAUSE => Ok(FlushScope::Lone),
            () => Ok(FlushScope::Idle),
        }
    }

    /// The batch that a look has left unsent, if there is one.
    pub(in crate::media) fn pending(&self, now: Instant) -> Option<PendingFlush> {
        self.opened_at.map(|_| PendingFlush {
            waited: self.time_waited(now),
            until: self.time_min,
        })
    }

    /// Receivers to which the IO thread sends. `is_close`: it watches for idle receivers.
    pub(in crate::media) fn scope_for_io_thread(
        &mut self,
        now: Instant,
        is_close: bool,
    ) -> FlushScope {
        let opened = *self.opened_at.get_or_insert(now);
        match () {
            () if opened + self.time_max <= now => FlushScope::All,
            () if is_close && self.settled_at() <= now => FlushScope::Idle,
            () => FlushScope::Blocked,
        }
    }

    /// Time from which on idle receivers get more.
    pub(in crate::media) fn settled_at(&self) -> Instant {
        self.sent_at + self.settle_time
    }

    /// Time that the batch has waited since it began or, if that is longer, since the last write.
    fn time_waited(&self, now: Instant) -> Duration {
        let since = self.opened_at.unwrap_or(now).min(self.sent_at);
        now.saturating_duration_since(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_MIN: Duration = Duration::from_micros(25);
    const TIME_MAX: Duration = Duration::from_micros(50);
    const MICRO: Duration = Duration::from_micros(1);

    /// Deadlines after a write just now.
    fn due() -> (FlushDeadline, Instant) {
        let batch = Batching {
            time_min: TIME_MIN,
            time_max: TIME_MAX,
            bytes_max: 1 << 16,
        };
        let now = Instant::now();
        (FlushDeadline::new(batch, now), now)
    }

    #[test]
    fn a_lone_frame_goes_at_once() {
        let (mut due, start) = due();
        assert_eq!(
            due.scope_for_sender(start),
            Ok(FlushScope::Idle),
            "one follows on another"
        );
        due.close_batch();
        assert_eq!(
            due.scope_for_sender(start + LONE_FRAME_PAUSE),
            Ok(FlushScope::Lone)
        );
        assert_eq!(
            due.scope_for_sender(start + LONE_FRAME_PAUSE),
            Ok(FlushScope::Idle),
            "it was not sent"
        );
        assert_eq!(due.scope_for_sender(start + TIME_MIN), Ok(FlushScope::All));
    }

    #[test]
    fn what_goes_early_leaves_as_much_time_as_it_took() {
        let (mut due, start) = due();
        let sent = start + 8 * MICRO;
        assert_eq!(due.scope_for_sender(start), Ok(FlushScope::Idle));
        due.note_sent(sent);
        due.settle_after(start);
        due.close_batch();
        let (waited, until) = (3 * MICRO, 8 * MICRO);
        assert_eq!(
            due.scope_for_sender(sent + waited),
            Err(PendingFlush { waited, until })
        );
        assert_eq!(
            due.scope_for_io_thread(sent + waited, true),
            FlushScope::Blocked
        );
        assert_eq!(due.settled_at(), sent + until);
        assert_eq!(
            due.scope_for_io_thread(sent + until, true),
            FlushScope::Idle
        );
        assert_eq!(due.scope_for_sender(sent + until), Ok(FlushScope::Idle));
    }

    #[test]
    fn a_thread_that_was_held_up_while_it_sent_makes_nobody_wait_longer_than_a_batch_does() {
        let (mut due, start) = due();
        let sent = start + Duration::from_secs(1);
        due.note_sent(sent);
        due.settle_after(start);
        assert_eq!(due.settled_at(), sent + TIME_MIN);
        due.settle_after(sent);
        assert_eq!(
            due.settled_at(),
            sent + TIME_MIN,
            "that look has sent nothing"
        );
        due.time_min = Duration::from_millis(10);
        due.settle_after(start);
        assert_eq!(due.settled_at(), sent + SETTLE_MAX);
    }

    #[test]
    fn a_receiver_that_is_busy_does_not_have_the_others_served_frame_by_frame() {
        let (mut due, start) = due();
        let (mut now, took) = (start, 4 * MICRO);
        assert_eq!(due.scope_for_sender(now), Ok(FlushScope::Idle));
        for _ in 0..3 {
            due.note_sent(now + took);
            due.settle_after(now);
            now += took;
            let left = PendingFlush {
                waited: MICRO,
                until: took,
            };
            assert_eq!(due.scope_for_sender(now + MICRO), Err(left));
            now += took;
            assert_eq!(due.scope_for_sender(now), Ok(FlushScope::Idle));
        }
    }

    #[test]
    fn after_a_full_batch_the_next_one_has_time_to_fill() {
        let (mut due, start) = due();
        due.restart_after_full(start);
        let waited = SETTLE_AFTER_FULL - MICRO;
        let left = PendingFlush {
            waited,
            until: SETTLE_AFTER_FULL,
        };
        assert_eq!(due.scope_for_sender(start + waited), Err(left));
        assert_eq!(
            due.scope_for_sender(start + SETTLE_AFTER_FULL),
            Ok(FlushScope::Idle)
        );
    }

    #[test]
    fn the_io_thread_sends_what_has_waited_longest() {
        let (mut due, start) = due();
        let first = start + TIME_MAX;
        assert_eq!(due.scope_for_io_thread(first, false), FlushScope::Blocked);
        assert_eq!(due.opened_at(), Some(first));
        assert_eq!(
            due.scope_for_io_thread(first + MICRO, true),
            FlushScope::Idle
        );
        assert_eq!(
            due.scope_for_io_thread(first + TIME_MAX, false),
            FlushScope::All
        );
        due.close_batch();
        assert_eq!((due.opened_at(), due.pending(first)), (None, None));
    }
}
