//! Credit: what a receiver tells its sender on the way back.
//!
//! Words of 8 bytes, little endian: up to which position everything was released, counted from the
//! beginning of the stream; or all ones: the receiver leaves. A position is absolute, so one that is
//! never sent costs nothing once a later one is.

use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// The word with which a receiver leaves.
const GOODBYE: u64 = u64::MAX;

const WORD_BYTES: usize = 8;

/// Words read at once.
const WORDS: usize = 64;

/// The receiver's side.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// The last word, and how much of it is out.
    word: [u8; WORD_BYTES],
    left: usize,
    told: u64,
}

impl Teller {
    /// The last position that was told.
    pub(crate) fn told(&self) -> u64 {
        self.told
    }

    /// Tells a position. `false`: not now, or never: the connection is over, as whoever reads from it
    /// will find out.
    pub(crate) fn tell(&mut self, stream: &TcpStream, position: u64) -> bool {
        if !self.finish(stream) {
            return false;
        }
        self.word = position.to_le_bytes();
        self.left = WORD_BYTES;
        self.finish(stream);
        // The rest of a word that is begun goes first the next time.
        let is_begun = self.left < WORD_BYTES;
        if is_begun {
            self.told = position;
        } else {
            self.left = 0;
        }
        is_begun
    }

    /// Says that the receiver leaves.
    pub(crate) fn leave(&mut self, stream: &TcpStream) {
        self.tell(stream, GOODBYE);
    }

    fn finish(&mut self, stream: &TcpStream) -> bool {
        while self.left > 0 {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(stream, &self.word[WORD_BYTES - self.left..], flags) {
                Ok(count) => self.left -= count,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        true
    }
}

/// The sender's side.
#[derive(Debug)]
pub(crate) struct Ear {
    bytes: [u8; WORDS * WORD_BYTES],
    filled: usize,
    released: u64,
}

/// Why there will be no more words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The receiver has left.
    Goodbye,
    /// The connection has broken: how.
    Broken(String),
}

impl Ear {
    /// For a receiver that has released everything up to a position.
    pub(crate) fn new(released: u64) -> Ear {
        Ear {
            bytes: [0; WORDS * WORD_BYTES],
            filled: 0,
            released,
        }
    }

    /// The position that was told last.
    pub(crate) fn released(&self) -> u64 {
        self.released
    }

    /// Reads what has come, of a stream that was sent up to a position. `true`: a new position was
    /// told.
    ///
    /// # Errors
    /// There will be no more.
    pub(crate) fn listen(&mut self, stream: &TcpStream, sent: u64) -> Result<bool, Over> {
        let before = self.released;
        loop {
            let room = &mut self.bytes[self.filled..];
            let room_bytes = room.len();
            let count = match rustix::net::recv(stream, room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(Over::Broken("its connection has ended".to_owned())),
                Ok((count, _)) => count,
                Err(Errno::AGAIN) => return Ok(self.released > before),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(Over::Broken(error.to_string().to_lowercase())),
            };
            self.filled += count;
            self.take_words(sent)?;
            if count < room_bytes {
                return Ok(self.released > before);
            }
        }
    }

    fn take_words(&mut self, sent: u64) -> Result<(), Over> {
        let whole = self.filled / WORD_BYTES * WORD_BYTES;
        for word in self.bytes[..whole].as_chunks::<WORD_BYTES>().0 {
            match u64::from_le_bytes(*word) {
                GOODBYE => return Err(Over::Goodbye),
                position if (self.released..=sent).contains(&position) => self.released = position,
                position => {
                    let why = format!(
                        "it says that it has released {position} bytes, after {} and of {sent}",
                        self.released
                    );
                    return Err(Over::Broken(why));
                }
            }
        }
        self.bytes.copy_within(whole..self.filled, 0);
        self.filled -= whole;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::media::tcp::loopback::pair;

    /// Listens until there is something.
    fn hear(ear: &mut Ear, stream: &TcpStream, sent: u64) -> Result<(), Over> {
        while !ear.listen(stream, sent)? {
            std::thread::yield_now();
        }
        Ok(())
    }

    #[test]
    fn the_last_position_counts() {
        let (receiver, sender) = pair();
        let (mut teller, mut ear) = (Teller::default(), Ear::new(0));
        assert_eq!(ear.listen(&sender, 1000), Ok(false));
        for position in 1..=1000 {
            assert!(teller.tell(&receiver, position));
        }
        while ear.released() < 1000 {
            hear(&mut ear, &sender, 1000).expect("positions");
        }
        teller.leave(&receiver);
        assert_eq!(hear(&mut ear, &sender, 1000), Err(Over::Goodbye));
    }

    #[test]
    fn words_come_in_pieces() {
        let (mut receiver, sender) = pair();
        let mut ear = Ear::new(0);
        let words = [3u64.to_le_bytes(), 4u64.to_le_bytes()].concat();
        receiver.write_all(&words[..13]).expect("written");
        hear(&mut ear, &sender, 4).expect("a position");
        assert_eq!(ear.released(), 3);
        receiver.write_all(&words[13..]).expect("written");
        hear(&mut ear, &sender, 4).expect("a position");
        assert_eq!(ear.released(), 4);
    }

    #[test]
    fn positions_that_cannot_be_break_the_connection() {
        for (first, second) in [(5, 4), (5, 9)] {
            let (receiver, sender) = pair();
            let (mut teller, mut ear) = (Teller::default(), Ear::new(0));
            teller.tell(&receiver, first);
            hear(&mut ear, &sender, 8).expect("a position");
            teller.tell(&receiver, second);
            let over = hear(&mut ear, &sender, 8);
            assert!(matches!(over, Err(Over::Broken(_))), "{over:?}");
        }
        let (receiver, sender) = pair();
        drop(receiver);
        let mut ear = Ear::new(0);
        let over = hear(&mut ear, &sender, 8);
        assert!(matches!(over, Err(Over::Broken(_))), "{over:?}");
    }
}
