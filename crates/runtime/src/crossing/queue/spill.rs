//! What a queue holds besides its ring: a deque under a lock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use transport::Bell;
use tuple::{EventTime, TupleBuf, TupleRef};

/// Items in order.
#[derive(Debug, Default)]
pub(super) struct Spill {
    /// How many there are. Written under the lock; read without it by either side, [spilled].
    len: AtomicUsize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    items: VecDeque<Spilled>,
    /// Buffers to use again.
    spare: Vec<TupleBuf>,
    spare_bytes: usize,
    /// Whom to wake for the next item.
    sleeper: Option<Bell>,
}

/// An item.
#[derive(Debug)]
pub(super) enum Spilled {
    Tuple(TupleBuf),
    Watermark(EventTime),
    /// Anything else, by its kind of frame.
    Other(u8),
}

/// A tuple as it is given.
pub(super) enum Given<'a> {
    /// Somebody else needs it too: it is copied.
    Lent(TupleRef<'a>),
    /// Nobody does: its buffer is taken.
    Made(&'a mut TupleBuf),
}

/// What became of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shed {
    Nothing,
    Oldest,
    /// There are only markers in the queue.
    Newest,
}

/// Bytes of spare buffers that are kept.
const SPARE_BYTES_MAX: usize = 64 << 20;

/// And how many.
const SPARES_MAX: usize = 1024;

impl Spill {
    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) // [spilled]
    }

    /// Adds a tuple.
    pub fn push_tuple(&self, tuple: Given<'_>) {
        let mut held = self.lock();
        let buf = held.keep(tuple);
        self.push(&mut held, Spilled::Tuple(buf));
    }

    /// Adds something else.
    pub fn push_other(&self, item: Spilled) {
        self.push(&mut self.lock(), item);
    }

    /// Adds a tuple to at most so many items: the oldest tuple makes room for it.
    pub fn push_shedding(&self, tuple: Given<'_>, len_max: usize) -> Shed {
        let mut held = self.lock();
        let mut shed = Shed::Nothing;
        if held.items.len() >= len_max {
            let is_tuple = |item: &Spilled| matches!(item, Spilled::Tuple(_));
            let Some(oldest) = held.items.iter().position(is_tuple) else {
                return Shed::Newest;
            };
            if let Some(Spilled::Tuple(buf)) = held.items.remove(oldest) {
                held.recycle(buf);
            }
            shed = Shed::Oldest;
        }
        let buf = held.keep(tuple);
        self.push(&mut held, Spilled::Tuple(buf));
        shed
    }

    /// The oldest item; what was taken before is given back.
    pub fn pop(&self, used: TupleBuf) -> Option<Spilled> {
        let mut held = self.lock();
        held.recycle(used);
        let item = held.items.pop_front();
        self.len.store(held.items.len(), Ordering::Release); // [spilled]
        item
    }

    /// Says that the taker is about to sleep: the next item rings. `false`: there is one.
    pub fn arm(&self, bell: &Bell) -> bool {
        let mut held = self.lock();
        let is_empty = held.items.is_empty();
        held.sleeper = is_empty.then(|| bell.clone());
        is_empty
    }

    fn push(&self, held: &mut Held, item: Spilled) {
        held.items.push_back(item);
        self.len.store(held.items.len(), Ordering::Release); // [spilled]
        if let Some(bell) = held.sleeper.take() {
            bell.ring();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Copied, or taken and a spare buffer left in its place.
    fn keep(&mut self, tuple: Given<'_>) -> TupleBuf {
        let mut buf = self.spare.pop().unwrap_or_default();
        self.spare_bytes -= buf.held_bytes();
        match tuple {
            Given::Lent(tuple) => buf.copy_from(tuple),
            Given::Made(tuple) => std::mem::swap(&mut buf, tuple),
        }
        buf
    }

    fn recycle(&mut self, buf: TupleBuf) {
        let bytes = buf.held_bytes();
        let fits = self.spare_bytes + bytes <= SPARE_BYTES_MAX && self.spare.len() < SPARES_MAX;
        if fits && bytes > 0 {
            self.spare_bytes += bytes;
            self.spare.push(buf);
        }
    }
}
