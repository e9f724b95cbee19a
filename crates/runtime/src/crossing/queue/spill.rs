//! What a queue holds besides its ring: a deque under a lock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use transport::Bell;
use tuple::{TupleBuf, TupleRef};

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
    /// Whom to wake for the next item.
    sleeper: Option<Bell>,
}

/// An item.
#[derive(Debug)]
pub(super) enum Spilled {
    Tuple(TupleBuf),
    /// Anything else, by its kind of frame.
    Other(u8),
}

/// What became of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shed {
    Nothing,
    Oldest,
    /// There are only markers in the queue.
    Newest,
}

/// Larger buffers are not kept.
const SPARE_BYTES_MAX: usize = 64 * 1024;

/// Nor are more of them.
const SPARES_MAX: usize = 1024;

impl Spill {
    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) // [spilled]
    }

    /// Adds a copy of a tuple.
    pub fn push_tuple(&self, tuple: TupleRef<'_>) {
        let mut held = self.lock();
        let buf = held.copy(tuple);
        self.push(&mut held, Spilled::Tuple(buf));
    }

    /// Adds something else.
    pub fn push_other(&self, kind: u8) {
        self.push(&mut self.lock(), Spilled::Other(kind));
    }

    /// Adds a copy of a tuple to at most so many items: the oldest tuple makes room for it.
    pub fn push_shedding(&self, tuple: TupleRef<'_>, len_max: usize) -> Shed {
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
        let buf = held.copy(tuple);
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
    fn copy(&mut self, tuple: TupleRef<'_>) -> TupleBuf {
        let mut buf = self.spare.pop().unwrap_or_default();
        buf.copy_from(tuple);
        buf
    }

    fn recycle(&mut self, buf: TupleBuf) {
        if self.spare.len() < SPARES_MAX && (1..SPARE_BYTES_MAX).contains(&buf.len()) {
            self.spare.push(buf);
        }
    }
}
