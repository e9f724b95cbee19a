//! rtrb: a wait-free ring between two threads.
//!
//! # Settings
//! A ring of words that holds 512 KB. Up to 32 messages, 16 KB at most, are put together in a
//! buffer, which stays in the first cache, and pushed as one slice, with one store of the index, as
//! its documentation recommends; a message alone goes at once. The reader takes all that there is
//! as one chunk, in place; less than 32 messages only if they have not become more since it last
//! looked, for a reader that is faster than the writer would otherwise fetch the index again for
//! each message (not so for latency). Both spin, each on a core of its own.

use rtrb::{Consumer, Producer, RingBuffer};

use crate::peer::{BuiltInPeer, locked_version};
use crate::peer_ends::{PeerReceive, PeerSend, sum_words};
use crate::{BoxError, ControlSink, PeerQuestion, PeerTask, peer_threads};

/// rtrb between two threads, with the settings of the module doc.
pub const PEER: BuiltInPeer = BuiltInPeer {
    name: "rtrb",
    path: suite::StreamPath::Threaded,
    version: || locked_version("rtrb"),
    settings: "512 KB of words, slices of up to 32 messages, chunks read in place, spinning",
    has_latency: true,
    run: |task| peer_threads::run(task, new_ends),
    serve_partner: None,
};

/// Messages in a push at most.
const BATCH_MESSAGES_MAX: usize = 32;
const BATCH_WORDS_MAX: usize = 2048;

struct RtrbSender {
    ring: Producer<u64>,
    words: usize,
    buffer: Vec<u64>,
}

struct RtrbReceiver {
    ring: Consumer<u64>,
    words: usize,
    /// Fewer words are taken only if no more have arrived since the last call.
    chunk_words_min: usize,
    /// Words that had arrived at the last call.
    available_words_last: usize,
}

fn new_ends(task: &PeerTask) -> Result<(RtrbSender, RtrbReceiver), BoxError> {
    let words = task.words();
    // A multiple of the message, so that no message passes the end of the ring.
    let (producer, consumer) = RingBuffer::new(task.queue_messages() * words);
    let sender = RtrbSender {
        ring: producer,
        words,
        buffer: vec![0; (BATCH_MESSAGES_MAX * words).min(BATCH_WORDS_MAX.max(words))],
    };
    let receiver = RtrbReceiver {
        ring: consumer,
        words,
        chunk_words_min: match task.question {
            PeerQuestion::Throughput => BATCH_MESSAGES_MAX * words,
            PeerQuestion::Latency => 0,
        },
        available_words_last: 0,
    };
    Ok((sender, receiver))
}

impl PeerSend for RtrbSender {
    #[inline]
    fn send(&mut self, next: u64, end: u64) -> Result<u64, BoxError> {
        let most = (self.buffer.len() / self.words).min((end - next) as usize);
        // The other side's index is read only if its cached value is not enough.
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

impl PeerReceive for RtrbReceiver {
    #[inline]
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        let whole = self.ring.slots() / self.words * self.words;
        let is_growing = whole > self.available_words_last && whole < self.chunk_words_min;
        self.available_words_last = whole;
        if is_growing {
            return Ok(());
        }
        let chunk = self.ring.read_chunk(whole)?;
        let (first, second) = chunk.as_slices();
        for message in first.chunks_exact(self.words) {
            sink.add(sum_words(message));
        }
        for message in second.chunks_exact(self.words) {
            sink.add(sum_words(message));
        }
        chunk.commit_all();
        self.available_words_last = 0;
        Ok(())
    }
}
