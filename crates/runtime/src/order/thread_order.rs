//! The order of a thread: the position of the tuple that it processes, so that streams of one
//! origin come together in the origin's order wherever they meet, as they would fused.
//!
//! # Positions
//! A position is a list of numbers, compared from the front. A position that continues another one
//! comes after it.
//!
//! ```text
//!   origin 7 sends its 4th tuple:            7 4
//!   the 2nd consumer of it sends its 1st:    7 4 1 0
//!   and the 1st consumer of that its 3rd:    7 4 1 0 0 2
//! ```
//! So positions are in the order in which one thread would do all of it, depth first: a tuple with
//! all that follows from it, consumer by consumer, then the next tuple.
//!
//! # On the wire
//! In a stream that is ordered ([`graph::PlanOrder`]) each tuple is in one frame with its position
//! ([`crate::edge::frame_kind::POSITIONED_TUPLE`]). A marker, or a tuple in pieces, follows a frame
//! with its position ([`crate::edge::frame_kind::POSITION`]). A frame
//! [`crate::edge::frame_kind::PROGRESS`] says that nothing at or before a position follows. An
//! ordered merge ([`super::ordered_merge`]) waits for that if one of its streams is silent. It is
//! sent before a thread sleeps or waits, and now and then.
//!
//! # Several origins
//! The order of two origins is free where they meet first. The merge that takes them there tells
//! with its tuples behind which positions of the other origins they stand: a frame
//! [`crate::edge::frame_kind::PRECEDENCE`] comes before such a tuple. Where these streams meet
//! again, the merge waits until no stream can bring a tuple that stands before it in the other
//! origins. So all merges agree on the order in which one thread has mixed the origins
//! ([`graph::PlanOrder`] makes sure that it is one).
//!
//! # Why no merge waits for ever
//! A merge waits for a stream only while another one has an item to take. A thread that could send
//! on the silent stream has more to do, or sleeps, or waits for room elsewhere; before it does, it
//! sends how far it has come. By the order of the streams (loops are in one PE) the merge learns
//! it. Progress frames that find no room are tried again: [`take_progress_pending`]. A source that
//! neither sleeps nor submits sends nothing until it does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use graph::OriginId;

/// Last number of a position that stands behind all positions which begin with the same numbers.
const AFTER_ALL: u64 = u64::MAX;

/// Most submissions between two times that a thread sends how far it has come: few enough that a
/// merge waits little, and many enough that progress frames are a small part of the stream.
const SUBMISSIONS_PER_PROGRESS: u32 = 64;

/// Sleep of a thread that has progress to send for which there was no room: 1 ms.
pub(crate) const PENDING_RETRY: Duration = Duration::from_millis(1);

thread_local! {
    static THREAD_ORDER: RefCell<ThreadOrderState> = const { RefCell::new(ThreadOrderState::EMPTY) };
}

/// The order of the calling thread.
struct ThreadOrderState {
    /// Position of the tuple that is processed; empty if it has none.
    position: Vec<u64>,
    /// Submissions from that position, and how many of them have reached all their consumers.
    submissions_begun: u64,
    submissions_done: u64,
    /// By origin: number of submissions that it has begun by itself.
    origin_submissions: BTreeMap<OriginId, u64>,
    /// By origin: the thread submits nothing more at or before this position.
    progress: BTreeMap<u64, Vec<u64>>,
    /// By origin: submissions of other origins stand behind this position.
    precedence: BTreeMap<u64, Vec<u64>>,
    /// Progress by the tuple that was processed last, which is not in `progress` yet.
    last_position: Vec<u64>,
    /// Submissions since progress was last due.
    submissions_since_progress: u32,
    is_progress_pending: bool,
}

impl ThreadOrderState {
    const EMPTY: ThreadOrderState = ThreadOrderState {
        position: Vec::new(),
        submissions_begun: 0,
        submissions_done: 0,
        origin_submissions: BTreeMap::new(),
        progress: BTreeMap::new(),
        precedence: BTreeMap::new(),
        last_position: Vec::new(),
        submissions_since_progress: 0,
        is_progress_pending: false,
    };

    fn switch_origin(&mut self, origin: u64) {
        if self
            .last_position
            .first()
            .is_some_and(|last| *last != origin)
        {
            let mut last = std::mem::take(&mut self.last_position);
            self.record_precedence(&last);
            last.clear();
            self.last_position = last;
        }
        self.position.clear();
        (self.submissions_begun, self.submissions_done) = (0, 0);
    }

    fn record_progress(&mut self, place: &[u64]) {
        raise_known_position(&mut self.progress, place);
    }

    fn record_precedence(&mut self, place: &[u64]) {
        raise_known_position(&mut self.progress, place);
        raise_known_position(&mut self.precedence, place);
    }

    /// Sets `position` to how far the thread has come with the tuples of an origin.
    fn progress_of(&self, origin: u64, place: &mut Vec<u64>) {
        place.clear();
        if self.position.first() == Some(&origin) {
            place.extend(&self.position);
            place.push(self.submissions_done);
            step_before(place);
        }
        let known = self.progress.get(&origin).map_or(&[][..], Vec::as_slice);
        let last = match self.last_position.first() {
            Some(last) if *last == origin => &self.last_position[..],
            _ => &[],
        };
        let known = known.max(last);
        if *known > place[..] {
            place.clear();
            place.extend(known);
        }
    }

    /// The number of the next submission.
    fn number_submission(&mut self, is_again: bool) -> u64 {
        self.submissions_begun += u64::from(!is_again);
        self.submissions_done = self.submissions_begun.saturating_sub(1);
        self.submissions_done
    }
}

/// An empty position with room for 8 numbers; most have fewer.
pub(crate) fn new_position() -> Vec<u64> {
    Vec::with_capacity(8)
}

/// Makes room for the progress of an origin, before the thread processes its first tuple.
pub(crate) fn expect_origin(origin: u64) {
    with_thread_order(|standing| {
        standing.progress.entry(origin).or_insert_with(new_position);
    });
}

/// Begins submissions by the thread itself, as an origin, or as something that has no order.
pub(crate) fn begin_origin(origin: Option<OriginId>) {
    with_thread_order(|standing| match origin {
        None => standing.position.clear(),
        Some(origin) => {
            standing.switch_origin(origin.into());
            standing.position.push(origin.into());
            standing.submissions_begun = standing
                .origin_submissions
                .get(&origin)
                .copied()
                .unwrap_or_default();
            standing.submissions_done = standing.submissions_begun;
        }
    });
}

/// Ends the submissions of an origin for now; it may begin again.
pub(crate) fn pause_origin(origin: Option<OriginId>) {
    with_thread_order(|standing| {
        if let Some(origin) = origin {
            standing
                .origin_submissions
                .insert(origin, standing.submissions_begun);
            if let Some(done) = standing.submissions_done.checked_sub(1) {
                standing.record_progress(&[origin.into(), done, AFTER_ALL]);
            }
        }
        standing.position.clear();
    });
}

/// Ends the submissions of an origin for ever.
pub(crate) fn end_origin(origin: Option<OriginId>) {
    with_thread_order(|standing| {
        standing.position.clear();
        if let Some(origin) = origin {
            standing.record_progress(&[origin.into(), AFTER_ALL]);
        }
    });
}

/// Begins to process a tuple at a position, for a consumer of rank `rank`.
pub(crate) fn enter_position(place: &[u64], rank: u64) {
    with_thread_order(|standing| match place.first() {
        None => standing.position.clear(),
        Some(origin) => {
            standing.switch_origin(*origin);
            standing.position.extend(place);
            standing.position.push(rank);
        }
    });
}

/// Ends processing the tuple. With `for_all`, no consumer behind this one gets the tuple.
pub(crate) fn leave_position(for_all: bool) {
    with_thread_order(|standing| {
        if standing.position.is_empty() {
            return;
        }
        if for_all {
            standing.position.pop();
        }
        standing.position.push(AFTER_ALL);
        std::mem::swap(&mut standing.position, &mut standing.last_position);
        standing.position.clear();
    });
}

/// Records that no tuple at or before a position comes to the thread any more.
pub(crate) fn record_progress(place: &[u64]) {
    with_thread_order(|standing| standing.record_progress(place));
}

/// Records that the tuples which the thread processes from now on, of whatever origin, stand behind
/// a position.
pub(crate) fn record_precedence(place: &[u64]) {
    with_thread_order(|standing| standing.record_precedence(place));
}

/// Sets `position` to the one of `origin` behind which tuples of other origins stand. Returns
/// whether that is beyond `said`.
pub(crate) fn new_precedence(origin: OriginId, said: &[u64], place: &mut Vec<u64>) -> bool {
    place.clear();
    with_thread_order(|standing| {
        let passed = standing.precedence.get(&origin.into());
        let is_other = standing.position.first() != Some(&origin.into());
        place.extend(passed.filter(|_| is_other).into_iter().flatten());
    });
    place[..] > *said
}

/// Sets `position` to that of the next submission; empty if it has none. With `is_again`, it is
/// that of the submission before, for another consumer.
pub(crate) fn next_position(is_again: bool, place: &mut Vec<u64>) {
    place.clear();
    with_thread_order(|standing| {
        if !standing.position.is_empty() {
            let number = standing.number_submission(is_again);
            place.extend(&standing.position);
            place.push(number);
        }
    });
}

/// Notes that a submission has reached all its consumers. Returns whether progress is due.
pub(crate) fn finish_submission() -> bool {
    with_thread_order(|standing| {
        standing.submissions_done = standing.submissions_begun;
        standing.submissions_since_progress += 1;
        let is_due = standing.submissions_since_progress >= SUBMISSIONS_PER_PROGRESS;
        if is_due {
            standing.submissions_since_progress = 0;
        }
        is_due
    })
}

/// The position that a thread returns to after [`enter_consumer`]: see [`crate::crossing`], Turn.
pub(crate) struct SavedOrderPosition {
    /// Number of numbers of the position.
    position_len: usize,
    submissions_begun: u64,
    submissions_done: u64,
}

/// Begins to process a submission for one of its consumers, by a call. `None` if it has no
/// position.
pub(crate) fn enter_consumer(is_again: bool, rank: u64) -> Option<SavedOrderPosition> {
    with_thread_order(|standing| {
        if standing.position.is_empty() {
            return None;
        }
        let number = standing.number_submission(is_again);
        let turn = SavedOrderPosition {
            position_len: standing.position.len(),
            submissions_begun: standing.submissions_begun,
            submissions_done: standing.submissions_done,
        };
        standing.position.extend([number, rank]);
        (standing.submissions_begun, standing.submissions_done) = (0, 0);
        Some(turn)
    })
}

/// Ends processing the submission, and returns to the position before.
pub(crate) fn leave_consumer(turn: Option<SavedOrderPosition>) {
    let Some(turn) = turn else { return };
    with_thread_order(|standing| {
        standing.position.truncate(turn.position_len);
        (standing.submissions_begun, standing.submissions_done) =
            (turn.submissions_begun, turn.submissions_done);
    });
}

/// Sets `position` to how far the thread has come with the tuples of an origin. Returns whether
/// that is beyond `said`.
pub(crate) fn new_progress(origin: OriginId, said: &[u64], place: &mut Vec<u64>) -> bool {
    with_thread_order(|standing| standing.progress_of(origin.into(), place));
    place[..] > *said
}

/// Notes that a progress frame has found no room: a thread that sleeps tries again soon.
pub(crate) fn set_progress_pending() {
    with_thread_order(|standing| standing.is_progress_pending = true);
}

/// Whether a progress frame has found no room since this was last asked.
pub(crate) fn take_progress_pending() -> bool {
    with_thread_order(|standing| std::mem::take(&mut standing.is_progress_pending))
}

/// Steps a position back to the last one before it: all that comes before the position is over.
pub(crate) fn step_before(place: &mut Vec<u64>) {
    while place.len() > 1 && place.last() == Some(&0) {
        place.pop();
    }
    match &mut place[..] {
        [_, .., last] => {
            *last -= 1;
            place.push(AFTER_ALL);
        }
        _ => place.clear(),
    }
}

/// Raises the known position of an origin to `position`, if that is later.
fn raise_known_position(known: &mut BTreeMap<u64, Vec<u64>>, place: &[u64]) {
    let Some(origin) = place.first() else {
        return;
    };
    let known = known.entry(*origin).or_default();
    if known[..] < *place {
        known.clear();
        known.extend(place);
    }
}

fn with_thread_order<T>(act: impl FnOnce(&mut ThreadOrderState) -> T) -> T {
    THREAD_ORDER.with_borrow_mut(act)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(is_again: bool) -> Vec<u64> {
        let mut at = Vec::new();
        next_position(is_again, &mut at);
        at
    }

    fn news_of(origin: OriginId, said: &[u64]) -> Vec<u64> {
        let mut at = Vec::new();
        match new_progress(origin, said, &mut at) {
            true => at,
            false => Vec::new(),
        }
    }

    #[test]
    fn an_origin_counts_on_where_it_paused() {
        begin_origin(Some(7));
        assert_eq!(next(false), [7, 0]);
        finish_submission();
        pause_origin(Some(7));
        begin_origin(Some(8));
        assert_eq!(next(false), [8, 0]);
        pause_origin(Some(8));
        begin_origin(Some(7));
        assert_eq!(next(false), [7, 1]);
        assert_eq!(next(true), [7, 1]);
        assert_eq!(news_of(7, &[]), [7, 0, AFTER_ALL]);
        finish_submission();
        assert_eq!(news_of(7, &[7, 0, AFTER_ALL]), [7, 1, AFTER_ALL]);
        end_origin(Some(7));
        assert_eq!(news_of(7, &[]), [7, AFTER_ALL]);
    }

    #[test]
    fn what_is_brought_about_stands_behind_what_brought_it_and_before_the_next() {
        enter_position(&[7, 4], 1);
        let first = next(false);
        assert_eq!(first, [7, 4, 1, 0]);
        // Tuples before it in its origin are over.
        assert_eq!(news_of(7, &[]), [7, 4, 0, AFTER_ALL]);
        finish_submission();
        let second = next(false);
        assert!(first < second && second < vec![7, 4, 2] && second < vec![7, 5]);
        finish_submission();
        leave_position(false);
        let over = news_of(7, &[]);
        assert!(second < over && over < vec![7, 4, 2]);
        record_progress(&[7, 4, AFTER_ALL]);
        assert_eq!(news_of(7, &over), [7, 4, AFTER_ALL]);
        assert_eq!(news_of(7, &[7, 4, AFTER_ALL]), [0_u64; 0]);
        enter_position(&[9, 0], 0);
        leave_position(true);
        enter_position(&[7, 5], 1);
        leave_position(true);
        assert_eq!(
            (news_of(7, &[]), news_of(9, &[])),
            (vec![7, 5, AFTER_ALL], vec![9, 0, AFTER_ALL])
        );
    }

    #[test]
    fn what_is_taken_stands_behind_what_was_taken_of_other_origins() {
        let behind_of = |origin: OriginId, said: &[u64]| {
            let mut at = Vec::new();
            new_precedence(origin, said, &mut at).then_some(at)
        };
        enter_position(&[7, 4], 1);
        assert_eq!(behind_of(7, &[]), None);
        leave_position(true);
        // Progress is no precedence.
        record_progress(&[7, 9, AFTER_ALL]);
        enter_position(&[8, 0], 1);
        assert_eq!(behind_of(7, &[]), Some(vec![7, 4, AFTER_ALL]));
        assert_eq!(behind_of(7, &[7, 4, AFTER_ALL]), None);
        assert_eq!(news_of(7, &[7, 4, AFTER_ALL]), [7, 9, AFTER_ALL]);
        leave_position(true);
        record_precedence(&[9, 2, AFTER_ALL]);
        enter_position(&[7, 5], 1);
        assert_eq!(behind_of(7, &[]), None);
        assert_eq!(behind_of(8, &[]), Some(vec![8, 0, AFTER_ALL]));
        assert_eq!(behind_of(9, &[]), Some(vec![9, 2, AFTER_ALL]));
    }

    #[test]
    fn a_turn_stands_between_senders_of_the_same_submission() {
        enter_position(&[7, 4], 0);
        let before = next(false);
        let turned_to = enter_consumer(true, 2);
        let inside = next(false);
        assert_eq!(inside, [7, 4, 0, 0, 2, 0]);
        leave_consumer(turned_to);
        assert_eq!(next(true), before);
        finish_submission();
        let behind = next(false);
        assert!(before < inside && inside < [before.clone(), vec![3]].concat() && inside < behind);
    }

    #[test]
    fn what_is_before_a_place_is_over_when_it_is_processed() {
        for (place, over) in [
            (&[7, 4, 2][..], &[7, 4, 1, AFTER_ALL][..]),
            (&[7, 4, 0, 0], &[7, 3, AFTER_ALL]),
            (&[7, 0, 0], &[]),
            (&[7], &[]),
        ] {
            let mut found = place.to_vec();
            step_before(&mut found);
            assert_eq!(found, over);
            assert!(found[..] < *place);
        }
        let other = enter_consumer(false, 0);
        assert!(other.is_none());
        enter_position(&[7, 4], 1);
        let turned_to = enter_consumer(false, 0);
        // Also inside of a turn.
        assert_eq!(news_of(7, &[]), [7, 4, 0, AFTER_ALL]);
        leave_consumer(turned_to);
    }

    #[test]
    fn what_has_no_place_gives_none() {
        enter_position(&[], 3);
        assert_eq!(next(false), [0_u64; 0]);
        finish_submission();
        leave_position(true);
        assert_eq!(news_of(0, &[]), [0_u64; 0]);
    }
}
