//! The spill of a queue: items that are not in its ring, in a deque under a lock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tuple::{EventTime, TupleBuf, TupleRef};

use super::consumer_wakeup::ConsumerWakeup;

/// Spilled items, in order.
#[derive(Debug, Default)]
pub(crate) struct SpillQueue {
    /// Number of items. Written under the lock; read without it by either side, with tag `spilled`.
    len: AtomicUsize,
    state: Mutex<SpillState>,
}

#[derive(Debug, Default)]
struct SpillState {
    items: VecDeque<SpilledItem>,
    /// Buffers that are used again.
    spare: Vec<TupleBuf>,
    spare_bytes: usize,
    /// Wakeup of the consumer, if it sleeps until the next item.
    sleeping_consumer: Option<ConsumerWakeup>,
}

/// A tuple, watermark or marker in the queue.
#[derive(Debug)]
pub(crate) enum SpilledItem {
    Tuple(TupleBuf),
    Watermark(EventTime),
    /// A marker, by its kind of frame.
    Marker(u8),
}

/// A tuple that is to be spilled.
pub(crate) enum SpillTuple<'a> {
    /// A tuple that other operators need too: it is copied.
    Borrowed(TupleRef<'a>),
    /// An owned tuple: its buffer is taken.
    Owned(&'a mut TupleBuf),
}

/// Tuple that was dropped to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropOutcome {
    Nothing,
    Oldest,
    /// The new tuple, because only markers are in the queue.
    Newest,
}

/// Most bytes of spare buffers that are kept: 64 MB, as much as a ring may have.
const SPARE_BYTES_MAX: usize = 64 << 20;

/// Most spare buffers that are kept.
const SPARES_MAX: usize = 1024;

impl SpillQueue {
    /// Number of items that are spilled.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) // [spilled]
    }

    /// Adds a tuple at the end.
    pub fn push_tuple(&self, tuple: SpillTuple<'_>) {
        let mut state = self.lock();
        let buf = state.copy_to_buffer(tuple);
        self.push(&mut state, SpilledItem::Tuple(buf));
    }

    /// Adds an item at the end.
    pub fn push_item(&self, item: SpilledItem) {
        self.push(&mut self.lock(), item);
    }

    /// Adds a tuple to at most `len_max` items: the oldest tuple makes room for it.
    pub fn push_dropping_oldest(&self, tuple: SpillTuple<'_>, len_max: usize) -> DropOutcome {
        let mut state = self.lock();
        let mut outcome = DropOutcome::Nothing;
        if state.items.len() >= len_max {
            let is_tuple = |item: &SpilledItem| matches!(item, SpilledItem::Tuple(_));
            let Some(oldest) = state.items.iter().position(is_tuple) else {
                return DropOutcome::Newest;
            };
            if let Some(SpilledItem::Tuple(buf)) = state.items.remove(oldest) {
                state.recycle(buf);
            }
            outcome = DropOutcome::Oldest;
        }
        let buf = state.copy_to_buffer(tuple);
        self.push(&mut state, SpilledItem::Tuple(buf));
        outcome
    }

    /// Takes the oldest item. `used` is the buffer of the item that was taken before.
    pub fn pop(&self, used: TupleBuf) -> Option<SpilledItem> {
        let mut state = self.lock();
        state.recycle(used);
        let item = state.items.pop_front();
        self.len.store(state.items.len(), Ordering::Release); // [spilled]
        item
    }

    /// Announces that the consumer is about to sleep: the next item wakes it. Returns `false` if
    /// there is an item.
    pub fn arm(&self, wakeup: &ConsumerWakeup) -> bool {
        let mut state = self.lock();
        let is_empty = state.items.is_empty();
        state.sleeping_consumer = is_empty.then(|| wakeup.clone());
        is_empty
    }

    fn push(&self, state: &mut SpillState, item: SpilledItem) {
        state.items.push_back(item);
        self.len.store(state.items.len(), Ordering::Release); // [spilled]
        if let Some(wakeup) = state.sleeping_consumer.take() {
            wakeup.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, SpillState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpillState {
    /// The tuple in a buffer of the spill's: copied, or taken and a spare buffer left in its place.
    fn copy_to_buffer(&mut self, tuple: SpillTuple<'_>) -> TupleBuf {
        let mut buf = self.spare.pop().unwrap_or_default();
        self.spare_bytes -= buf.capacity_bytes();
        match tuple {
            SpillTuple::Borrowed(tuple) => buf.copy_from(tuple),
            SpillTuple::Owned(tuple) => std::mem::swap(&mut buf, tuple),
        }
        buf
    }

    fn recycle(&mut self, buf: TupleBuf) {
        let bytes = buf.capacity_bytes();
        let fits = self.spare_bytes + bytes <= SPARE_BYTES_MAX && self.spare.len() < SPARES_MAX;
        if fits && bytes > 0 {
            self.spare_bytes += bytes;
            self.spare.push(buf);
        }
    }
}
