//! When a batch is due that is not full.
//!
//! ```text
//!   sent               settled                   time_min            time_max
//!   --+-------------------+-------------------------+-------------------+--
//!     | nobody gets more  | receivers get more      | the sending       | the pump
//!     |                   | that are idle           | thread sends all  | does
//! ```
//! A lone frame, of a thread that has sent the last batch a while ago, does not wait for word that
//! the receiver is done with that batch: word takes as long as a frame.
//!
//! Sending takes the sending thread's time, the more the more receivers there are, and each of them
//! is idle again soon if it got little. So after what went out early nobody gets more for as long
//! as that took, idle or not: half of the thread's time is left for filling the next batch. Whoever
//! commits a frame and then has nothing to do is expected to flush, as the engine's threads do
//! before they wait.

use std::time::{Duration, Instant};

use crate::Batching;

/// A frame is a lone one if nothing has gone out for so long.
const LONE_FRAME_PAUSE: Duration = Duration::from_micros(1);

/// A batch after a full one waits so long for more, even if the receiver is idle: the sending
/// thread is in a stream, and a lone frame would be in its way.
const SETTLE_AFTER_FULL: Duration = Duration::from_micros(10);

/// And at most so long after any: the thread may have been held up while it sent.
const SETTLE_MAX: Duration = Duration::from_micros(50);

/// Which batches go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlushScope {
    /// Those that have begun to go out and were held up. They go with any other.
    Blocked,
    /// Those for receivers that are idle.
    Idle,
    /// Those for receivers that have not much else to do: a lone frame.
    Lone,
    /// All.
    All,
}

/// A batch that a look leaves there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingFlush {
    /// It has waited so long,
    pub(super) waited: Duration,
    /// and nothing is to be done before it has so long.
    pub(super) until: Duration,
}

/// What a link knows of its batch.
#[derive(Debug)]
pub(super) struct FlushDeadline {
    time_min: Duration,
    time_max: Duration,
    /// When the first frame was committed that could be out and is not.
    opened_at: Option<Instant>,
    /// When something went out the last time.
    sent_at: Instant,
    /// So long nobody gets more.
    settle_time: Duration,
}

impl FlushDeadline {
    pub(super) fn new(batch: Batching, now: Instant) -> FlushDeadline {
        FlushDeadline {
            time_min: batch.time_min,
            time_max: batch.time_max,
            opened_at: None,
            sent_at: now,
            settle_time: Duration::ZERO,
        }
    }

    /// When the batch began that is not out.
    pub(super) fn opened_at(&self) -> Option<Instant> {
        self.opened_at
    }

    /// Something has gone out.
    pub(super) fn note_sent(&mut self, now: Instant) {
        self.sent_at = now;
    }

    /// Everything is out that can go.
    pub(super) fn close_batch(&mut self) {
        self.opened_at = None;
    }

    /// A full batch went out just now, or as much of it as could: the next one begins.
    pub(super) fn restart_after_full(&mut self, now: Instant) {
        self.sent_at = now;
        self.settle_time = SETTLE_AFTER_FULL;
        self.opened_at.get_or_insert(now);
    }

    /// A look of the sending thread that began then may have sent something.
    pub(super) fn settle_after(&mut self, look: Instant) {
        if self.sent_at > look {
            self.settle_time = (self.sent_at - look).min(self.time_min).min(SETTLE_MAX);
        }
    }

    /// What the sending thread is to send that comes by with a frame; an error: nothing yet.
    pub(super) fn scope_for_sender(&mut self, now: Instant) -> Result<FlushScope, PendingFlush> {
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

    /// What such a look has left there, if anything.
    pub(super) fn pending(&self, now: Instant) -> Option<PendingFlush> {
        self.opened_at.map(|_| PendingFlush {
            waited: self.time_waited(now),
            until: self.time_min,
        })
    }

    /// What the pump is to send of what is not out; `is_close`: it hears when receivers are idle.
    pub(super) fn scope_for_io_thread(&mut self, now: Instant, is_close: bool) -> FlushScope {
        let opened = *self.opened_at.get_or_insert(now);
        match () {
            () if opened + self.time_max <= now => FlushScope::All,
            () if is_close && self.settled_at() <= now => FlushScope::Idle,
            () => FlushScope::Blocked,
        }
    }

    /// From when on idle receivers get more.
    pub(super) fn settled_at(&self) -> Instant {
        self.sent_at + self.settle_time
    }

    /// How long the batch has waited: since it began, or, if that is longer, since something went
    /// out.
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

    /// Something went out just now.
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
    fn the_pump_sends_what_has_waited_longest() {
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
