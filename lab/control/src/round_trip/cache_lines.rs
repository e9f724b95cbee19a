//! Bare cache lines between two threads or two processes, and a socket that wakes a sleeping
//! receiver.
//!
//! ```text
//!   0      16      32        48                            one way; the way back behind it
//!   | sent | taken | asleep  | message | message | ... |
//! ```
//! `sent` is written by the sender and `taken` by the receiver, each in a cache line of its own. A
//! receiver that is about to sleep sets `asleep` and looks once more. A sender that has sent looks
//! at `asleep`, and writes to the wakeup socket if it is set. A full fence lies between the two
//! steps of each side, so at least one of them sees the other.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use ring::SharedWords;
use transport::Waitable;

use super::trip_stages::{SendMessage, TakeMessage};
use crate::Error;
use crate::backoff::Backoff;

/// Messages in a queue at most, far more than a paced sender has under way.
const MESSAGES_MAX: u64 = 64;

/// Words from one index to the next: two cache lines, since processors fetch lines in pairs.
const INDEX_STRIDE_WORDS: usize = 16;

const SENT_WORD: usize = 0;
const TAKEN_WORD: usize = INDEX_STRIDE_WORDS;
const ASLEEP_WORD: usize = 2 * INDEX_STRIDE_WORDS;
const MESSAGE_WORD: usize = 3 * INDEX_STRIDE_WORDS;

/// Bytes of a word.
const WORD_BYTES: usize = size_of::<u64>();

/// Two queues of cache lines, one in each direction.
pub struct CacheLineChannel {
    words: Arc<SharedWords>,
    bytes: usize,
}

/// The side that holds an end of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripSide {
    /// Side of source and sink.
    Near,
    /// Side of the relay.
    Far,
}

impl CacheLineChannel {
    /// A channel between threads, for messages of `bytes` bytes.
    ///
    /// # Errors
    /// The system has no memory for it.
    pub fn new_private(bytes: usize) -> io::Result<CacheLineChannel> {
        let words = Arc::new(SharedWords::private(2 * queue_words(bytes))?);
        Ok(CacheLineChannel { words, bytes })
    }

    /// A channel between processes, and the descriptor by which the other one joins it.
    ///
    /// # Errors
    /// The system has no memory for it.
    pub fn new_shared(bytes: usize) -> io::Result<(CacheLineChannel, OwnedFd)> {
        let (words, fd) = SharedWords::shared(2 * queue_words(bytes))?;
        let words = Arc::new(words);
        Ok((CacheLineChannel { words, bytes }, fd))
    }

    /// Joins the channel of another process by its descriptor.
    ///
    /// # Errors
    /// The descriptor is no segment, or too small for messages of `bytes` bytes.
    pub fn join(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<CacheLineChannel> {
        let words = Arc::new(SharedWords::join(fd)?);
        match words.len() >= 2 * queue_words(bytes) {
            true => Ok(CacheLineChannel { words, bytes }),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The two ends of a side, with its end of the wakeup socket.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn ends(
        &self,
        side: TripSide,
        wakeup: &UnixStream,
    ) -> io::Result<(CacheLineSender, CacheLineReceiver)> {
        wakeup.set_nonblocking(true)?;
        let second = queue_words(self.bytes);
        let (out, back) = match side {
            TripSide::Near => (0, second),
            TripSide::Far => (second, 0),
        };
        let queue = |at| CacheLineQueue {
            words: self.words.clone(),
            first_word: at,
            stride: stride_words(self.bytes),
        };
        let sender = CacheLineSender {
            queue: queue(out),
            sent: 0,
            wakeup_socket: wakeup.try_clone()?,
        };
        let receiver = CacheLineReceiver {
            queue: queue(back),
            taken: 0,
            wakeup_socket: wakeup.try_clone()?,
        };
        Ok((sender, receiver))
    }
}

/// Words from one message to the next: whole cache lines.
fn stride_words(bytes: usize) -> usize {
    bytes
        .div_ceil(WORD_BYTES)
        .next_multiple_of(INDEX_STRIDE_WORDS)
}

/// Words of one queue: indexes and messages.
fn queue_words(bytes: usize) -> usize {
    MESSAGE_WORD + MESSAGES_MAX as usize * stride_words(bytes)
}

/// The queue of one direction.
struct CacheLineQueue {
    words: Arc<SharedWords>,
    first_word: usize,
    stride: usize,
}

impl CacheLineQueue {
    fn word(&self, which: usize) -> &AtomicU64 {
        &self.words[self.first_word + which]
    }

    /// The words of message `number`.
    fn message(&self, number: u64) -> &[AtomicU64] {
        let first = self.first_word + MESSAGE_WORD + (number % MESSAGES_MAX) as usize * self.stride;
        &self.words[first..first + self.stride]
    }
}

/// The sending end of a queue.
pub struct CacheLineSender {
    queue: CacheLineQueue,
    sent: u64,
    wakeup_socket: UnixStream,
}

/// The receiving end of a queue.
pub struct CacheLineReceiver {
    queue: CacheLineQueue,
    taken: u64,
    wakeup_socket: UnixStream,
}

impl SendMessage for CacheLineSender {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let mut backoff = Backoff::default();
        while self.sent - self.queue.word(TAKEN_WORD).load(Ordering::Acquire) == MESSAGES_MAX {
            backoff.wait();
        }
        for (word, bytes) in self
            .queue
            .message(self.sent)
            .iter()
            .zip(message.chunks(WORD_BYTES))
        {
            word.store(partial_word(bytes), Ordering::Relaxed);
        }
        self.sent += 1;
        self.queue
            .word(SENT_WORD)
            .store(self.sent, Ordering::Release);
        fence(Ordering::SeqCst);
        let asleep = self.queue.word(ASLEEP_WORD);
        if asleep.load(Ordering::Relaxed) == 1 && asleep.swap(0, Ordering::Relaxed) == 1 {
            let woken = self.wakeup_socket.write_all(&[1]);
            woken.map_err(|error| Error::system("wake the other side", error))?;
        }
        Ok(())
    }
}

impl TakeMessage for CacheLineReceiver {
    fn try_take(&mut self, message: &mut [u8]) -> Result<bool, Error> {
        if self.queue.word(SENT_WORD).load(Ordering::Acquire) == self.taken {
            return Ok(false);
        }
        let words = self.queue.message(self.taken).iter();
        for (word, bytes) in words.zip(message.chunks_mut(WORD_BYTES)) {
            let word = word.load(Ordering::Relaxed).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        self.taken += 1;
        self.queue
            .word(TAKEN_WORD)
            .store(self.taken, Ordering::Release);
        Ok(true)
    }
}

/// The word of up to eight bytes; those that are missing are 0.
fn partial_word(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD_BYTES];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

impl Waitable for CacheLineReceiver {
    fn arm(&mut self) -> Result<bool, transport::Error> {
        self.queue.word(ASLEEP_WORD).store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Ok(self.queue.word(SENT_WORD).load(Ordering::Acquire) == self.taken)
    }

    fn disarm(&mut self) {
        let is_woken = self.queue.word(ASLEEP_WORD).swap(0, Ordering::Relaxed) == 0;
        if is_woken {
            // The byte may not have arrived yet: then the next sleep is a short one.
            let _ = self.wakeup_socket.read(&mut [0; 64]);
        }
    }

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.wakeup_socket.as_fd());
    }
}

#[cfg(test)]
mod tests {
    use transport::IdleStrategy;

    use super::super::trip_stages::tests::gets_through;
    use super::*;

    #[test]
    fn messages_get_through_whoever_sleeps() {
        for idle in [
            IdleStrategy::Yield,
            IdleStrategy::Park,
            IdleStrategy::Adaptive,
        ] {
            let (lines, fd) = CacheLineChannel::new_shared(30).unwrap();
            let joined = CacheLineChannel::join(fd.as_fd(), 30).unwrap();
            let (near, far) = UnixStream::pair().unwrap();
            let (there, back) = lines.ends(TripSide::Near, &near).unwrap();
            let (returned, forward) = joined.ends(TripSide::Far, &far).unwrap();
            gets_through(there, forward, idle);
            gets_through(returned, back, idle);
        }
    }

    #[test]
    fn who_has_a_message_does_not_sleep() {
        let lines = CacheLineChannel::new_private(8).unwrap();
        let (near, far) = UnixStream::pair().unwrap();
        let (mut there, _) = lines.ends(TripSide::Near, &near).unwrap();
        let (_, mut forward) = lines.ends(TripSide::Far, &far).unwrap();
        assert!(forward.arm().unwrap());
        there.send(&[7; 8]).unwrap();
        forward.disarm();
        assert!(!forward.arm().unwrap(), "a message is there");
        forward.disarm();
        let mut message = [0; 8];
        assert!(forward.try_take(&mut message).unwrap());
        assert_eq!(message, [7; 8]);
        assert!(!forward.try_take(&mut message).unwrap());
    }

    #[test]
    fn lines_of_smaller_messages_are_refused() {
        let (_, fd) = CacheLineChannel::new_shared(8).unwrap();
        assert!(CacheLineChannel::join(fd.as_fd(), 16384).is_err());
    }
}
