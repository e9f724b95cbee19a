//! Where a thread stands in the order of what it processes: so that streams which are brought about
//! by one origin come together in its order wherever they meet, as they would fused.
//!
//! # Places
//! A place is a list of numbers, compared from the front; what is behind another's place because it
//! goes on where that ends comes later.
//! ```text
//!   origin 7 sends its 4th tuple:            7 4
//!   the 2nd consumer of it sends its 1st:    7 4 1 0
//!   and the 1st consumer of that its 3rd:    7 4 1 0 0 2
//! ```
//! So places are in the order in which one thread would do all of it, depth first: a tuple with
//! everything that it brings about, consumer by consumer, then the next one.
//!
//! # On the wire
//! Of a stream that is ordered ([`graph::Order`]) each tuple is in one frame with its place
//! ([`super::wire::PLACED`]); a marker, or a tuple in pieces, is preceded by a frame with it
//! ([`super::wire::AT`]). A frame [`super::wire::REACHED`] says that nothing at or before a place
//! will come any more: whoever takes several streams in order ([`super::merging`]) waits for that if one
//! of them is silent. It is sent before a thread sleeps or waits, and now and then.
//!
//! # Several origins
//! The order of two origins is free where they meet first. Whoever takes them there says with what it
//! sends behind what of the other origins that stands: a frame [`super::wire::BEHIND`] comes before it on
//! its stream. Where such streams meet again, it waits until no stream can bring what stands before it
//! in the other origins. So all agree on the order in which one thread has mixed them
//! ([`graph::Order`] sees to it that it is one).
//!
//! # Why nobody waits for ever
//! A merge waits for a stream only while another one has something to take. Whoever could send on the
//! silent one has either more to do, or sleeps, or waits for room elsewhere, and says before it does
//! how far it has come; so by the order of the streams (loops are in one PE) does the merge learn it.
//! Marks that find no room are tried again until they do: [`take_pending`]. A source that neither sleeps
//! nor submits says nothing until it does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use graph::Origin;

/// Behind everything that begins with the same numbers.
const ALL: u64 = u64::MAX;

/// A thread says how far it has come at least once in so many submissions.
const SUBMISSIONS_PER_MARK: u32 = 64;

/// Whoever parks while a mark has found no room tries again after so long.
pub(super) const RETRY: Duration = Duration::from_millis(1);

thread_local! {
    static STANDING: RefCell<Standing> = const { RefCell::new(Standing::NOWHERE) };
}

/// Where a thread stands.
struct Standing {
    /// The place of what is processed; empty: it has none.
    here: Vec<u64>,
    /// Submissions from there, and how many of them have reached all their consumers.
    next: u64,
    done: u64,
    /// By origin: how many submissions it has begun by itself.
    begun: BTreeMap<Origin, u64>,
    /// By origin: nothing at or before this place is submitted any more.
    reached: BTreeMap<u64, Vec<u64>>,
    /// By origin: what is submitted of another one stands behind this place.
    passed: BTreeMap<u64, Vec<u64>>,
    /// The same of what was processed last.
    last: Vec<u64>,
    /// Submissions since the last mark.
    submissions: u32,
    is_pending: bool,
}

impl Standing {
    const NOWHERE: Standing = Standing {
        here: Vec::new(),
        next: 0,
        done: 0,
        begun: BTreeMap::new(),
        reached: BTreeMap::new(),
        passed: BTreeMap::new(),
        last: Vec::new(),
        submissions: 0,
        is_pending: false,
    };

    fn goes_to(&mut self, origin: u64) {
        if self.last.first().is_some_and(|last| *last != origin) {
            let mut last = std::mem::take(&mut self.last);
            self.pass(&last);
            last.clear();
            self.last = last;
        }
        self.here.clear();
        (self.next, self.done) = (0, 0);
    }

    fn reach(&mut self, place: &[u64]) {
        raise(&mut self.reached, place);
    }

    fn pass(&mut self, place: &[u64]) {
        raise(&mut self.reached, place);
        raise(&mut self.passed, place);
    }

    /// How far it has come with what an origin began.
    fn reached(&self, origin: u64, place: &mut Vec<u64>) {
        place.clear();
        if self.here.first() == Some(&origin) {
            place.extend(&self.here);
            place.push(self.done);
            before(place);
        }
        let known = self.reached.get(&origin).map_or(&[][..], Vec::as_slice);
        let last = match self.last.first() {
            Some(last) if *last == origin => &self.last[..],
            _ => &[],
        };
        let known = known.max(last);
        if *known > place[..] {
            place.clear();
            place.extend(known);
        }
    }

    /// The number of the next submission.
    fn number(&mut self, is_again: bool) -> u64 {
        self.next += u64::from(!is_again);
        self.done = self.next.saturating_sub(1);
        self.done
    }
}

/// Room for a place: most have fewer numbers.
pub(super) fn room() -> Vec<u64> {
    Vec::with_capacity(8)
}

/// The thread is going to know how far it has come with what an origin began.
pub(super) fn expect(origin: u64) {
    with(|standing| {
        standing.reached.entry(origin).or_insert_with(room);
    });
}

/// From now on the thread submits by itself, as an origin or as nothing that has an order.
pub(crate) fn begin(origin: Option<Origin>) {
    with(|standing| match origin {
        None => standing.here.clear(),
        Some(origin) => {
            standing.goes_to(origin.into());
            standing.here.push(origin.into());
            standing.next = standing.begun.get(&origin).copied().unwrap_or_default();
            standing.done = standing.next;
        }
    });
}

/// The origin is done for now, but not for ever.
pub(crate) fn pause(origin: Option<Origin>) {
    with(|standing| {
        if let Some(origin) = origin {
            standing.begun.insert(origin, standing.next);
            if let Some(done) = standing.done.checked_sub(1) {
                standing.reach(&[origin.into(), done, ALL]);
            }
        }
        standing.here.clear();
    });
}

/// The origin submits nothing more.
pub(crate) fn end(origin: Option<Origin>) {
    with(|standing| {
        standing.here.clear();
        if let Some(origin) = origin {
            standing.reach(&[origin.into(), ALL]);
        }
    });
}

/// The thread processes what stands at a place, for a consumer of that rank.
pub(super) fn enter(place: &[u64], rank: u64) {
    with(|standing| match place.first() {
        None => standing.here.clear(),
        Some(origin) => {
            standing.goes_to(*origin);
            standing.here.extend(place);
            standing.here.push(rank);
        }
    });
}

/// It has done so; `for_all`: nobody behind it gets what stands there.
pub(super) fn leave(for_all: bool) {
    with(|standing| {
        if standing.here.is_empty() {
            return;
        }
        if for_all {
            standing.here.pop();
        }
        standing.here.push(ALL);
        std::mem::swap(&mut standing.here, &mut standing.last);
        standing.here.clear();
    });
}

/// Nothing at or before a place comes to the thread any more.
pub(super) fn reached(place: &[u64]) {
    with(|standing| standing.reach(place));
}

/// What the thread processes from now on, though of other origins, stands behind a place.
pub(super) fn passed(place: &[u64]) {
    with(|standing| standing.pass(place));
}

/// The place of an origin behind which the thread stands while it processes what is of another one, if
/// that is beyond what was said.
pub(super) fn behind(origin: Origin, said: &[u64], place: &mut Vec<u64>) -> bool {
    place.clear();
    with(|standing| {
        let passed = standing.passed.get(&origin.into());
        let is_other = standing.here.first() != Some(&origin.into());
        place.extend(passed.filter(|_| is_other).into_iter().flatten());
    });
    place[..] > *said
}

/// The place of the next submission; empty if it has none. `again`: that of the one before, to
/// another consumer.
pub(super) fn place(is_again: bool, place: &mut Vec<u64>) {
    place.clear();
    with(|standing| {
        if !standing.here.is_empty() {
            let number = standing.number(is_again);
            place.extend(&standing.here);
            place.push(number);
        }
    });
}

/// The submission has reached all its consumers. Whether it is time to say so.
pub(super) fn submitted() -> bool {
    with(|standing| {
        standing.done = standing.next;
        standing.submissions += 1;
        let is_due = standing.submissions >= SUBMISSIONS_PER_MARK;
        if is_due {
            standing.submissions = 0;
        }
        is_due
    })
}

/// What a thread does before it goes on where it was: see [`turn`].
pub(super) struct Turn {
    /// Numbers of the place where it was.
    here: usize,
    next: u64,
    done: u64,
}

/// From now on the thread processes a submission for one of its consumers, by a call.
pub(super) fn turn(is_again: bool, rank: u64) -> Option<Turn> {
    with(|standing| {
        if standing.here.is_empty() {
            return None;
        }
        let number = standing.number(is_again);
        let turn = Turn {
            here: standing.here.len(),
            next: standing.next,
            done: standing.done,
        };
        standing.here.extend([number, rank]);
        (standing.next, standing.done) = (0, 0);
        Some(turn)
    })
}

/// It has done so, and is where it was.
pub(super) fn turned(turn: Option<Turn>) {
    let Some(turn) = turn else { return };
    with(|standing| {
        standing.here.truncate(turn.here);
        (standing.next, standing.done) = (turn.next, turn.done);
    });
}

/// How far the thread has come with what an origin began, if that is beyond what was said.
pub(super) fn news(origin: Origin, said: &[u64], place: &mut Vec<u64>) -> bool {
    with(|standing| standing.reached(origin.into(), place));
    place[..] > *said
}

/// A mark has found no room: whoever sleeps tries again soon.
pub(crate) fn pend() {
    with(|standing| standing.is_pending = true);
}

/// Whether a mark has found no room since this was last asked.
pub(crate) fn take_pending() -> bool {
    with(|standing| std::mem::take(&mut standing.is_pending))
}

/// Makes of a place the last one that says: everything that comes before it is over.
pub(super) fn before(place: &mut Vec<u64>) {
    while place.len() > 1 && place.last() == Some(&0) {
        place.pop();
    }
    match &mut place[..] {
        [_, .., last] => {
            *last -= 1;
            place.push(ALL);
        }
        _ => place.clear(),
    }
}

/// Raises what is known of a place's origin to that place.
fn raise(known: &mut BTreeMap<u64, Vec<u64>>, place: &[u64]) {
    let Some(origin) = place.first() else {
        return;
    };
    let known = known.entry(*origin).or_default();
    if known[..] < *place {
        known.clear();
        known.extend(place);
    }
}

fn with<T>(act: impl FnOnce(&mut Standing) -> T) -> T {
    STANDING.with_borrow_mut(act)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(is_again: bool) -> Vec<u64> {
        let mut at = Vec::new();
        place(is_again, &mut at);
        at
    }

    fn news_of(origin: Origin, said: &[u64]) -> Vec<u64> {
        let mut at = Vec::new();
        match news(origin, said, &mut at) {
            true => at,
            false => Vec::new(),
        }
    }

    #[test]
    fn an_origin_counts_on_where_it_paused() {
        begin(Some(7));
        assert_eq!(next(false), [7, 0]);
        submitted();
        pause(Some(7));
        begin(Some(8));
        assert_eq!(next(false), [8, 0]);
        pause(Some(8));
        begin(Some(7));
        assert_eq!(next(false), [7, 1]);
        assert_eq!(next(true), [7, 1]);
        assert_eq!(news_of(7, &[]), [7, 0, ALL]);
        submitted();
        assert_eq!(news_of(7, &[7, 0, ALL]), [7, 1, ALL]);
        end(Some(7));
        assert_eq!(news_of(7, &[]), [7, ALL]);
    }

    #[test]
    fn what_is_brought_about_stands_behind_what_brought_it_and_before_the_next() {
        enter(&[7, 4], 1);
        let first = next(false);
        assert_eq!(first, [7, 4, 1, 0]);
        // What stands before it in its origin is over.
        assert_eq!(news_of(7, &[]), [7, 4, 0, ALL]);
        submitted();
        let second = next(false);
        assert!(first < second && second < vec![7, 4, 2] && second < vec![7, 5]);
        submitted();
        leave(false);
        let over = news_of(7, &[]);
        assert!(second < over && over < vec![7, 4, 2]);
        reached(&[7, 4, ALL]);
        assert_eq!(news_of(7, &over), [7, 4, ALL]);
        assert_eq!(news_of(7, &[7, 4, ALL]), [0_u64; 0]);
        enter(&[9, 0], 0);
        leave(true);
        enter(&[7, 5], 1);
        leave(true);
        assert_eq!(
            (news_of(7, &[]), news_of(9, &[])),
            (vec![7, 5, ALL], vec![9, 0, ALL])
        );
    }

    #[test]
    fn what_is_taken_stands_behind_what_was_taken_of_other_origins() {
        let behind_of = |origin: Origin, said: &[u64]| {
            let mut at = Vec::new();
            behind(origin, said, &mut at).then_some(at)
        };
        enter(&[7, 4], 1);
        assert_eq!(behind_of(7, &[]), None);
        leave(true);
        // A promise is nothing that it stands behind.
        reached(&[7, 9, ALL]);
        enter(&[8, 0], 1);
        assert_eq!(behind_of(7, &[]), Some(vec![7, 4, ALL]));
        assert_eq!(behind_of(7, &[7, 4, ALL]), None);
        assert_eq!(news_of(7, &[7, 4, ALL]), [7, 9, ALL]);
        leave(true);
        passed(&[9, 2, ALL]);
        enter(&[7, 5], 1);
        assert_eq!(behind_of(7, &[]), None);
        assert_eq!(behind_of(8, &[]), Some(vec![8, 0, ALL]));
        assert_eq!(behind_of(9, &[]), Some(vec![9, 2, ALL]));
    }

    #[test]
    fn a_turn_stands_between_senders_of_the_same_submission() {
        enter(&[7, 4], 0);
        let before = next(false);
        let turned_to = turn(true, 2);
        let inside = next(false);
        assert_eq!(inside, [7, 4, 0, 0, 2, 0]);
        turned(turned_to);
        assert_eq!(next(true), before);
        submitted();
        let behind = next(false);
        assert!(before < inside && inside < [before.clone(), vec![3]].concat() && inside < behind);
    }

    #[test]
    fn what_is_before_a_place_is_over_when_it_is_processed() {
        for (place, over) in [
            (&[7, 4, 2][..], &[7, 4, 1, ALL][..]),
            (&[7, 4, 0, 0], &[7, 3, ALL]),
            (&[7, 0, 0], &[]),
            (&[7], &[]),
        ] {
            let mut found = place.to_vec();
            before(&mut found);
            assert_eq!(found, over);
            assert!(found[..] < *place);
        }
        let other = turn(false, 0);
        assert!(other.is_none());
        enter(&[7, 4], 1);
        let turned_to = turn(false, 0);
        // Inside of a turn too.
        assert_eq!(news_of(7, &[]), [7, 4, 0, ALL]);
        turned(turned_to);
    }

    #[test]
    fn what_has_no_place_gives_none() {
        enter(&[], 3);
        assert_eq!(next(false), [0_u64; 0]);
        submitted();
        leave(true);
        assert_eq!(news_of(0, &[]), [0_u64; 0]);
    }
}
