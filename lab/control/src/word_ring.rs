//! A ring of plain words between two threads or two processes: what a core can hand to another.
//!
//! ```text
//!   0        16       32         16 * (readers + 1)
//!   | written | read 0 | read 1 | ... | 2 MB of words, round and round |
//! ```
//! Indexes count words and are in cache lines of their own. The writer publishes what it has
//! written every 32 KB, as a ring does, and when there is no room; a reader reads in place and
//! gives back all that there was.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use ring::SharedWords;

use crate::backoff::Backoff;
use crate::payload::Payload;
use crate::sink::ControlSink;

/// Words of the ring: as many bytes as an edge between processes has.
const RING_WORDS: u64 = (2 << 20) / 8;

/// Words between two indexes.
const INDEX_STRIDE_WORDS: usize = 16;

/// Words between two stores of the index.
const BATCH_WORDS: u64 = 32 * 1024 / 8;

/// Both ends' view of the ring.
pub struct WordRing {
    words: SharedWords,
    readers: usize,
}

impl WordRing {
    /// Between threads.
    ///
    /// # Errors
    /// No memory.
    pub fn new_private(readers: usize) -> io::Result<WordRing> {
        let words = SharedWords::private(ring_words(readers))?;
        Ok(WordRing { words, readers })
    }

    /// Between processes.
    ///
    /// # Errors
    /// No memory.
    pub fn new_shared(readers: usize) -> io::Result<(WordRing, OwnedFd)> {
        let (words, fd) = SharedWords::shared(ring_words(readers))?;
        Ok((WordRing { words, readers }, fd))
    }

    /// The ring of another process.
    ///
    /// # Errors
    /// It is none.
    pub fn join(fd: BorrowedFd<'_>, readers: usize) -> io::Result<WordRing> {
        let words = SharedWords::join(fd)?;
        if words.len() < ring_words(readers) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(WordRing { words, readers })
    }

    /// Sends so many messages.
    pub fn write(&self, payload: Payload, messages: u64) {
        let bytes = payload.words() as u64;
        let (mut head, mut limit, mut written) = (0, RING_WORDS, 0);
        for number in 0..messages {
            let mut backoff = Backoff::default();
            while head + bytes > limit {
                limit = self.slowest_index() + RING_WORDS;
                backoff.wait();
            }
            self.write_message(payload, number, head);
            head += bytes;
            let is_last = number + 1 == messages || head + bytes > limit;
            if is_last || head - written >= BATCH_WORDS {
                self.written_index().store(head, Ordering::Release);
                written = head;
            }
        }
    }

    /// Takes so many messages as one of the readers.
    pub fn read(&self, reader: usize, payload: Payload, messages: u64) -> ControlSink {
        let (mut sink, mut tail) = (ControlSink::default(), 0);
        let mut backoff = Backoff::default();
        while sink.count < messages {
            let head = self.written_index().load(Ordering::Acquire);
            if head == tail {
                backoff.wait();
                continue;
            }
            backoff = Backoff::default();
            while tail < head {
                sink.add(self.read_message(payload, tail));
                tail += payload.words() as u64;
            }
            self.read_index(reader).store(tail, Ordering::Release);
        }
        sink
    }

    fn write_message(&self, payload: Payload, number: u64, at: u64) {
        for word in self.words_at(at, payload.full_words()) {
            word.store(number, Ordering::Relaxed);
        }
        for word in self.words_at(
            at + payload.full_words() as u64,
            payload.words() - payload.full_words(),
        ) {
            word.store(payload.rest_word(number), Ordering::Relaxed);
        }
    }

    fn read_message(&self, payload: Payload, at: u64) -> i64 {
        let wholes = self.words_at(at, payload.full_words());
        let sum = wholes.fold(0_i64, |sum, word| {
            sum.wrapping_add(word.load(Ordering::Relaxed) as i64)
        });
        let rest = self.words_at(
            at + payload.full_words() as u64,
            payload.words() - payload.full_words(),
        );
        rest.fold(sum, |sum, word| {
            sum.wrapping_add(payload.rest_sum(word.load(Ordering::Relaxed)))
        })
    }

    /// So many words from an index on: two pieces where they go round the end.
    fn words_at(&self, at: u64, count: usize) -> impl Iterator<Item = &AtomicU64> {
        let words = &self.words[INDEX_STRIDE_WORDS * (self.readers + 1)..][..RING_WORDS as usize];
        let start = (at % RING_WORDS) as usize;
        let first = count.min(words.len() - start);
        words[start..start + first]
            .iter()
            .chain(&words[..count - first])
    }

    fn written_index(&self) -> &AtomicU64 {
        &self.words[0]
    }

    fn read_index(&self, reader: usize) -> &AtomicU64 {
        &self.words[INDEX_STRIDE_WORDS * (reader + 1)]
    }

    fn slowest_index(&self) -> u64 {
        let all = (0..self.readers).map(|reader| self.read_index(reader).load(Ordering::Acquire));
        all.min().unwrap_or(u64::MAX - RING_WORDS)
    }
}

fn ring_words(readers: usize) -> usize {
    INDEX_STRIDE_WORDS * (readers + 1) + RING_WORDS as usize
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn every_reader_gets_every_message() {
        let bare = WordRing::new_private(2).unwrap();
        let (payload, messages) = (Payload::with_bytes(12), 100_000);
        thread::scope(|scope| {
            let bare = &bare;
            let readers = [0, 1]
                .map(|reader| scope.spawn(move || bare.read(reader, payload, messages).count));
            bare.write(payload, messages);
            for reader in readers {
                assert_eq!(reader.join().unwrap(), messages);
            }
        });
    }
}
