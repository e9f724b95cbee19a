//! Credit: positions that a receiver reports to its sender.
//!
//! A report is a word of 8 bytes, little endian: the position up to which everything was released,
//! counted from the beginning of the stream; or all ones, when the receiver leaves. Positions are
//! absolute, so a report that is skipped costs nothing once a later one is sent.
//!
//! On a rail a second word follows a new number of batches: that number, with the highest bit set.
//! It says how many batches the receiver has got by this connection, in whatever order they stand
//! in the stream.

use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// Word with which a receiver leaves.
const GOODBYE: u64 = u64::MAX;

/// Highest bit of a word that is a number of batches.
const BATCHES: u64 = 1 << 63;

const WORD_BYTES: usize = 8;

/// Most words read with one call.
const WORDS_PER_READ: usize = 64;

/// Progress of a receiver, as it reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CreditReport {
    /// Position up to which everything was released.
    pub(crate) position: u64,
    /// Number of batches received by this connection; 0 on an edge without rails.
    pub(crate) batches: u64,
}

/// Reports credit, on the receiver's side.
#[derive(Debug, Default)]
pub(crate) struct CreditWriter {
    /// The last words, of which the bytes from `sent_bytes` up to `bytes` are not sent yet.
    words: [u8; 2 * WORD_BYTES],
    bytes: usize,
    sent_bytes: usize,
    reported: CreditReport,
}

impl CreditWriter {
    /// The last report that was sent.
    pub(crate) fn reported(&self) -> CreditReport {
        self.reported
    }

    /// Reports progress. `false`: not now, or never, because the connection has ended, as reading
    /// from it will show.
    pub(crate) fn report(&mut self, stream: &TcpStream, report: CreditReport) -> bool {
        if !self.write_rest(stream) {
            return false;
        }
        let words = [report.position, report.batches | BATCHES].map(u64::to_le_bytes);
        self.words.copy_from_slice(words.as_flattened());
        self.bytes = match report.batches == self.reported.batches {
            true => WORD_BYTES,
            false => 2 * WORD_BYTES,
        };
        self.sent_bytes = 0;
        self.write_rest(stream);
        // The rest of words that are sent in part goes first the next time.
        let is_begun = self.sent_bytes > 0;
        if is_begun {
            self.reported = report;
        } else {
            self.bytes = 0;
        }
        is_begun
    }

    /// Reports that the receiver leaves.
    pub(crate) fn send_goodbye(&mut self, stream: &TcpStream) {
        let position = GOODBYE;
        self.report(
            stream,
            CreditReport {
                position,
                ..self.reported
            },
        );
    }

    fn write_rest(&mut self, stream: &TcpStream) -> bool {
        while self.sent_bytes < self.bytes {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(stream, &self.words[self.sent_bytes..self.bytes], flags) {
                Ok(count) => self.sent_bytes += count,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        true
    }
}

/// Reads credit, on the sender's side.
#[derive(Debug)]
pub(crate) struct CreditReader {
    bytes: [u8; WORDS_PER_READ * WORD_BYTES],
    filled: usize,
    released: u64,
    /// Number of batches that the receiver has got; `None`: the edge has no rails.
    batches: Option<u64>,
}

/// The reason why no more credit comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// The receiver has left in order.
    Goodbye,
    /// The connection has broken, in this way.
    Broken(String),
}

impl CreditReader {
    /// For a receiver that has released everything up to the position `released`.
    pub(crate) fn new(released: u64) -> CreditReader {
        CreditReader {
            bytes: [0; WORDS_PER_READ * WORD_BYTES],
            filled: 0,
            released,
            batches: None,
        }
    }

    /// A reader like [`CreditReader::new`], for a rail.
    pub(crate) fn of_rail(released: u64) -> CreditReader {
        CreditReader {
            batches: Some(0),
            ..CreditReader::new(released)
        }
    }

    /// The number of batches that was reported last.
    pub(crate) fn batches(&self) -> u64 {
        self.batches.unwrap_or_default()
    }

    /// The position that was reported last.
    pub(crate) fn released(&self) -> u64 {
        self.released
    }

    /// Reads received words, of a stream that was sent up to position `sent`. `true`: progress was
    /// reported.
    ///
    /// # Errors
    /// No more credit comes, for the reason that the error says.
    pub(crate) fn read_credit(
        &mut self,
        stream: &TcpStream,
        sent: u64,
    ) -> Result<bool, ConnectionEnd> {
        let before = (self.released, self.batches);
        loop {
            let room = &mut self.bytes[self.filled..];
            let room_bytes = room.len();
            let count = match rustix::net::recv(stream, room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    return Err(ConnectionEnd::Broken("its connection has ended".to_owned()));
                }
                Ok((count, _)) => count,
                Err(Errno::AGAIN) => return Ok((self.released, self.batches) != before),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(ConnectionEnd::Broken(error.to_string().to_lowercase())),
            };
            self.filled += count;
            self.decode_words(sent)?;
            if count < room_bytes {
                return Ok((self.released, self.batches) != before);
            }
        }
    }

    fn decode_words(&mut self, sent: u64) -> Result<(), ConnectionEnd> {
        let whole = self.filled / WORD_BYTES * WORD_BYTES;
        for word in self.bytes[..whole].as_chunks::<WORD_BYTES>().0 {
            match u64::from_le_bytes(*word) {
                GOODBYE => return Err(ConnectionEnd::Goodbye),
                word if self
                    .batches
                    .is_some_and(|batches| word >= batches | BATCHES) =>
                {
                    self.batches = Some(word & !BATCHES);
                }
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

    /// Reads until there is credit or an end.
    fn wait_for_credit(
        reader: &mut CreditReader,
        stream: &TcpStream,
        sent: u64,
    ) -> Result<(), ConnectionEnd> {
        while !reader.read_credit(stream, sent)? {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// A report of an edge without rails.
    fn at(position: u64) -> CreditReport {
        CreditReport {
            position,
            batches: 0,
        }
    }

    #[test]
    fn rails_report_batches_and_other_edges_do_not() {
        for (mut reader, is_taken) in [
            (CreditReader::of_rail(0), true),
            (CreditReader::new(0), false),
        ] {
            let (receiver, sender) = loopback_pair();
            let mut writer = CreditWriter::default();
            let report = CreditReport {
                position: 8,
                batches: 3,
            };
            writer.report(&receiver, report);
            let read = wait_for_credit(&mut reader, &sender, 8);
            assert_eq!(read.is_ok(), is_taken, "{read:?}");
            assert_eq!((reader.released(), reader.batches() == 3), (8, is_taken));
        }
        let (receiver, sender) = loopback_pair();
        let (mut writer, mut reader) = (CreditWriter::default(), CreditReader::of_rail(0));
        for batches in [3, 2] {
            let position = 8;
            writer.report(&receiver, CreditReport { position, batches });
        }
        let end = (0..2).try_for_each(|_| wait_for_credit(&mut reader, &sender, 8));
        assert!(matches!(end, Err(ConnectionEnd::Broken(_))), "{end:?}");
    }

    #[test]
    fn the_last_position_counts() {
        let (receiver, sender) = loopback_pair();
        let (mut writer, mut reader) = (CreditWriter::default(), CreditReader::new(0));
        assert_eq!(reader.read_credit(&sender, 1000), Ok(false));
        for position in 1..=1000 {
            assert!(writer.report(&receiver, at(position)));
        }
        while reader.released() < 1000 {
            wait_for_credit(&mut reader, &sender, 1000).expect("positions");
        }
        writer.send_goodbye(&receiver);
        assert_eq!(
            wait_for_credit(&mut reader, &sender, 1000),
            Err(ConnectionEnd::Goodbye)
        );
    }

    #[test]
    fn words_come_in_pieces() {
        let (mut receiver, sender) = loopback_pair();
        let mut reader = CreditReader::new(0);
        let words = [3u64.to_le_bytes(), 4u64.to_le_bytes()].concat();
        receiver.write_all(&words[..13]).expect("written");
        wait_for_credit(&mut reader, &sender, 4).expect("a position");
        assert_eq!(reader.released(), 3);
        receiver.write_all(&words[13..]).expect("written");
        wait_for_credit(&mut reader, &sender, 4).expect("a position");
        assert_eq!(reader.released(), 4);
    }

    #[test]
    fn positions_that_cannot_be_break_the_connection() {
        for (first, second) in [(5, 4), (5, 9)] {
            let (receiver, sender) = loopback_pair();
            let (mut writer, mut reader) = (CreditWriter::default(), CreditReader::new(0));
            writer.report(&receiver, at(first));
            wait_for_credit(&mut reader, &sender, 8).expect("a position");
            writer.report(&receiver, at(second));
            let end = wait_for_credit(&mut reader, &sender, 8);
            assert!(matches!(end, Err(ConnectionEnd::Broken(_))), "{end:?}");
        }
        let (receiver, sender) = loopback_pair();
        drop(receiver);
        let mut reader = CreditReader::new(0);
        let end = wait_for_credit(&mut reader, &sender, 8);
        assert!(matches!(end, Err(ConnectionEnd::Broken(_))), "{end:?}");
    }
}
