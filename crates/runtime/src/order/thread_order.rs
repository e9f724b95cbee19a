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
//! ordered merge ([`super::ordered_merge`]) waits for that if one of its streams is silent. It is
//! sent before a thread sleeps or waits, and now and then.
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

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use graph::OriginId;

use super::order_position::{AFTER_ALL, new_position, raise_known_position, step_before};

/// Most submissions between two times that a thread sends how far it has come: few enough that a
/// merge waits little, and many enough that progress frames are a small part of the stream.
const SUBMISSIONS_PER_PROGRESS: u32 = 64;

/// Sleep of a thread that has progress to send for which there was no room: 1 ms.
pub(crate) const PENDING_RETRY: Duration = Duration::from_millis(1);

thread_local! {
    /// The order of the calling thread. Inserted operators get no more of their thread than the
    /// outlet, which authors of operators see too; so the order does not come with the call.
    static THREAD_ORDER: RefCell<ThreadOrder> = const { RefCell::new(ThreadOrder::EMPTY) };
}

/// Where a thread stands in the order of what it processes, and what it has recorded of others.
pub(crate) struct ThreadOrder {
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

impl ThreadOrder {
    const EMPTY: ThreadOrder = ThreadOrder {
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

    /// Makes room for the progress of an origin, before the thread processes its first tuple.
    pub fn expect_origin(&mut self, origin: u64) {
        self.progress.entry(origin).or_insert_with(new_position);
    }

    /// Begins submissions by the thread itself, as an origin, or as something that has no order.
    pub fn begin_origin(&mut self, origin: Option<OriginId>) {
        match origin {
            None => self.position.clear(),
            Some(origin) => {
                self.switch_origin(origin.into());
                self.position.push(origin.into());
                self.submissions_begun = self
                    .origin_submissions
                    .get(&origin)
                    .copied()
                    .unwrap_or_default();
                self.submissions_done = self.submissions_begun;
            }
        }
    }

    /// Ends the submissions of an origin for now; it may begin again.
    pub fn pause_origin(&mut self, origin: Option<OriginId>) {
        if let Some(origin) = origin {
            self.origin_submissions
                .insert(origin, self.submissions_begun);
            if let Some(done) = self.submissions_done.checked_sub(1) {
                self.record_progress(&[origin.into(), done, AFTER_ALL]);
            }
        }
        self.position.clear();
    }

    /// Ends the submissions of an origin for ever.
    pub fn end_origin(&mut self, origin: Option<OriginId>) {
        self.position.clear();
        if let Some(origin) = origin {
            self.record_progress(&[origin.into(), AFTER_ALL]);
        }
    }

    /// Begins to process a tuple at a position, for a consumer of rank `rank`.
    pub fn enter_position(&mut self, position: &[u64], rank: u64) {
        match position.first() {
            None => self.position.clear(),
            Some(origin) => {
                self.switch_origin(*origin);
                self.position.extend(position);
                self.position.push(rank);
            }
        }
    }

    /// Ends processing the tuple. With `for_all`, no consumer behind this one gets the tuple.
    pub fn leave_position(&mut self, for_all: bool) {
        if self.position.is_empty() {
            return;
        }
        if for_all {
            self.position.pop();
        }
        self.position.push(AFTER_ALL);
        std::mem::swap(&mut self.position, &mut self.last_position);
        self.position.clear();
    }

    /// Records that no tuple at or before a position comes to the thread any more.
    pub fn record_progress(&mut self, position: &[u64]) {
        raise_known_position(&mut self.progress, position);
    }

    /// Records that the tuples which the thread processes from now on, of whatever origin, stand
    /// behind a position.
    pub fn record_precedence(&mut self, position: &[u64]) {
        raise_known_position(&mut self.progress, position);
        raise_known_position(&mut self.precedence, position);
    }

    /// Sets `position` to the one of `origin` behind which tuples of other origins stand. Returns
    /// whether that is beyond `sent`.
    pub fn new_precedence(&self, origin: OriginId, sent: &[u64], position: &mut Vec<u64>) -> bool {
        position.clear();
        let passed = self.precedence.get(&origin.into());
        let is_other = self.position.first() != Some(&origin.into());
        position.extend(passed.filter(|_| is_other).into_iter().flatten());

        position[..] > *sent
    }

    /// Sets `position` to that of the next submission; empty if it has none. With `is_again`, it is
    /// that of the submission before, for another consumer.
    pub fn next_position(&mut self, is_again: bool, position: &mut Vec<u64>) {
        position.clear();
        if !self.position.is_empty() {
            let number = self.number_submission(is_again);
            position.extend(&self.position);
            position.push(number);
        }
    }

    /// Notes that a submission has reached all its consumers. Returns whether progress is due.
    pub fn finish_submission(&mut self) -> bool {
        self.submissions_done = self.submissions_begun;
        self.submissions_since_progress += 1;
        let is_due = self.submissions_since_progress >= SUBMISSIONS_PER_PROGRESS;
        if is_due {
            self.submissions_since_progress = 0;
        }
        is_due
    }

    /// Begins to process a submission for one of its consumers, by a call. `None` if it has no
    /// position.
    pub fn enter_consumer(&mut self, is_again: bool, rank: u64) -> Option<SavedOrderPosition> {
        if self.position.is_empty() {
            return None;
        }
        let number = self.number_submission(is_again);
        let saved = SavedOrderPosition {
            position_len: self.position.len(),
            submissions_begun: self.submissions_begun,
            submissions_done: self.submissions_done,
        };
        self.position.extend([number, rank]);
        (self.submissions_begun, self.submissions_done) = (0, 0);
        Some(saved)
    }

    /// Ends processing the submission, and returns to the position before.
    pub fn leave_consumer(&mut self, saved: SavedOrderPosition) {
        self.position.truncate(saved.position_len);
        (self.submissions_begun, self.submissions_done) =
            (saved.submissions_begun, saved.submissions_done);
    }

    /// Sets `position` to how far the thread has come with the tuples of an origin. Returns whether
    /// that is beyond `sent`.
    pub fn new_progress(&self, origin: OriginId, sent: &[u64], position: &mut Vec<u64>) -> bool {
        self.progress_of(origin.into(), position);
        position[..] > *sent
    }

    /// Notes that a progress frame has found no room: a thread that sleeps tries again soon.
    pub fn set_progress_pending(&mut self) {
        self.is_progress_pending = true;
    }

    /// Whether a progress frame has found no room since this was last asked.
    pub fn take_progress_pending(&mut self) -> bool {
        std::mem::take(&mut self.is_progress_pending)
    }
}

/// Parts of the calls above.
impl ThreadOrder {
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
        let known = self.progress.get(&origin).map_or(&[][..], Vec::as_slice);
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

/// Calls something with the order of the calling thread.
pub(crate) fn with<T>(call: impl FnOnce(&mut ThreadOrder) -> T) -> T {
    THREAD_ORDER.with_borrow_mut(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(order: &mut ThreadOrder, is_again: bool) -> Vec<u64> {
        let mut at = Vec::new();
        order.next_position(is_again, &mut at);
        at
    }

    fn news_of(order: &ThreadOrder, origin: OriginId, sent: &[u64]) -> Vec<u64> {
        let mut at = Vec::new();
        match order.new_progress(origin, sent, &mut at) {
            true => at,
            false => Vec::new(),
        }
    }

    fn behind_of(order: &ThreadOrder, origin: OriginId, sent: &[u64]) -> Option<Vec<u64>> {
        let mut at = Vec::new();
        order.new_precedence(origin, sent, &mut at).then_some(at)
    }

    #[test]
    fn an_origin_counts_on_where_it_paused() {
        let mut order = ThreadOrder::EMPTY;
        order.begin_origin(Some(7));
        assert_eq!(next(&mut order, false), [7, 0]);
        order.finish_submission();
        order.pause_origin(Some(7));
        order.begin_origin(Some(8));
        assert_eq!(next(&mut order, false), [8, 0]);
        order.pause_origin(Some(8));
        order.begin_origin(Some(7));
        assert_eq!(next(&mut order, false), [7, 1]);
        assert_eq!(next(&mut order, true), [7, 1]);
        assert_eq!(news_of(&order, 7, &[]), [7, 0, AFTER_ALL]);
        order.finish_submission();
        assert_eq!(news_of(&order, 7, &[7, 0, AFTER_ALL]), [7, 1, AFTER_ALL]);
        order.end_origin(Some(7));
        assert_eq!(news_of(&order, 7, &[]), [7, AFTER_ALL]);
    }

    #[test]
    fn what_is_brought_about_stands_behind_what_brought_it_and_before_the_next() {
        let mut order = ThreadOrder::EMPTY;
        order.enter_position(&[7, 4], 1);
        let first = next(&mut order, false);
        assert_eq!(first, [7, 4, 1, 0]);
        // Tuples before it in its origin are over.
        assert_eq!(news_of(&order, 7, &[]), [7, 4, 0, AFTER_ALL]);
        order.finish_submission();
        let second = next(&mut order, false);
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
        let mut order = ThreadOrder::EMPTY;
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
        let mut order = ThreadOrder::EMPTY;
        order.enter_position(&[7, 4], 0);
        let before = next(&mut order, false);
        let saved = order.enter_consumer(true, 2);
        let inside = next(&mut order, false);
        assert_eq!(inside, [7, 4, 0, 0, 2, 0]);
        order.leave_consumer(saved.unwrap());
        assert_eq!(next(&mut order, true), before);
        order.finish_submission();
        let behind = next(&mut order, false);
        assert!(before < inside && inside < [before.clone(), vec![3]].concat() && inside < behind);
    }

    #[test]
    fn what_is_before_a_position_is_over_when_it_is_processed() {
        let mut order = ThreadOrder::EMPTY;
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
        let mut order = ThreadOrder::EMPTY;
        order.enter_position(&[], 3);
        assert_eq!(next(&mut order, false), [0_u64; 0]);
        order.finish_submission();
        order.leave_position(true);
        assert_eq!(news_of(&order, 0, &[]), [0_u64; 0]);
    }
}
