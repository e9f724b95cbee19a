//! A ring of plain words between two threads or two processes: what a core can hand to another.
//!
//! ```text
//!   0        16       32         16 * (readers + 1)
//!   | written | read 0 | read 1 | ... | 2 MB of words, round and round |
//! ```
//! Indexes count words and are in cache lines of their own. The writer publishes what it has written
//! every 32 KB, as a ring does, and when there is no room; a reader reads in place and gives back all
//! that there was.

use std::hint::spin_loop;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use ring::Words;

use super::payload::Payload;
use super::sink::Sink;

/// Words of the ring: as many bytes as an edge between processes has.
const WORDS: u64 = (2 << 20) / 8;

/// Words between two indexes.
const LINE: usize = 16;

/// Words between two stores of the index.
const BATCH: u64 = 32 * 1024 / 8;

/// Both ends' view of the ring.
pub struct Bare {
    words: Words,
    readers: usize,
}

impl Bare {
    /// Between threads.
    ///
    /// # Errors
    /// No memory.
    pub fn private(readers: usize) -> io::Result<Bare> {
        let words = Words::private(len(readers))?;
        Ok(Bare { words, readers })
    }

    /// Between processes.
    ///
    /// # Errors
    /// No memory.
    pub fn shared(readers: usize) -> io::Result<(Bare, OwnedFd)> {
        let (words, fd) = Words::shared(len(readers))?;
        Ok((Bare { words, readers }, fd))
    }

    /// The ring of another process.
    ///
    /// # Errors
    /// It is none.
    pub fn join(fd: BorrowedFd<'_>, readers: usize) -> io::Result<Bare> {
        let words = Words::join(fd)?;
        if words.len() < len(readers) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Bare { words, readers })
    }

    /// Sends so many messages.
    pub fn write(&self, payload: Payload, messages: u64) {
        let bytes = payload.words() as u64;
        let (mut head, mut limit, mut written) = (0, WORDS, 0);
        for number in 0..messages {
            let mut patience = Patience::default();
            while head + bytes > limit {
                limit = self.slowest() + WORDS;
                patience.wait();
            }
            self.put(payload, number, head);
            head += bytes;
            let is_last = number + 1 == messages || head + bytes > limit;
            if is_last || head - written >= BATCH {
                self.written().store(head, Ordering::Release);
                written = head;
            }
        }
    }

    /// Takes so many messages as one of the readers.
    pub fn read(&self, reader: usize, payload: Payload, messages: u64) -> Sink {
        let (mut sink, mut tail) = (Sink::default(), 0);
        let mut patience = Patience::default();
        while sink.count < messages {
            let head = self.written().load(Ordering::Acquire);
            if head == tail {
                patience.wait();
                continue;
            }
            patience = Patience::default();
            while tail < head {
                sink.take(self.take(payload, tail));
                tail += payload.words() as u64;
            }
            self.index(reader).store(tail, Ordering::Release);
        }
        sink
    }

    fn put(&self, payload: Payload, number: u64, at: u64) {
        for word in self.run(at, payload.wholes()) {
            word.store(number, Ordering::Relaxed);
        }
        for word in self.run(
            at + payload.wholes() as u64,
            payload.words() - payload.wholes(),
        ) {
            word.store(payload.rest(number), Ordering::Relaxed);
        }
    }

    fn take(&self, payload: Payload, at: u64) -> i64 {
        let wholes = self.run(at, payload.wholes());
        let sum = wholes.fold(0_i64, |sum, word| {
            sum.wrapping_add(word.load(Ordering::Relaxed) as i64)
        });
        let rest = self.run(
            at + payload.wholes() as u64,
            payload.words() - payload.wholes(),
        );
        rest.fold(sum, |sum, word| {
            sum.wrapping_add(payload.rest_sum(word.load(Ordering::Relaxed)))
        })
    }

    /// So many words from an index on: two pieces where they go round the end.
    fn run(&self, at: u64, count: usize) -> impl Iterator<Item = &AtomicU64> {
        let words = &self.words[LINE * (self.readers + 1)..][..WORDS as usize];
        let start = (at % WORDS) as usize;
        let first = count.min(words.len() - start);
        words[start..start + first]
            .iter()
            .chain(&words[..count - first])
    }

    fn written(&self) -> &AtomicU64 {
        &self.words[0]
    }

    fn index(&self, reader: usize) -> &AtomicU64 {
        &self.words[LINE * (reader + 1)]
    }

    fn slowest(&self) -> u64 {
        let all = (0..self.readers).map(|reader| self.index(reader).load(Ordering::Acquire));
        all.min().unwrap_or(u64::MAX - WORDS)
    }
}

fn len(readers: usize) -> usize {
    LINE * (readers + 1) + WORDS as usize
}

/// Spins; gives way now and then, should the other side be without a core.
#[derive(Default)]
pub struct Patience(u32);

impl Patience {
    /// There is nothing to do.
    pub fn wait(&mut self) {
        self.0 += 1;
        match self.0.is_multiple_of(SPINS) {
            true => thread::yield_now(),
            false => spin_loop(),
        }
    }
}

/// Between two of them.
const SPINS: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_gets_every_message() {
        let bare = Bare::private(2).unwrap();
        let (payload, messages) = (Payload::of(12), 100_000);
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
