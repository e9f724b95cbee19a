//! The control: a ring that does as little as one can, for messages of one size.
//!
//! Slots without a header, two indexes, the writer's published every 32 KB, read in place. It
//! leaves messages unpublished until there are enough, which a real ring must not.
#![expect(unsafe_code, reason = "a ring")]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::RING_BYTES;

/// Messages that are published at once: 32 KB, as in the ring.
const fn publish<const N: usize>() -> u64 {
    (32 * 1024 / N) as u64
}

#[repr(align(128))]
struct Line(AtomicU64);

/// A message, which begins at a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Message<const N: usize>(pub [u8; N]);

/// Action of a reader on the messages that it has read.
pub trait Take<const N: usize> {
    /// Reads every word of each message.
    fn message(&mut self, message: &[u8; N]);

    /// Called after some messages, when `taken` were read in all.
    fn batch(&mut self, taken: u64);
}

/// A ring of plain slots, with both its ends.
pub struct Bare<const N: usize> {
    written: Line,
    read: Line,
    slots: Box<[UnsafeCell<Message<N>>]>,
}

// SAFETY: slots are the writer's or the reader's by the indexes; there is one of each.
unsafe impl<const N: usize> Sync for Bare<N> {}

impl<const N: usize> Bare<N> {
    pub fn new() -> Bare<N> {
        let slots = (0..RING_BYTES / N).map(|_| UnsafeCell::new(Message([1; N])));
        Bare {
            written: Line(AtomicU64::new(0)),
            read: Line(AtomicU64::new(0)),
            slots: slots.collect(),
        }
    }

    fn slot(&self, at: u64) -> *mut Message<N> {
        self.slots[at as usize & (self.slots.len() - 1)].get()
    }

    /// Writes `count` messages. Must be called by one thread at a time.
    pub fn write(&self, count: u64, mut fill: impl FnMut(&mut [u8; N], u64)) {
        let mut read = 0;
        for at in 0..count {
            while at - read >= self.slots.len() as u64 {
                read = self.read.0.load(Ordering::Acquire);
            }
            // SAFETY: the reader is past what the slot held.
            fill(unsafe { &mut (*self.slot(at)).0 }, at);
            if (at + 1).is_multiple_of(publish::<N>()) {
                self.written.0.store(at + 1, Ordering::Release);
            }
        }
        self.written.0.store(count, Ordering::Release);
    }

    /// Reads `count` messages. Must be called by one thread at a time.
    pub fn read(&self, count: u64, take: &mut impl Take<N>) {
        let mut at = 0;
        while at < count {
            let written = self.written.0.load(Ordering::Acquire);
            while at < written {
                let end = written.min(at + publish::<N>());
                for at in at..end {
                    // SAFETY: written, and not yet given back.
                    take.message(unsafe { &(*self.slot(at)).0 });
                }
                at = end;
                self.read.0.store(at, Ordering::Release);
                take.batch(at);
            }
        }
    }
}
