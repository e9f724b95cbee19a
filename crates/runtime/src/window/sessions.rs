//! Session windows over event time: items of a key that lie less than a gap apart, one after the
//! other, are a session, which fires when the watermark has passed its last item by the gap.
//!
//! ```text
//!   gap 5      a----)         c----)            two sessions of a key, each ends the gap after
//!                  b----)                       its last item
//!              [a-------b-----c----)            b lies less than 5 from both: they are one
//! ```
//! A session is kept for the discard age after its end. An item that comes for it meanwhile is
//! late: the session gets longer, or two become one, and it fires again with all its items when the
//! watermark has passed its end, at the next watermark at the earliest. An item that is older than
//! the watermark by more than the discard age is in no session. No other item can lie less than a
//! gap from a session that has been discarded, so no session comes twice.
//!
//! # Cost
//! An item takes a look-up of its key and a binary search in the sessions of the key. An item that
//! makes two sessions one moves the items of the smaller one. A session has one entry in the queue
//! of what is due, which is not moved when the session gets longer: a watermark puts it back if its
//! time has moved. The memory of a discarded session serves the next one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use eval::{Fault, Pane};
use graph::SessionGap;
use tuple::EventTime;

use super::key_ids::{KeyId, KeyIds};
use super::panes::PaneObserver;
use super::shared_items::{PaneItems, SharedItems};

/// Index of a session; that of a discarded one belongs to a later session.
type SessionId = u32;

/// All sessions of one input port.
#[derive(Debug)]
pub struct SessionWindows<T> {
    gap: SessionGap,
    key_ids: KeyIds,
    /// Sessions by key id, in the order of time. Those of free ids are memory.
    by_key: Vec<VecDeque<SessionId>>,
    sessions: Vec<OpenSession>,
    free: Vec<SessionId>,
    due: BinaryHeap<Reverse<DueSession>>,
    items: SharedItems<T>,
    /// Number of each item by its index: later items have larger ones.
    item_seqs: Vec<u64>,
    last_seq: u64,
    watermark: Option<EventTime>,
}

/// Items of a key that belong together.
#[derive(Debug, Default)]
struct OpenSession {
    key_id: KeyId,
    /// Event times of the first and the last item, in nanoseconds.
    first_ns: i128,
    last_ns: i128,
    /// Number of the item that came first.
    first_seq: u64,
    item_indexes: Vec<u32>,
    /// Whether the indexes stand in the order in which the items came.
    is_ordered: bool,
    /// Whether an item has come since the session fired.
    has_new_items: bool,
    /// Number of times that the session has fired: of two that became one, the greater number.
    fire_count: u64,
    /// The time of the session's entry in the queue, which is never later than the session is due.
    /// Entries with another time or number are those of a session that is no more.
    due_ns: Option<i128>,
}

/// An entry of the queue: what is due earlier comes first, then what has begun to come earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DueSession {
    at_ns: i128,
    first_seq: u64,
    id: SessionId,
}

/// Indexes that a discarded session keeps memory for: any session may be the next one there, also
/// a small one.
const SPARE_INDEXES: usize = 256;

impl<T> SessionWindows<T> {
    /// Windows without sessions yet.
    pub fn new(gap: SessionGap) -> SessionWindows<T> {
        SessionWindows {
            gap,
            key_ids: KeyIds::default(),
            by_key: Vec::new(),
            sessions: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            items: SharedItems::new(),
            item_seqs: Vec::new(),
            last_seq: 0,
            watermark: None,
        }
    }

    /// Number of sessions that are kept.
    pub fn session_count(&self) -> usize {
        self.sessions.len() - self.free.len()
    }

    /// Number of sessions with items that have not fired, and of the items in these sessions.
    pub fn incomplete_counts(&self) -> (u64, u64) {
        let fresh = self.sessions.iter().filter(|session| session.has_new_items);
        fresh.fold((0, 0), |(sessions, items), session| {
            (sessions + 1, items + session.item_indexes.len() as u64)
        })
    }

    /// Whether an item with this event time comes too late.
    pub fn is_too_late(&self, at: EventTime) -> bool {
        let is_before = |reached: EventTime| at.0 < reached.0 - self.gap.discard_ns;
        self.watermark.is_some_and(is_before)
    }

    /// Adds an item to the session that it belongs to, unless it comes too late. Sessions between
    /// which it lies become one.
    pub fn insert(
        &mut self,
        key: &[u8],
        at: EventTime,
        item: T,
        observer: &mut impl PaneObserver<T>,
    ) {
        if self.is_too_late(at) {
            observer.leave(item);
            return;
        }
        let key_id = self.key_ids.find(key);
        let key_id = key_id.unwrap_or_else(|| self.key_ids.assign(key));
        if key_id as usize == self.by_key.len() {
            self.by_key.push(VecDeque::new());
        }
        let seq = self.last_seq + 1;
        self.last_seq = seq;
        let index = self.add_item(item, seq);
        let id = self.session_at(key_id, at.0, seq);
        let session = &mut self.sessions[id as usize];
        session.first_ns = session.first_ns.min(at.0);
        session.last_ns = session.last_ns.max(at.0);
        session.item_indexes.push(index);
        session.has_new_items = true;
        let due_ns = session.last_ns + self.gap.gap_ns;
        if session.due_ns.is_none_or(|queued| queued > due_ns) {
            self.enqueue(id, due_ns);
        }
    }

    fn add_item(&mut self, item: T, seq: u64) -> u32 {
        let index = self.items.add(item);
        self.items.add_reference(index);
        match self.item_seqs.get_mut(index as usize) {
            Some(slot) => *slot = seq,
            None => self.item_seqs.push(seq),
        }
        index
    }

    /// The session of a key for an item of an event time: one that is there, two that become one,
    /// or a new one.
    fn session_at(&mut self, key_id: KeyId, at_ns: i128, seq: u64) -> SessionId {
        let gap_ns = self.gap.gap_ns;
        let sessions = &self.sessions;
        let list = &self.by_key[key_id as usize];
        let is_over = |id: &SessionId| sessions[*id as usize].last_ns + gap_ns <= at_ns;
        let place = list.partition_point(is_over);
        let is_near = |id: &SessionId| sessions[*id as usize].first_ns < at_ns + gap_ns;
        let mut near = list.range(place..).copied().take_while(is_near);
        match (near.next(), near.next()) {
            (Some(earlier), Some(later)) => {
                self.by_key[key_id as usize].remove(place + 1);
                self.merge(earlier, later);
                earlier
            }
            (Some(only), None) => only,
            (None, _) => {
                let id = self.new_session(key_id, at_ns, seq);
                self.by_key[key_id as usize].insert(place, id);
                id
            }
        }
    }

    fn new_session(&mut self, key_id: KeyId, at_ns: i128, seq: u64) -> SessionId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.sessions.push(OpenSession::default());
            self.sessions.len() as SessionId - 1
        });
        let session = &mut self.sessions[id as usize];
        let item_indexes = std::mem::take(&mut session.item_indexes);
        *session = OpenSession {
            key_id,
            first_ns: at_ns,
            last_ns: at_ns,
            first_seq: seq,
            item_indexes,
            is_ordered: true,
            ..OpenSession::default()
        };
        id
    }

    /// Makes two sessions one, which has the id of the earlier one.
    fn merge(&mut self, earlier: SessionId, later: SessionId) {
        let mut gone = std::mem::take(&mut self.sessions[later as usize]);
        let kept = &mut self.sessions[earlier as usize];
        kept.last_ns = gone.last_ns;
        kept.first_seq = kept.first_seq.min(gone.first_seq);
        kept.fire_count = kept.fire_count.max(gone.fire_count);
        kept.has_new_items = true;
        kept.is_ordered = false;
        if kept.item_indexes.len() < gone.item_indexes.len() {
            std::mem::swap(&mut kept.item_indexes, &mut gone.item_indexes);
        }
        kept.item_indexes.append(&mut gone.item_indexes);
        let due_ns = kept.last_ns + self.gap.gap_ns;
        self.release(later, gone.item_indexes);
        self.enqueue(earlier, due_ns);
    }

    /// Gives the id of a session to a later one, with the memory of its indexes.
    fn release(&mut self, id: SessionId, mut item_indexes: Vec<u32>) {
        item_indexes.clear();
        item_indexes.shrink_to(SPARE_INDEXES);
        self.sessions[id as usize] = OpenSession {
            item_indexes,
            ..OpenSession::default()
        };
        self.free.push(id);
    }

    fn enqueue(&mut self, id: SessionId, at_ns: i128) {
        let session = &mut self.sessions[id as usize];
        session.due_ns = Some(at_ns);
        let first_seq = session.first_seq;
        self.due.push(Reverse(DueSession {
            at_ns,
            first_seq,
            id,
        }));
    }

    /// Advances the watermark: sessions whose end it has passed fire, the one that ends first
    /// before the others, and of those that end together the one whose first item came earlier.
    /// Sessions that are old enough are discarded.
    ///
    /// # Errors
    /// The fault of the observer. The sessions after that one fire at the next watermark.
    pub fn advance(
        &mut self,
        to: EventTime,
        observer: &mut impl PaneObserver<T>,
    ) -> Result<(), Fault> {
        self.watermark = Some(to);
        while let Some(&Reverse(next)) = self.due.peek()
            && next.at_ns <= to.0
        {
            self.due.pop();
            let session = &self.sessions[next.id as usize];
            if session.due_ns != Some(next.at_ns) || session.first_seq != next.first_seq {
                continue;
            }
            let end_ns = session.last_ns + self.gap.gap_ns;
            let due_ns = match session.has_new_items {
                true => end_ns,
                false => end_ns + self.gap.discard_ns,
            };
            if due_ns > next.at_ns {
                self.enqueue(next.id, due_ns);
            } else if session.has_new_items {
                self.enqueue(next.id, end_ns + self.gap.discard_ns);
                self.fire(next.id, observer)?;
            } else {
                self.discard(next.id, observer);
            }
        }
        Ok(())
    }

    fn fire(&mut self, id: SessionId, observer: &mut impl PaneObserver<T>) -> Result<(), Fault> {
        let session = &mut self.sessions[id as usize];
        let (start, end_ns) = (session.first_ns, session.last_ns + self.gap.gap_ns);
        let pane = Pane::between(EventTime(start), EventTime(end_ns), session.fire_count);
        session.has_new_items = false;
        session.fire_count += 1;
        if !std::mem::replace(&mut session.is_ordered, true) {
            // Of the runs that it was made of, which are in order.
            let seqs = &self.item_seqs;
            let seq = |index: &u32| seqs[*index as usize];
            session.item_indexes.sort_by_key(seq);
        }
        observer.fire(pane, PaneItems::new(&self.items, &session.item_indexes))
    }

    fn discard(&mut self, id: SessionId, observer: &mut impl PaneObserver<T>) {
        let session = std::mem::take(&mut self.sessions[id as usize]);
        let list = &mut self.by_key[session.key_id as usize];
        if let Some(place) = list.iter().position(|other| *other == id) {
            list.remove(place);
        }
        if list.is_empty() {
            self.key_ids.release(session.key_id);
        }
        let indexes = session.item_indexes.iter();
        indexes
            .filter_map(|index| self.items.release(*index))
            .for_each(|item| observer.leave(item));
        self.release(id, session.item_indexes);
    }
}
