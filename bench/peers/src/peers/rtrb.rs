//! rtrb: a wait-free ring between two threads.
//!
//! # Settings
//! A ring of words that holds 512 KB. Messages are put together in a buffer of 2 KB, which stays in the
//! first cache, and pushed as one slice: up to 32 messages of 64 bytes with one store of the index, as
//! its documentation recommends for small items; larger messages go one by one. The reader takes all
//! that there is as one chunk, in place. Both spin, each on a core of its own.

use rtrb::{Consumer, Producer, RingBuffer};

use crate::ends::{Receives, Sends, add_up_words};
use crate::peer::{Peer, locked_version};
use crate::{Failure, Sink, Task, threads};

/// See the module.
pub const PEER: Peer = Peer {
    name: "rtrb",
    path: suite::Path::Threaded,
    version: || locked_version("rtrb"),
    settings: "512 KB of words, pushed as slices of up to 2 KB, read as chunks in place, spinning",
    has_latency: true,
    run: |task| threads::run(task, pair),
    serve: None,
};

/// Words that are pushed together.
const TOGETHER: usize = 256;

struct Sender {
    ring: Producer<u64>,
    words: usize,
    buffer: Vec<u64>,
}

struct Receiver {
    ring: Consumer<u64>,
    words: usize,
}

fn pair(task: &Task) -> Result<(Sender, Receiver), Failure> {
    let words = task.words();
    // A multiple of the message, so that none goes round the end.
    let (producer, consumer) = RingBuffer::new(task.capacity() * words);
    let sender = Sender {
        ring: producer,
        words,
        buffer: vec![0; TOGETHER.max(words)],
    };
    let receiver = Receiver {
        ring: consumer,
        words,
    };
    Ok((sender, receiver))
}

impl Sends for Sender {
    #[inline]
    fn send(&mut self, next: u64, end: u64) -> Result<u64, Failure> {
        let most = (self.buffer.len() / self.words).min((end - next) as usize);
        // What is known without a look at the other side is enough, if it is anything.
        let cached = self.ring.cached_slots() / self.words;
        let room = match cached {
            0 => self.ring.slots() / self.words,
            some => some,
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
        let chunk = self.ring.read_chunk(whole)?;
        let (first, second) = chunk.as_slices();
        for message in first.chunks_exact(self.words) {
            sink.take(add_up_words(message));
        }
        for message in second.chunks_exact(self.words) {
            sink.take(add_up_words(message));
        }
        chunk.commit_all();
        Ok(())
    }
}
