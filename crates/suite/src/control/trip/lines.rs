//! Bare cache lines between two threads or two processes, and a bell for whoever sleeps at them.
//!
//! ```text
//!   0      16      32        48                            one way; the way back behind it
//!   | sent | taken | asleep  | message | message | ... |
//! ```
//! `sent` is written by the sender, `taken` by the receiver, each in a cache line of its own. A receiver
//! that is about to sleep says so in `asleep` and looks once more; a sender that has sent looks at
//! `asleep`, and rings if it is set. Between the two steps of each is a full fence, so that one of them
//! sees the other.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use ring::Words;
use transport::Wait;

use super::super::words::Patience;
use super::stages::{Sends, Takes};
use crate::Error;

/// Messages that are under way at most.
const MESSAGES: u64 = 64;

/// Words from one index to the next: other cache lines.
const LINE: usize = 16;

const SENT: usize = 0;
const TAKEN: usize = LINE;
const ASLEEP: usize = 2 * LINE;
const FIRST: usize = 3 * LINE;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// Both ways.
pub struct Lines {
    words: Arc<Words>,
    bytes: usize,
}

/// Who holds an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Source and sink.
    Near,
    /// The relay.
    Far,
}

impl Lines {
    /// Between threads, for messages of so many bytes.
    ///
    /// # Errors
    /// No memory.
    pub fn private(bytes: usize) -> io::Result<Lines> {
        let words = Arc::new(Words::private(2 * way_words(bytes))?);
        Ok(Lines { words, bytes })
    }

    /// Between processes.
    ///
    /// # Errors
    /// No memory.
    pub fn shared(bytes: usize) -> io::Result<(Lines, OwnedFd)> {
        let (words, fd) = Words::shared(2 * way_words(bytes))?;
        let words = Arc::new(words);
        Ok((Lines { words, bytes }, fd))
    }

    /// Those of another process.
    ///
    /// # Errors
    /// There are none.
    pub fn join(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<Lines> {
        let words = Arc::new(Words::join(fd)?);
        match words.len() >= 2 * way_words(bytes) {
            true => Ok(Lines { words, bytes }),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The two ends of a side, with its end of the bell.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn ends(&self, side: Side, bell: &UnixStream) -> io::Result<(LineSender, LineReceiver)> {
        bell.set_nonblocking(true)?;
        let second = way_words(self.bytes);
        let (out, back) = match side {
            Side::Near => (0, second),
            Side::Far => (second, 0),
        };
        let way = |at| Way {
            words: self.words.clone(),
            at,
            stride: stride(self.bytes),
        };
        let sender = LineSender {
            way: way(out),
            sent: 0,
            bell: bell.try_clone()?,
        };
        let receiver = LineReceiver {
            way: way(back),
            taken: 0,
            bell: bell.try_clone()?,
        };
        Ok((sender, receiver))
    }
}

/// Words from a message to the next: whole cache lines.
fn stride(bytes: usize) -> usize {
    bytes.div_ceil(WORD).next_multiple_of(LINE)
}

/// Words of one way.
fn way_words(bytes: usize) -> usize {
    FIRST + MESSAGES as usize * stride(bytes)
}

/// One way of the two.
struct Way {
    words: Arc<Words>,
    at: usize,
    stride: usize,
}

impl Way {
    fn word(&self, which: usize) -> &AtomicU64 {
        &self.words[self.at + which]
    }

    /// The words of a message.
    fn message(&self, number: u64) -> &[AtomicU64] {
        let first = self.at + FIRST + (number % MESSAGES) as usize * self.stride;
        &self.words[first..first + self.stride]
    }
}

/// Where messages go in.
pub struct LineSender {
    way: Way,
    sent: u64,
    bell: UnixStream,
}

/// Where they come out.
pub struct LineReceiver {
    way: Way,
    taken: u64,
    bell: UnixStream,
}

impl Sends for LineSender {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let mut patience = Patience::default();
        while self.sent - self.way.word(TAKEN).load(Ordering::Acquire) == MESSAGES {
            patience.wait();
        }
        for (word, bytes) in self.way.message(self.sent).iter().zip(message.chunks(WORD)) {
            word.store(word_of(bytes), Ordering::Relaxed);
        }
        self.sent += 1;
        self.way.word(SENT).store(self.sent, Ordering::Release);
        fence(Ordering::SeqCst);
        let asleep = self.way.word(ASLEEP);
        if asleep.load(Ordering::Relaxed) == 1 && asleep.swap(0, Ordering::Relaxed) == 1 {
            let rung = self.bell.write_all(&[1]);
            rung.map_err(|error| Error::system("wake the other side", error))?;
        }
        Ok(())
    }
}

impl Takes for LineReceiver {
    fn take(&mut self, message: &mut [u8]) -> Result<bool, Error> {
        if self.way.word(SENT).load(Ordering::Acquire) == self.taken {
            return Ok(false);
        }
        let words = self.way.message(self.taken).iter();
        for (word, bytes) in words.zip(message.chunks_mut(WORD)) {
            let word = word.load(Ordering::Relaxed).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        self.taken += 1;
        self.way.word(TAKEN).store(self.taken, Ordering::Release);
        Ok(true)
    }
}

/// The last bytes of a message may be fewer than a word.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

impl Wait for LineReceiver {
    fn arm(&mut self) -> Result<bool, transport::Error> {
        self.way.word(ASLEEP).store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Ok(self.way.word(SENT).load(Ordering::Acquire) == self.taken)
    }

    fn disarm(&mut self) {
        let has_rung = self.way.word(ASLEEP).swap(0, Ordering::Relaxed) == 0;
        if has_rung {
            // It may be on its way yet: then the next sleep is a short one.
            let _ = self.bell.read(&mut [0; 64]);
        }
    }

    fn sources<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.bell.as_fd());
    }
}

#[cfg(test)]
mod tests {
    use transport::Strategy;

    use super::super::stages::tests::gets_through;
    use super::*;

    #[test]
    fn messages_get_through_whoever_sleeps() {
        for idle in [Strategy::Yield, Strategy::Park, Strategy::Adaptive] {
            let (lines, fd) = Lines::shared(30).unwrap();
            let joined = Lines::join(fd.as_fd(), 30).unwrap();
            let (near, far) = UnixStream::pair().unwrap();
            let (there, back) = lines.ends(Side::Near, &near).unwrap();
            let (answer, heard) = joined.ends(Side::Far, &far).unwrap();
            gets_through(there, heard, idle);
            gets_through(answer, back, idle);
        }
    }

    #[test]
    fn who_has_a_message_does_not_sleep() {
        let lines = Lines::private(8).unwrap();
        let (near, far) = UnixStream::pair().unwrap();
        let (mut there, _) = lines.ends(Side::Near, &near).unwrap();
        let (_, mut heard) = lines.ends(Side::Far, &far).unwrap();
        assert!(heard.arm().unwrap());
        there.send(&[7; 8]).unwrap();
        heard.disarm();
        assert!(!heard.arm().unwrap(), "a message is there");
        heard.disarm();
        let mut message = [0; 8];
        assert!(heard.take(&mut message).unwrap());
        assert_eq!(message, [7; 8]);
        assert!(!heard.take(&mut message).unwrap());
    }

    #[test]
    fn lines_of_smaller_messages_are_refused() {
        let (_, fd) = Lines::shared(8).unwrap();
        assert!(Lines::join(fd.as_fd(), 16384).is_err());
    }
}
