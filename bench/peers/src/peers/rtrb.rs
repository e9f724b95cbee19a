//! rtrb: a wait-free ring between two threads.
//!
//! # Settings
//! A ring of words that holds 512 KB. Up to 32 messages, 16 KB at most, are put together in a buffer,
//! which stays in the first cache, and pushed as one slice, with one store of the index, as its
//! documentation recommends; a message alone goes at once. The reader takes all that there is as one
//! chunk, in place; less than 32 messages only if they have not become more since it last looked, for a
//! reader that is faster than the writer would otherwise fetch the index again for each message (not so
//! for latency). Both spin, each on a core of its own.

use rtrb::{Consumer, Producer, RingBuffer};

use crate::ends::{Receives, Sends, add_up_words};
use crate::peer::{Peer, locked_version};
use crate::{Failure, Question, Sink, Task, threads};

/// See the module.
pub const PEER: Peer = Peer {
    name: "rtrb",
    path: suite::Path::Threaded,
    version: || locked_version("rtrb"),
    settings: "512 KB of words, slices of up to 32 messages, chunks read in place, spinning",
    has_latency: true,
    run: |task| threads::run(task, pair),
    serve: None,
};

/// Messages that are pushed together, and their words at most.
const TOGETHER: usize = 32;
const WORDS_TOGETHER: usize = 2048;

struct Sender {
    ring: Producer<u64>,
    words: usize,
    buffer: Vec<u64>,
}

struct Receiver {
    ring: Consumer<u64>,
    words: usize,
    /// Fewer words are taken only if they have not become more since the last look.
    enough: usize,
    /// Words that were there then.
    seen: usize,
}

fn pair(task: &Task) -> Result<(Sender, Receiver), Failure> {
    let words = task.words();
    // A multiple of the message, so that none goes round the end.
    let (producer, consumer) = RingBuffer::new(task.capacity() * words);
    let sender = Sender {
        ring: producer,
        words,
        buffer: vec![0; (TOGETHER * words).min(WORDS_TOGETHER.max(words))],
    };
    let receiver = Receiver {
        ring: consumer,
        words,
        enough: match task.question {
            Question::Throughput => TOGETHER * words,
            Question::Latency => 0,
        },
        seen: 0,
    };
    Ok((sender, receiver))
}

impl Sends for Sender {
    #[inline]
    fn send(&mut self, next: u64, end: u64) -> Result<u64, Failure> {
        let most = (self.buffer.len() / self.words).min((end - next) as usize);
        // The other side's index is looked at only if what is known of it is not enough.
        let known = self.ring.cached_slots() / self.words;
        let room = match known >= most {
            true => known,
            false => self.ring.slots() / self.words,
        };
        let count = most.min(room);
        let message = self.buffer.chunks_exact_mut(self.words);
        for (message, number) in message.zip(next..next + count as u64) {
            message.fill(number);
        }
        self.ring
            .push_entire_slice(&self.buffer[..count * self.words])?;
        Ok(count as u64)
    }
}

impl Receives for Receiver {
    #[inline]
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        let whole = self.ring.slots() / self.words * self.words;
        let is_growing = whole > self.seen && whole < self.enough;
        self.seen = whole;
        if is_growing {
            return Ok(());
        }
        let chunk = self.ring.read_chunk(whole)?;
        let (first, second) = chunk.as_slices();
        for message in first.chunks_exact(self.words) {
            sink.take(add_up_words(message));
        }
        for message in second.chunks_exact(self.words) {
            sink.take(add_up_words(message));
        }
        chunk.commit_all();
        self.seen = 0;
        Ok(())
    }
}
