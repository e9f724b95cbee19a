//! One direction of a connection of the fabric for tests: the operations on their way, and the
//! receive buffers of the node that posts them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::rng::FabricRng;
use crate::memory::Mapping;

/// Bytes that are placed at once: those of a word.
const WORD_BYTES: usize = 8;

/// Number for the peer's end of a connection that no peer has accepted.
pub(super) const NOT_ACCEPTED: usize = usize::MAX;

/// Operations of one node to another, in the order in which they were posted.
pub(super) struct TransferQueue {
    /// Number of the node that posts, and of its connection.
    pub(super) from: (u32, usize),
    /// Number of the other node, and of its connection.
    pub(super) to: (u32, usize),
    pub(super) transfers: VecDeque<Transfer>,
    /// Operations at the end of the queue that do not begin yet: more were said to follow.
    pub(super) held: usize,
    /// Receive buffers of the node that posts, for what comes the other way.
    pub(super) receives: VecDeque<PostedReceive>,
    /// Polls for which nothing moves.
    pub(super) paused_polls: usize,
    pub(super) is_open: bool,
    /// Whether the node that posts has ended the connection, and what it has sent still arrives.
    pub(super) is_left: bool,
    /// Whether the other node has ended the connection, so that nothing arrives there any more.
    pub(super) is_severed: bool,
}

/// An operation on its way.
pub(super) struct Transfer {
    pub(super) kind: TransferKind,
    pub(super) source: TransferSource,
    /// Where the bytes go; `None` for a message that has not found its receive buffer yet.
    pub(super) target: Option<MemoryPlace>,
    pub(super) bytes: usize,
    pub(super) completion: Option<u64>,
    pub(super) immediate: Option<u64>,
    /// Words that are not placed yet; `None` before the first is.
    pub(super) words_left: Option<Vec<usize>>,
}

/// Kind of an operation on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransferKind {
    Write,
    Read,
    Send,
}

/// A place in a registered memory.
#[derive(Clone)]
pub(super) struct MemoryPlace {
    pub(super) mapping: Arc<Mapping>,
    pub(super) offset: usize,
}

/// Where the bytes of an operation come from.
pub(super) enum TransferSource {
    /// Registered memory, read when the bytes are placed.
    Memory(MemoryPlace),
    /// Bytes that were copied when the operation was posted.
    Inline(Vec<u8>),
}

/// A receive buffer that no message has filled yet.
pub(super) struct PostedReceive {
    pub(super) place: MemoryPlace,
    pub(super) bytes: usize,
    pub(super) completion: u64,
}

impl TransferQueue {
    /// Whether the queue is one of a node, at either end.
    pub(super) fn is_of(&self, node: u32) -> bool {
        [self.from.0, self.to.0].contains(&node)
    }

    /// Number of operations that have begun, or may begin.
    pub(super) fn begun(&self) -> usize {
        self.transfers.len() - self.held.min(self.transfers.len())
    }
}

impl Transfer {
    /// Copies the bytes that the operation brings: they are on their way.
    pub(super) fn copy_source(&mut self) {
        if let TransferSource::Memory(place) = &self.source {
            let mut copied = vec![0; self.bytes];
            place.load(0, &mut copied);
            self.source = TransferSource::Inline(copied);
        }
    }

    /// Places some words, in any order or from the first on. Returns whether all are placed.
    pub(super) fn advance(&mut self, rng: &mut FabricRng, reorders_words: bool) -> bool {
        let Some(target) = &self.target else {
            return false;
        };
        let words = self.bytes.div_ceil(WORD_BYTES);
        let left = self
            .words_left
            .get_or_insert_with(|| (0..words).rev().collect());
        for _ in 0..1 + rng.below(words.max(1)) {
            let Some(last) = left.len().checked_sub(1) else {
                break;
            };
            let at = if reorders_words {
                rng.below(left.len())
            } else {
                last
            };
            let word = left.swap_remove(at);
            let begin = word * WORD_BYTES;
            let len = WORD_BYTES.min(self.bytes - begin);
            let mut bytes = [0; WORD_BYTES];
            match &self.source {
                TransferSource::Memory(place) => place.load(begin, &mut bytes[..len]),
                TransferSource::Inline(all) => {
                    bytes[..len].copy_from_slice(&all[begin..begin + len])
                }
            }
            target.store(begin, &bytes[..len]);
        }
        left.is_empty()
    }
}

impl MemoryPlace {
    /// Loads the bytes that lie `offset` bytes behind the place.
    pub(super) fn load(&self, offset: usize, into: &mut [u8]) {
        for (at, byte) in into.iter_mut().enumerate() {
            *byte = self.byte(offset + at).load(Ordering::Relaxed);
        }
    }

    /// Stores bytes `offset` bytes behind the place; a whole word as one.
    fn store(&self, offset: usize, bytes: &[u8]) {
        let start = self.offset + offset;
        match bytes.first_chunk::<WORD_BYTES>() {
            Some(word) if start.is_multiple_of(WORD_BYTES) => {
                assert!(start + WORD_BYTES <= self.mapping.len());
                let address = self.mapping.address().wrapping_byte_add(start);
                // SAFETY: an aligned word of the mapping, which lives as long as `self`.
                let target = unsafe { AtomicU64::from_ptr(address.cast()) };
                target.store(u64::from_ne_bytes(*word), Ordering::Release);
            }
            _ => {
                for (at, byte) in bytes.iter().enumerate() {
                    self.byte(offset + at).store(*byte, Ordering::Release);
                }
            }
        }
    }

    fn byte(&self, offset: usize) -> &AtomicU8 {
        let at = self.offset + offset;
        assert!(at < self.mapping.len());
        let address = self.mapping.address().wrapping_byte_add(at);
        // SAFETY: a byte of the mapping, which lives as long as `self`.
        unsafe { AtomicU8::from_ptr(address.cast()) }
    }
}
