//! A ring of plain words between two threads or two processes: the rate at which one core can hand
//! words to another.
//!
//! ```text
//!   0        16       32         16 * (readers + 1)
//!   | written | read 0 | read 1 | ... | 2 MB of words, round and round |
//! ```
//! Indexes count words; each has a cache line of its own. The writer publishes its index every 32
//! KB, as the rings of edges do, and when there is no room. A reader reads in place and releases
//! all that it found at once.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use ring::SharedWords;

use crate::backoff::Backoff;
use crate::payload::Payload;
use crate::sink::ControlSink;

/// Words of the ring: 2 MB, as much as the ring of an edge between processes has.
const RING_WORDS: u64 = (2 << 20) / 8;

/// Words from one index to the next: two cache lines, since processors fetch lines in pairs.
const INDEX_STRIDE_WORDS: usize = 16;

/// Words that the writer writes between two stores of its index: 32 KB.
const BATCH_WORDS: u64 = 32 * 1024 / 8;

/// A ring of words, as seen from either end.
///
/// # Example
/// ```
/// use thalweg_control::{Payload, WordRing};
///
/// let (ring, payload) = (WordRing::new_private(1)?, Payload::with_bytes(64));
/// std::thread::scope(|scope| {
///     scope.spawn(|| ring.write(payload, 1000));
///     assert_eq!(ring.read(0, payload, 1000).count, 1000);
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct WordRing {
    words: SharedWords,
    readers: usize,
}

impl WordRing {
    /// A ring between threads of this process.
    ///
    /// # Errors
    /// The system has no memory for it.
    pub fn new_private(readers: usize) -> io::Result<WordRing> {
        let words = SharedWords::private(ring_words(readers))?;
        Ok(WordRing { words, readers })
    }

    /// A ring between processes, and the descriptor by which others join it.
    ///
    /// # Errors
    /// The system has no memory for it.
    pub fn new_shared(readers: usize) -> io::Result<(WordRing, OwnedFd)> {
        let (words, fd) = SharedWords::shared(ring_words(readers))?;
        Ok((WordRing { words, readers }, fd))
    }

    /// Joins the ring of another process by its descriptor.
    ///
    /// # Errors
    /// The descriptor is no segment, or too small for a ring with so many readers.
    pub fn join(fd: BorrowedFd<'_>, readers: usize) -> io::Result<WordRing> {
        let words = SharedWords::join(fd)?;
        if words.len() < ring_words(readers) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(WordRing { words, readers })
    }

    /// Writes `messages` messages; waits while there is no room.
    pub fn write(&self, payload: Payload, messages: u64) {
        self.write_noting(payload, messages, |_| ());
    }

    /// Writes like [`WordRing::write`], and calls a function with the number of each message before
    /// it is written, and at the end with `messages`.
    pub fn write_noting(&self, payload: Payload, messages: u64, mut note: impl FnMut(u64)) {
        let bytes = payload.words() as u64;
        let (mut head, mut limit, mut written) = (0, RING_WORDS, 0);
        for number in 0..messages {
            note(number);
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
        note(messages);
    }

    /// Reads `messages` messages as reader number `reader`, from 0 on.
    pub fn read(&self, reader: usize, payload: Payload, messages: u64) -> ControlSink {
        let (mut reader, mut backoff) = (self.word_reader(reader), Backoff::default());
        while reader.sink.count < messages {
            match reader.read_written(payload) {
                true => backoff = Backoff::default(),
                false => backoff.wait(),
            }
        }
        reader.sink
    }

    /// Reads `messages` messages as each of the readers, in turns on this thread, and calls a
    /// function with the number of messages that the first one has read. Returns a sink for each.
    pub fn read_all_noting(
        &self,
        payload: Payload,
        messages: u64,
        mut note: impl FnMut(u64),
    ) -> Vec<ControlSink> {
        let readers = (0..self.readers).map(|number| self.word_reader(number));
        let (mut readers, mut backoff) = (readers.collect::<Vec<_>>(), Backoff::default());
        note(0);
        while readers.iter().any(|reader| reader.sink.count < messages) {
            let mut has_read = false;
            for reader in &mut readers {
                has_read |= reader.read_written(payload);
            }
            if has_read {
                note(readers[0].sink.count);
                backoff = Backoff::default();
            } else {
                backoff.wait();
            }
        }
        readers.into_iter().map(|reader| reader.sink).collect()
    }

    fn word_reader(&self, number: usize) -> WordReader<'_> {
        WordReader {
            ring: self,
            number,
            tail: 0,
            sink: ControlSink::default(),
        }
    }

    fn write_message(&self, payload: Payload, number: u64, at: u64) {
        let full = payload.full_words();
        for piece in self.words_at(at, full) {
            for word in piece {
                word.store(number, Ordering::Relaxed);
            }
        }
        if payload.words() > full {
            let [rest, _] = self.words_at(at + full as u64, 1);
            rest[0].store(payload.rest_word(number), Ordering::Relaxed);
        }
    }

    fn read_message(&self, payload: Payload, at: u64) -> i64 {
        let (full, mut sum) = (payload.full_words(), 0_i64);
        for piece in self.words_at(at, full) {
            for word in piece {
                sum = sum.wrapping_add(word.load(Ordering::Relaxed) as i64);
            }
        }
        if payload.words() > full {
            let [rest, _] = self.words_at(at + full as u64, 1);
            sum = sum.wrapping_add(payload.rest_sum(rest[0].load(Ordering::Relaxed)));
        }
        sum
    }

    /// `count` words from index `at` on; in two pieces if they pass the end of the ring, else the
    /// second one is empty. A loop over each piece takes a tenth less time than one over both.
    #[inline(always)]
    fn words_at(&self, at: u64, count: usize) -> [&[AtomicU64]; 2] {
        let words = &self.words[INDEX_STRIDE_WORDS * (self.readers + 1)..][..RING_WORDS as usize];
        let start = (at % RING_WORDS) as usize;
        let first = count.min(words.len() - start);
        [&words[start..start + first], &words[..count - first]]
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

/// One reader of a ring, what it has read, and how far.
struct WordReader<'a> {
    ring: &'a WordRing,
    number: usize,
    /// Index of the next message, in words.
    tail: u64,
    sink: ControlSink,
}

impl WordReader<'_> {
    /// Reads the messages that are there, and gives their room back. `false`: there are none.
    fn read_written(&mut self, payload: Payload) -> bool {
        let head = self.ring.written_index().load(Ordering::Acquire);
        if head == self.tail {
            return false;
        }
        // In registers, not through `self`: short messages take a tenth longer otherwise.
        let (mut tail, mut sink) = (self.tail, self.sink);
        while tail < head {
            sink.add(self.ring.read_message(payload, tail));
            tail += payload.words() as u64;
        }
        (self.tail, self.sink) = (tail, sink);
        let index = self.ring.read_index(self.number);
        index.store(self.tail, Ordering::Release);
        true
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

    /// The first messages fit into the ring, so that a reader which releases under another's number
    /// fails here instead of holding the writer up.
    #[test]
    fn one_thread_reads_as_all_readers() {
        let payload = Payload::with_bytes(64);
        for messages in [1000, 100_000] {
            let bare = WordRing::new_private(2).unwrap();
            let (mut sent, mut read) = (0, 0);
            let sinks = thread::scope(|scope| {
                scope.spawn(|| bare.write_noting(payload, messages, |number| sent = number));
                bare.read_all_noting(payload, messages, |count| read = count)
            });
            assert_eq!((sent, read), (messages, messages));
            let numbers = (0..messages as i64).sum::<i64>();
            for (reader, sink) in sinks.iter().enumerate() {
                let read = bare.read_index(reader).load(Ordering::Relaxed);
                assert_eq!(read, messages * payload.words() as u64, "{reader}");
                let arrivals = sink.to_arrivals();
                let all = (messages, numbers * payload.full_words() as i64);
                assert_eq!((arrivals.count, arrivals.sum), all, "{reader}");
            }
        }
    }
}
