//! Credit: what a receiver tells its sender on the way back.
//!
//! Words of 8 bytes, little endian: up to which position everything was released, counted from the
//! beginning of the stream; or all ones: the receiver leaves. A position is absolute, so one that
//! is never sent costs nothing once a later one is.

use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// The word with which a receiver leaves.
const GOODBYE: u64 = u64::MAX;

const WORD_BYTES: usize = 8;

/// Words read at once.
const WORDS_PER_READ: usize = 64;

/// The receiver's side.
#[derive(Debug, Default)]
pub(crate) struct CreditWriter {
    /// The last word, and how much of it is out.
    word: [u8; WORD_BYTES],
    unsent_bytes: usize,
    reported: u64,
}

impl CreditWriter {
    /// The last position that was told.
    pub(crate) fn reported(&self) -> u64 {
        self.reported
    }

    /// Tells a position. `false`: not now, or never: the connection is over, as whoever reads from
    /// it will find out.
    pub(crate) fn report(&mut self, stream: &TcpStream, position: u64) -> bool {
        if !self.write_rest(stream) {
            return false;
        }
        self.word = position.to_le_bytes();
        self.unsent_bytes = WORD_BYTES;
        self.write_rest(stream);
        // The rest of a word that is begun goes first the next time.
        let is_begun = self.unsent_bytes < WORD_BYTES;
        if is_begun {
            self.reported = position;
        } else {
            self.unsent_bytes = 0;
        }
        is_begun
    }

    /// Says that the receiver leaves.
    pub(crate) fn send_goodbye(&mut self, stream: &TcpStream) {
        self.report(stream, GOODBYE);
    }

    fn write_rest(&mut self, stream: &TcpStream) -> bool {
        while self.unsent_bytes > 0 {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(stream, &self.word[WORD_BYTES - self.unsent_bytes..], flags) {
                Ok(count) => self.unsent_bytes -= count,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        true
    }
}

/// The sender's side.
#[derive(Debug)]
pub(crate) struct CreditReader {
    bytes: [u8; WORDS_PER_READ * WORD_BYTES],
    filled: usize,
    released: u64,
}

/// Why there will be no more words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// The receiver has left.
    Goodbye,
    /// The connection has broken: how.
    Broken(String),
}

impl CreditReader {
    /// For a receiver that has released everything up to a position.
    pub(crate) fn new(released: u64) -> CreditReader {
        CreditReader {
            bytes: [0; WORDS_PER_READ * WORD_BYTES],
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
    pub(crate) fn read_credit(
        &mut self,
        stream: &TcpStream,
        sent: u64,
    ) -> Result<bool, ConnectionEnd> {
        let before = self.released;
        loop {
            let room = &mut self.bytes[self.filled..];
            let room_bytes = room.len();
            let count = match rustix::net::recv(stream, room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    return Err(ConnectionEnd::Broken("its connection has ended".to_owned()));
                }
                Ok((count, _)) => count,
                Err(Errno::AGAIN) => return Ok(self.released > before),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(ConnectionEnd::Broken(error.to_string().to_lowercase())),
            };
            self.filled += count;
            self.decode_words(sent)?;
            if count < room_bytes {
                return Ok(self.released > before);
            }
        }
    }

    fn decode_words(&mut self, sent: u64) -> Result<(), ConnectionEnd> {
        let whole = self.filled / WORD_BYTES * WORD_BYTES;
        for word in self.bytes[..whole].as_chunks::<WORD_BYTES>().0 {
            match u64::from_le_bytes(*word) {
                GOODBYE => return Err(ConnectionEnd::Goodbye),
                position if (self.released..=sent).contains(&position) => self.released = position,
                position => {
                    let why = format!(
                        "it says that it has released {position} bytes, after {} and of {sent}",
                        self.released
                    );
                    return Err(ConnectionEnd::Broken(why));
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
    use crate::media::tcp_edge::loopback::loopback_pair;

    /// Listens until there is something.
    fn hear(ear: &mut CreditReader, stream: &TcpStream, sent: u64) -> Result<(), ConnectionEnd> {
        while !ear.read_credit(stream, sent)? {
            std::thread::yield_now();
        }
        Ok(())
    }

    #[test]
    fn the_last_position_counts() {
        let (receiver, sender) = loopback_pair();
        let (mut teller, mut ear) = (CreditWriter::default(), CreditReader::new(0));
        assert_eq!(ear.read_credit(&sender, 1000), Ok(false));
        for position in 1..=1000 {
            assert!(teller.report(&receiver, position));
        }
        while ear.released() < 1000 {
            hear(&mut ear, &sender, 1000).expect("positions");
        }
        teller.send_goodbye(&receiver);
        assert_eq!(hear(&mut ear, &sender, 1000), Err(ConnectionEnd::Goodbye));
    }

    #[test]
    fn words_come_in_pieces() {
        let (mut receiver, sender) = loopback_pair();
        let mut ear = CreditReader::new(0);
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
            let (receiver, sender) = loopback_pair();
            let (mut teller, mut ear) = (CreditWriter::default(), CreditReader::new(0));
            teller.report(&receiver, first);
            hear(&mut ear, &sender, 8).expect("a position");
            teller.report(&receiver, second);
            let over = hear(&mut ear, &sender, 8);
            assert!(matches!(over, Err(ConnectionEnd::Broken(_))), "{over:?}");
        }
        let (receiver, sender) = loopback_pair();
        drop(receiver);
        let mut ear = CreditReader::new(0);
        let over = hear(&mut ear, &sender, 8);
        assert!(matches!(over, Err(ConnectionEnd::Broken(_))), "{over:?}");
    }
}
