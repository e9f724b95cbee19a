//! What a queue holds besides its ring: a deque under a lock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use transport::Wakeup;
use tuple::{EventTime, TupleBuf, TupleRef};

/// Items in order.
#[derive(Debug, Default)]
pub(crate) struct SpillQueue {
    /// How many there are. Written under the lock; read without it by either side, [spilled].
    len: AtomicUsize,
    state: Mutex<SpillState>,
}

#[derive(Debug, Default)]
struct SpillState {
    items: VecDeque<SpilledItem>,
    /// Buffers to use again.
    spare: Vec<TupleBuf>,
    spare_bytes: usize,
    /// Whom to wake for the next item.
    sleeping_consumer: Option<Wakeup>,
}

/// An item.
#[derive(Debug)]
pub(crate) enum SpilledItem {
    Tuple(TupleBuf),
    Watermark(EventTime),
    /// Anything else, by its kind of frame.
    Marker(u8),
}

/// A tuple as it is given.
pub(crate) enum SpillTuple<'a> {
    /// Somebody else needs it too: it is copied.
    Borrowed(TupleRef<'a>),
    /// Nobody does: its buffer is taken.
    Owned(&'a mut TupleBuf),
}

/// What became of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropOutcome {
    Nothing,
    Oldest,
    /// There are only markers in the queue.
    Newest,
}

/// Bytes of spare buffers that are kept.
const SPARE_BYTES_MAX: usize = 64 << 20;

/// And how many.
const SPARES_MAX: usize = 1024;

impl SpillQueue {
    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) // [spilled]
    }

    /// Adds a tuple.
    pub fn push_tuple(&self, tuple: SpillTuple<'_>) {
        let mut held = self.lock();
        let buf = held.copy_to_buffer(tuple);
        self.push(&mut held, SpilledItem::Tuple(buf));
    }

    /// Adds something else.
    pub fn push_item(&self, item: SpilledItem) {
        self.push(&mut self.lock(), item);
    }

    /// Adds a tuple to at most so many items: the oldest tuple makes room for it.
    pub fn push_dropping_oldest(&self, tuple: SpillTuple<'_>, len_max: usize) -> DropOutcome {
        let mut held = self.lock();
        let mut shed = DropOutcome::Nothing;
        if held.items.len() >= len_max {
            let is_tuple = |item: &SpilledItem| matches!(item, SpilledItem::Tuple(_));
            let Some(oldest) = held.items.iter().position(is_tuple) else {
                return DropOutcome::Newest;
            };
            if let Some(SpilledItem::Tuple(buf)) = held.items.remove(oldest) {
                held.recycle(buf);
            }
            shed = DropOutcome::Oldest;
        }
        let buf = held.copy_to_buffer(tuple);
        self.push(&mut held, SpilledItem::Tuple(buf));
        shed
    }

    /// The oldest item; what was taken before is given back.
    pub fn pop(&self, used: TupleBuf) -> Option<SpilledItem> {
        let mut held = self.lock();
        held.recycle(used);
        let item = held.items.pop_front();
        self.len.store(held.items.len(), Ordering::Release); // [spilled]
        item
    }

    /// Says that the taker is about to sleep: the next item rings. `false`: there is one.
    pub fn arm(&self, bell: &Wakeup) -> bool {
        let mut held = self.lock();
        let is_empty = held.items.is_empty();
        held.sleeping_consumer = is_empty.then(|| bell.clone());
        is_empty
    }

    fn push(&self, held: &mut SpillState, item: SpilledItem) {
        held.items.push_back(item);
        self.len.store(held.items.len(), Ordering::Release); // [spilled]
        if let Some(bell) = held.sleeping_consumer.take() {
            bell.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, SpillState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpillState {
    /// Copied, or taken and a spare buffer left in its place.
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
