//! The stall watch of a sender: when the IO thread looks for stalled rails.
//!
//! ```text
//!   batch   look                          look                          look
//!   --+------+--+---+---+---+---+---+---+--+-------------------------------+--
//!     |calls |    batches, which call      | nothing was sent any more     | off
//!            |<------ LATE_TIME_MIN ------>|<------- LATE_TIME_MIN ------->|
//! ```
//! A lone frame is reported before the IO thread looks. If the watch ended with that look, the next
//! lone frame would call the IO thread again: a wake-up for each frame, on a core that its receiver
//! needs. So the watch lasts as long as batches are sent. What was sent since a look can be late no
//! earlier than [`LATE_TIME_MIN`] after it, when the next look comes.

use std::time::Instant;

use crate::media::rails::schedule::LATE_TIME_MIN;

/// Times at which the IO thread looks for stalled rails.
#[derive(Debug)]
pub(super) struct StallWatch {
    /// Whether the IO thread comes by itself, or by a report.
    is_on: bool,
    /// Whether something was sent since the last look.
    has_sent: bool,
    /// Time of the look that follows on the last batches.
    until: Instant,
}

impl StallWatch {
    /// A watch that is off.
    pub(super) fn new(now: Instant) -> StallWatch {
        StallWatch {
            is_on: false,
            has_sent: false,
            until: now,
        }
    }

    /// Notes that something was sent and waits on a rail. `true`: the watch was off, and the IO
    /// thread must be called.
    pub(super) fn note_sent(&mut self) -> bool {
        self.has_sent = true;
        !std::mem::replace(&mut self.is_on, true)
    }

    /// Notes a look, and returns the time of the next. `next_check` is the time at which a rail is
    /// late or stalled; `is_awaiting_report` says that a report brings the IO thread.
    pub(super) fn note_look(
        &mut self,
        next_check: Option<Instant>,
        is_awaiting_report: bool,
        now: Instant,
    ) -> Option<Instant> {
        if std::mem::take(&mut self.has_sent) {
            self.until = now + LATE_TIME_MIN;
        }
        let following = (now < self.until).then_some(self.until);
        let next = next_check.into_iter().chain(following).min();
        self.is_on = next.is_some() || is_awaiting_report;
        next
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn lone_frames_call_once() {
        let mut now = Instant::now();
        let mut watch = StallWatch::new(now);
        assert!(watch.note_sent(), "the first");
        let mut next = watch.note_look(None, false, now);
        let (mut calls, mut looks) = (0, 0);
        for _ in 0..300 {
            now += MILLI;
            if next.is_some_and(|at| at <= now) {
                looks += 1;
                next = watch.note_look(None, false, now);
            }
            calls += u32::from(watch.note_sent());
        }
        assert_eq!((calls, looks), (0, 300 / LATE_TIME_MIN.as_millis()));
    }

    #[test]
    fn it_ends_when_nothing_is_sent() {
        let now = Instant::now();
        let mut watch = StallWatch::new(now);
        watch.note_sent();
        let until = now + LATE_TIME_MIN;
        assert_eq!(watch.note_look(None, false, now), Some(until));
        assert_eq!(watch.note_look(None, false, now + MILLI), Some(until));
        assert_eq!(watch.note_look(None, false, until), None);
        assert!(watch.note_sent(), "it is off");
    }

    #[test]
    fn what_is_sent_meanwhile_is_looked_at_before_it_is_late() {
        let now = Instant::now();
        let mut watch = StallWatch::new(now);
        watch.note_sent();
        let far = Some(now + 100 * LATE_TIME_MIN);
        assert_eq!(watch.note_look(far, false, now), Some(now + LATE_TIME_MIN));
        let near = Some(now + MILLI);
        assert_eq!(watch.note_look(near, false, now), near);
        let until = now + LATE_TIME_MIN;
        assert_eq!(watch.note_look(None, true, until), None);
        assert!(!watch.note_sent(), "a report brings the IO thread");
    }
}
