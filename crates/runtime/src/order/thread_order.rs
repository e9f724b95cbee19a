//! The order of a thread: the position of the tuple that it processes, so that streams of one
//! origin come together in the origin's order wherever they meet, as they would fused.
//!
//! # Positions
//! A position is a list of numbers, compared from the front. A position that continues another one
//! comes after it.
//!
//! ```text
//!   origin 7 sends its 5th tuple:            7 4
//!   the 2nd consumer of it sends its 1st:    7 4 1 0
//!   and the 1st consumer of that its 3rd:    7 4 1 0 0 2
//! ```
//! So positions are in the order in which one thread would do all of it, depth first: a tuple with
//! all that follows from it, consumer by consumer, then the next tuple.
//!
//! # On the wire
//! In a stream that is ordered (`planner::PlanOrder`) each tuple is in one frame with its position
//! ([`crate::edge::frame_kind::POSITIONED_TUPLE`]). A marker, or a tuple in pieces, follows a frame
//! with its position ([`crate::edge::frame_kind::POSITION`]). A frame
//! [`crate::edge::frame_kind::PROGRESS`] says that nothing at or before a position follows. An
//! ordered merge ([`crate::crossing::ordered_merge`]) waits for that if one of its streams is
//! silent. It is sent before a thread sleeps or waits, and now and then.
//!
//! # Several origins
//! The order of two origins is free where they meet first. The merge that takes them there tells
//! with its tuples behind which positions of the other origins they stand: a frame
//! [`crate::edge::frame_kind::PRECEDENCE`] comes before such a tuple. Where these streams meet
//! again, the merge waits until no stream can bring a tuple that stands before it in the other
//! origins. So all merges agree on the order in which one thread has mixed the origins
//! (`planner::PlanOrder` makes sure that it is one).
//!
//! # Why no merge waits for ever
//! A merge waits for a stream only while another one has an item to take. A thread that could send
//! on the silent stream has more to do, or sleeps, or waits for room elsewhere; before it does, it
//! sends how far it has come. By the order of the streams (loops are in one PE) the merge learns
//! it. Progress frames that find no room are tried again: [`ThreadOrder::take_progress_pending`]. A
//! source that neither sleeps nor submits sends nothing until it does.
//!
//! # Whose order it is
//! A region ([`crate::execution::thread_region::ThreadRegion`]) owns one, as it belongs to one
//! thread from the thread's start to its end, and no running thread has two. The outlet of a call
//! hands the order of the calling region to an inserted operator
//! ([`crate::inserted::inserted_outlet::InsertedOutlet`]). The operator keeps none of it, for
//! several threads may enter it.
//!
//! * A source's region begins as the origin that the source is, and ends with it.
//! * An operator with a thread of its own has two: tuples are given to it with the order of the
//!   thread that brings them, and [`crate::Source::run`] submits in the order of its own region, as
//!   an origin. A queue is such an operator: the producer's order ends there.
//! * One region runs all timers of a PE. Each operator whose timers submit is an origin, which
//!   begins and pauses whenever a timer fires. A silent timer has no position.
//! * A shared operator is given the order of the thread that holds its lock.
//! * In a loop a tuple that comes back waits for its operator. The thread that brought it processes
//!   it at the position where the thread is then. The loop's lock keeps other threads out.
//! * An ordered merge takes over the position of each item.
//! * The thread that joins a PE closes the operators of each region with that region's order, and
//!   shared ones with an order of nobody. No sender tells its progress then: it has sent its final
//!   marker, and nothing follows that.
//! * A test harness is a region without origins: nothing has a position.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use graph::OriginId;

use super::order_position::{AFTER_ALL, KnownPositions, step_before};

/// Most submissions between two times that a thread sends how far it has come: few enough that a
/// merge waits little, and many enough that progress frames are a small part of the stream.
const SUBMISSIONS_PER_PROGRESS: u32 = 64;

/// Sleep of a thread that has progress to send for which there was no room: 1 ms.
pub(crate) const PENDING_RETRY: Duration = Duration::from_millis(1);

/// Where a thread stands in the order of what it processes, and what it has recorded of others.
/// Each call is over when it returns, so operators that call each other share it.
#[derive(Default)]
pub(crate) struct ThreadOrder {
    state: RefCell<OrderState>,
}

#[derive(Default)]
struct OrderState {
    /// Position of the tuple that is processed; empty if it has none.
    position: Vec<u64>,
    /// Submissions from that position, and how many of them have reached all their consumers.
    submissions_begun: u64,
    submissions_done: u64,
    /// By origin: number of submissions that it has begun by itself.
    origin_submissions: BTreeMap<OriginId, u64>,
    /// By origin: the thread submits nothing more at or before this position.
    progress: KnownPositions,
    /// By origin: submissions of other origins stand behind this position.
    precedence: KnownPositions,
    /// How often a precedence was raised.
    precedence_changes: u64,
    /// Progress by the tuple that was processed last, which is not in `progress` yet.
    last_position: Vec<u64>,
    /// Submissions since progress was last due.
    submissions_since_progress: u32,
    is_progress_pending: bool,
}

impl ThreadOrder {
    /// Makes room for the progress of an origin, before the thread processes its first tuple.
    pub fn expect_origin(&self, origin: u64) {
        self.state.borrow_mut().progress.entry(origin);
    }

    /// Begins submissions by the thread itself, as an origin, or as something that has no order.
    pub fn begin_origin(&self, origin: Option<OriginId>) {
        let state = &mut *self.state.borrow_mut();
        match origin {
            None => state.position.clear(),
            Some(origin) => {
                state.switch_origin(origin.into());
                state.position.push(origin.into());
                state.submissions_begun = state
                    .origin_submissions
                    .get(&origin)
                    .copied()
                    .unwrap_or_default();
                state.submissions_done = state.submissions_begun;
            }
        }
    }

    /// Ends the submissions of an origin for now; it may begin again.
    pub fn pause_origin(&self, origin: Option<OriginId>) {
        let state = &mut *self.state.borrow_mut();
        if let Some(origin) = origin {
            state
                .origin_submissions
                .insert(origin, state.submissions_begun);
            if let Some(done) = state.submissions_done.checked_sub(1) {
                state.record_progress(&[origin.into(), done, AFTER_ALL]);
            }
        }
        state.position.clear();
    }

    /// Ends the submissions of an origin for ever.
    pub fn end_origin(&self, origin: Option<OriginId>) {
        let state = &mut *self.state.borrow_mut();
        state.position.clear();
        if let Some(origin) = origin {
            state.record_progress(&[origin.into(), AFTER_ALL]);
        }
    }

    /// Begins to process a tuple at a position, for a consumer of rank `rank`.
    pub fn enter_position(&self, position: &[u64], rank: u64) {
        let state = &mut *self.state.borrow_mut();
        match position.first() {
            None => state.position.clear(),
            Some(origin) => {
                state.switch_origin(*origin);
                state.position.extend(position);
                state.position.push(rank);
            }
        }
    }

    /// Ends processing the tuple. With `for_all`, no consumer behind this one gets the tuple.
    pub fn leave_position(&self, for_all: bool) {
        let state = &mut *self.state.borrow_mut();
        if state.position.is_empty() {
            return;
        }
        if for_all {
            state.position.pop();
        }
        state.position.push(AFTER_ALL);
        std::mem::swap(&mut state.position, &mut state.last_position);
        state.position.clear();
    }

    /// Records that no tuple at or before a position comes to the thread any more.
    pub fn record_progress(&self, position: &[u64]) {
        self.state.borrow_mut().record_progress(position);
    }

    /// Records that the tuples which the thread processes from now on, of whatever origin, stand
    /// behind a position.
    pub fn record_precedence(&self, position: &[u64]) {
        self.state.borrow_mut().record_precedence(position);
    }

    /// Sets `position` to the one of `origin` behind which tuples of other origins stand. Returns
    /// whether that is beyond `sent`.
    pub fn new_precedence(&self, origin: OriginId, sent: &[u64], position: &mut Vec<u64>) -> bool {
        let state = self.state.borrow();
        position.clear();
        if state.position.first() != Some(&origin.into()) {
            position.extend(state.precedence.get(origin.into()));
        }
        position[..] > *sent
    }

    /// How often a precedence was raised, and the origin of the tuple that is processed: as long as
    /// both stay, [`ThreadOrder::new_precedence`] has nothing new.
    pub fn precedence_state(&self) -> (u64, Option<u64>) {
        let state = self.state.borrow();
        (state.precedence_changes, state.position.first().copied())
    }

    /// Sets `position` to that of the next submission; empty if it has none. With `is_again`, it is
    /// that of the submission before, for another consumer.
    pub fn next_position(&self, is_again: bool, position: &mut Vec<u64>) {
        let state = &mut *self.state.borrow_mut();
        position.clear();
        if !state.position.is_empty() {
            let number = state.number_submission(is_again);
            position.extend(&state.position);
            position.push(number);
        }
    }

    /// Notes that a submission has reached all its consumers. Returns whether progress is due.
    pub fn finish_submission(&self) -> bool {
        let state = &mut *self.state.borrow_mut();
        state.submissions_done = state.submissions_begun;
        state.submissions_since_progress += 1;
        let is_due = state.submissions_since_progress >= SUBMISSIONS_PER_PROGRESS;
        if is_due {
            state.submissions_since_progress = 0;
        }
        is_due
    }

    /// Begins to process a submission for one of its consumers, by a call. `None` if it has no
    /// position.
    pub fn enter_consumer(&self, is_again: bool, rank: u64) -> Option<SavedOrderPosition> {
        let state = &mut *self.state.borrow_mut();
        if state.position.is_empty() {
            return None;
        }
        let number = state.number_submission(is_again);
        let saved = SavedOrderPosition {
            position_len: state.position.len(),
            submissions_begun: state.submissions_begun,
            submissions_done: state.submissions_done,
        };
        state.position.extend([number, rank]);
        (state.submissions_begun, state.submissions_done) = (0, 0);
        Some(saved)
    }

    /// Ends processing the submission, and returns to the position before.
    pub fn leave_consumer(&self, saved: SavedOrderPosition) {
        let state = &mut *self.state.borrow_mut();
        state.position.truncate(saved.position_len);
        (state.submissions_begun, state.submissions_done) =
            (saved.submissions_begun, saved.submissions_done);
    }

    /// Sets `position` to how far the thread has come with the tuples of an origin. Returns whether
    /// that is beyond `sent`.
    pub fn new_progress(&self, origin: OriginId, sent: &[u64], position: &mut Vec<u64>) -> bool {
        self.state.borrow().progress_of(origin.into(), position);
        position[..] > *sent
    }

    /// Notes that a progress frame has found no room: a thread that sleeps tries again soon.
    pub fn set_progress_pending(&self) {
        self.state.borrow_mut().is_progress_pending = true;
    }

    /// Whether a progress frame has found no room since this was last asked.
    pub fn take_progress_pending(&self) -> bool {
        std::mem::take(&mut self.state.borrow_mut().is_progress_pending)
    }
}

/// Parts of the calls above.
impl OrderState {
    fn record_progress(&mut self, position: &[u64]) {
        self.progress.raise(position);
    }

    fn record_precedence(&mut self, position: &[u64]) {
        self.progress.raise(position);
        self.precedence_changes += u64::from(self.precedence.raise(position));
    }

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

    /// Sets `position` to how far the thread has come with the tuples of an origin.
    fn progress_of(&self, origin: u64, position: &mut Vec<u64>) {
        position.clear();
        if self.position.first() == Some(&origin) {
            position.extend(&self.position);
            position.push(self.submissions_done);
            step_before(position);
        }
        let known = self.progress.get(origin);
        let last = match self.last_position.first() {
            Some(last) if *last == origin => &self.last_position[..],
            _ => &[],
        };
        let known = known.max(last);
        if *known > position[..] {
            position.clear();
            position.extend(known);
        }
    }

    /// Begins a submission and returns its number; with `is_again`, returns the number of the
    /// submission before, for another consumer.
    fn number_submission(&mut self, is_again: bool) -> u64 {
        self.submissions_begun += u64::from(!is_again);
        self.submissions_done = self.submissions_begun.saturating_sub(1);
        self.submissions_done
    }
}

/// The position that a thread returns to after [`ThreadOrder::enter_consumer`].
pub(crate) struct SavedOrderPosition {
    /// Number of numbers of the position.
    position_len: usize,
    submissions_begun: u64,
    submissions_done: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(order: &ThreadOrder, is_again: bool) -> Vec<u64> {
        let mut at = Vec::new();
        order.next_position(is_again, &mut at);
        at
    }

    fn news_of(order: &ThreadOrder, origin: u32, sent: &[u64]) -> Vec<u64> {
        let mut at = Vec::new();
        match order.new_progress(OriginId(origin), sent, &mut at) {
            true => at,
            false => Vec::new(),
        }
    }

    fn behind_of(order: &ThreadOrder, origin: u32, sent: &[u64]) -> Option<Vec<u64>> {
        let mut at = Vec::new();
        order
            .new_precedence(OriginId(origin), sent, &mut at)
            .then_some(at)
    }

    #[test]
    fn an_origin_counts_on_where_it_paused() {
        let order = ThreadOrder::default();
        order.begin_origin(Some(OriginId(7)));
        assert_eq!(next(&order, false), [7, 0]);
        order.finish_submission();
        order.pause_origin(Some(OriginId(7)));
        order.begin_origin(Some(OriginId(8)));
        assert_eq!(next(&order, false), [8, 0]);
        order.pause_origin(Some(OriginId(8)));
        order.begin_origin(Some(OriginId(7)));
        assert_eq!(next(&order, false), [7, 1]);
        assert_eq!(next(&order, true), [7, 1]);
        assert_eq!(news_of(&order, 7, &[]), [7, 0, AFTER_ALL]);
        order.finish_submission();
        assert_eq!(news_of(&order, 7, &[7, 0, AFTER_ALL]), [7, 1, AFTER_ALL]);
        order.end_origin(Some(OriginId(7)));
        assert_eq!(news_of(&order, 7, &[]), [7, AFTER_ALL]);
    }

    #[test]
    fn what_is_brought_about_stands_behind_what_brought_it_and_before_the_next() {
        let order = ThreadOrder::default();
        order.enter_position(&[7, 4], 1);
        let first = next(&order, false);
        assert_eq!(first, [7, 4, 1, 0]);
        // Tuples before it in its origin are over.
        assert_eq!(news_of(&order, 7, &[]), [7, 4, 0, AFTER_ALL]);
        order.finish_submission();
        let second = next(&order, false);
        assert!(first < second && second < vec![7, 4, 2] && second < vec![7, 5]);
        order.finish_submission();
        order.leave_position(false);
        let over = news_of(&order, 7, &[]);
        assert!(second < over && over < vec![7, 4, 2]);
        order.record_progress(&[7, 4, AFTER_ALL]);
        assert_eq!(news_of(&order, 7, &over), [7, 4, AFTER_ALL]);
        assert_eq!(news_of(&order, 7, &[7, 4, AFTER_ALL]), [0_u64; 0]);
        order.enter_position(&[9, 0], 0);
        order.leave_position(true);
        order.enter_position(&[7, 5], 1);
        order.leave_position(true);
        assert_eq!(
            (news_of(&order, 7, &[]), news_of(&order, 9, &[])),
            (vec![7, 5, AFTER_ALL], vec![9, 0, AFTER_ALL])
        );
    }

    #[test]
    fn what_is_taken_stands_behind_what_was_taken_of_other_origins() {
        let order = ThreadOrder::default();
        order.enter_position(&[7, 4], 1);
        assert_eq!(behind_of(&order, 7, &[]), None);
        order.leave_position(true);
        // Progress is no precedence.
        order.record_progress(&[7, 9, AFTER_ALL]);
        order.enter_position(&[8, 0], 1);
        assert_eq!(behind_of(&order, 7, &[]), Some(vec![7, 4, AFTER_ALL]));
        assert_eq!(behind_of(&order, 7, &[7, 4, AFTER_ALL]), None);
        assert_eq!(news_of(&order, 7, &[7, 4, AFTER_ALL]), [7, 9, AFTER_ALL]);
        order.leave_position(true);
        order.record_precedence(&[9, 2, AFTER_ALL]);
        order.enter_position(&[7, 5], 1);
        assert_eq!(behind_of(&order, 7, &[]), None);
        assert_eq!(behind_of(&order, 8, &[]), Some(vec![8, 0, AFTER_ALL]));
        assert_eq!(behind_of(&order, 9, &[]), Some(vec![9, 2, AFTER_ALL]));
    }

    #[test]
    fn a_consumer_stands_between_senders_of_the_same_submission() {
        let order = ThreadOrder::default();
        order.enter_position(&[7, 4], 0);
        let before = next(&order, false);
        let saved = order.enter_consumer(true, 2);
        let inside = next(&order, false);
        assert_eq!(inside, [7, 4, 0, 0, 2, 0]);
        order.leave_consumer(saved.unwrap());
        assert_eq!(next(&order, true), before);
        order.finish_submission();
        let behind = next(&order, false);
        assert!(before < inside && inside < [before.clone(), vec![3]].concat() && inside < behind);
    }

    #[test]
    fn what_is_before_a_position_is_over_when_it_is_processed() {
        let order = ThreadOrder::default();
        for (position, over) in [
            (&[7, 4, 2][..], &[7, 4, 1, AFTER_ALL][..]),
            (&[7, 4, 0, 0], &[7, 3, AFTER_ALL]),
            (&[7, 0, 0], &[]),
            (&[7], &[]),
        ] {
            let mut found = position.to_vec();
            step_before(&mut found);
            assert_eq!(found, over);
            assert!(found[..] < *position);
        }
        let other = order.enter_consumer(false, 0);
        assert!(other.is_none());
        order.enter_position(&[7, 4], 1);
        let saved = order.enter_consumer(false, 0);
        // Also inside of a consumer.
        assert_eq!(news_of(&order, 7, &[]), [7, 4, 0, AFTER_ALL]);
        order.leave_consumer(saved.unwrap());
    }

    #[test]
    fn what_has_no_position_gives_none() {
        let order = ThreadOrder::default();
        order.enter_position(&[], 3);
        assert_eq!(next(&order, false), [0_u64; 0]);
        order.finish_submission();
        order.leave_position(true);
        assert_eq!(news_of(&order, 0, &[]), [0_u64; 0]);
    }
}
