//! Bare cache lines between two threads or two processes, and a bell for whoever sleeps at them.
//!
//! ```text
//!   0      16      32        48                            one way; the way back behind it
//!   | sent | taken | asleep  | message | message | ... |
//! ```
//! `sent` is written by the sender, `taken` by the receiver, each in a cache line of its own. A
//! receiver that is about to sleep says so in `asleep` and looks once more; a sender that has sent
//! looks at `asleep`, and rings if it is set. Between the two steps of each is a full fence, so
//! that one of them sees the other.

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

/// Messages that are under way at most.
const MESSAGES_MAX: u64 = 64;

/// Words from one index to the next: other cache lines.
const INDEX_STRIDE_WORDS: usize = 16;

const SENT_WORD: usize = 0;
const TAKEN_WORD: usize = INDEX_STRIDE_WORDS;
const ASLEEP_WORD: usize = 2 * INDEX_STRIDE_WORDS;
const MESSAGE_WORD: usize = 3 * INDEX_STRIDE_WORDS;

/// Bytes of a word.
const WORD_BYTES: usize = size_of::<u64>();

/// Both ways.
pub struct CacheLineChannel {
    words: Arc<SharedWords>,
    bytes: usize,
}

/// Who holds an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripSide {
    /// Source and sink.
    Near,
    /// The relay.
    Far,
}

impl CacheLineChannel {
    /// Between threads, for messages of so many bytes.
    ///
    /// # Errors
    /// No memory.
    pub fn new_private(bytes: usize) -> io::Result<CacheLineChannel> {
        let words = Arc::new(SharedWords::private(2 * queue_words(bytes))?);
        Ok(CacheLineChannel { words, bytes })
    }

    /// Between processes.
    ///
    /// # Errors
    /// No memory.
    pub fn new_shared(bytes: usize) -> io::Result<(CacheLineChannel, OwnedFd)> {
        let (words, fd) = SharedWords::shared(2 * queue_words(bytes))?;
        let words = Arc::new(words);
        Ok((CacheLineChannel { words, bytes }, fd))
    }

    /// Those of another process.
    ///
    /// # Errors
    /// There are none.
    pub fn join(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<CacheLineChannel> {
        let words = Arc::new(SharedWords::join(fd)?);
        match words.len() >= 2 * queue_words(bytes) {
            true => Ok(CacheLineChannel { words, bytes }),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The two ends of a side, with its end of the bell.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn ends(
        &self,
        side: TripSide,
        bell: &UnixStream,
    ) -> io::Result<(CacheLineSender, CacheLineReceiver)> {
        bell.set_nonblocking(true)?;
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
            wakeup_socket: bell.try_clone()?,
        };
        let receiver = CacheLineReceiver {
            queue: queue(back),
            taken: 0,
            wakeup_socket: bell.try_clone()?,
        };
        Ok((sender, receiver))
    }
}

/// Words from a message to the next: whole cache lines.
fn stride_words(bytes: usize) -> usize {
    bytes
        .div_ceil(WORD_BYTES)
        .next_multiple_of(INDEX_STRIDE_WORDS)
}

/// Words of one way.
fn queue_words(bytes: usize) -> usize {
    MESSAGE_WORD + MESSAGES_MAX as usize * stride_words(bytes)
}

/// One way of the two.
struct CacheLineQueue {
    words: Arc<SharedWords>,
    first_word: usize,
    stride: usize,
}

impl CacheLineQueue {
    fn word(&self, which: usize) -> &AtomicU64 {
        &self.words[self.first_word + which]
    }

    /// The words of a message.
    fn message(&self, number: u64) -> &[AtomicU64] {
        let first = self.first_word + MESSAGE_WORD + (number % MESSAGES_MAX) as usize * self.stride;
        &self.words[first..first + self.stride]
    }
}

/// Where messages go in.
pub struct CacheLineSender {
    queue: CacheLineQueue,
    sent: u64,
    wakeup_socket: UnixStream,
}

/// Where they come out.
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
            let rung = self.wakeup_socket.write_all(&[1]);
            rung.map_err(|error| Error::system("wake the other side", error))?;
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

/// The last bytes of a message may be fewer than a word.
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
        let has_rung = self.queue.word(ASLEEP_WORD).swap(0, Ordering::Relaxed) == 0;
        if has_rung {
            // It may be on its way yet: then the next sleep is a short one.
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
            let (answer, heard) = joined.ends(TripSide::Far, &far).unwrap();
            gets_through(there, heard, idle);
            gets_through(answer, back, idle);
        }
    }

    #[test]
    fn who_has_a_message_does_not_sleep() {
        let lines = CacheLineChannel::new_private(8).unwrap();
        let (near, far) = UnixStream::pair().unwrap();
        let (mut there, _) = lines.ends(TripSide::Near, &near).unwrap();
        let (_, mut heard) = lines.ends(TripSide::Far, &far).unwrap();
        assert!(heard.arm().unwrap());
        there.send(&[7; 8]).unwrap();
        heard.disarm();
        assert!(!heard.arm().unwrap(), "a message is there");
        heard.disarm();
        let mut message = [0; 8];
        assert!(heard.try_take(&mut message).unwrap());
        assert_eq!(message, [7; 8]);
        assert!(!heard.try_take(&mut message).unwrap());
    }

    #[test]
    fn lines_of_smaller_messages_are_refused() {
        let (_, fd) = CacheLineChannel::new_shared(8).unwrap();
        assert!(CacheLineChannel::join(fd.as_fd(), 16384).is_err());
    }
}
