//! The buffer that a receiver reads its connection into: whole frames are polled where they lie.
//!
//! ```text
//!   0       begin        polled         whole          end       capacity
//!   +--------+------------+--------------+--------------+----------+
//!   | given  | polled,    | whole frames | a frame that | read     |
//!   | back   | not given  | not polled   | is not all   | into     |
//!   |        | back       |              | there        |          |
//!   +--------+------------+--------------+--------------+----------+
//! ```
//! Frames begin at multiples of 8 on the wire, so they do here as long as what is moved to the front
//! is moved by such a multiple. A frame's length is looked at before anything is done with it: one
//! that is longer than agreed is refused as soon as its header is there.

use std::net::TcpStream;

use ring::frame::{Batch, HEADER_BYTES, Header, frame_bytes};
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::acknowledge;
use super::hello::Welcome;
use crate::Error;

/// Read from the connection at once, if there is so much. Small enough for the second level of
/// cache, large enough for few calls.
const READ_BYTES: usize = 256 * 1024;

/// So much is moved sooner than other memory is read into.
const LITTLE_BYTES: usize = 16 * 1024;

/// The largest payload that any sender may announce.
const FRAME_BYTES_MAX: usize = 1 << 26;

/// A receive buffer.
pub(crate) struct Intake {
    /// Words, so that it begins at a multiple of 8.
    words: Vec<u64>,
    begin: usize,
    polled: usize,
    whole: usize,
    end: usize,
    /// The longest frame, header and all.
    frame_max: usize,
    /// Something was read that the system has not acknowledged.
    is_unacknowledged: bool,
}

/// What came of reading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Bytes.
    Some,
    /// Nothing has come.
    Nothing,
    /// The buffer is full of what was not given back.
    Full,
    /// The connection is over: how it ended.
    Over(String),
}

impl Intake {
    /// For the frames of a sender.
    ///
    /// # Errors
    /// It announces frames of a length that nobody needs.
    pub(crate) fn agreed(name: &str, welcome: &Welcome) -> Result<Intake, Error> {
        let announced = welcome.frame_bytes_max as usize;
        if announced > FRAME_BYTES_MAX {
            return Err(Error::Refused(format!(
                "{name}: the sender announces frames of {announced} bytes; at most \
                 {FRAME_BYTES_MAX} are taken"
            )));
        }
        Ok(Intake::new(announced))
    }

    /// For frames with payloads of so many bytes at most.
    pub(crate) fn new(frame_bytes_max: usize) -> Intake {
        let frame_max = frame_bytes(frame_bytes_max);
        let bytes = (2 * frame_max).max(READ_BYTES);
        Intake {
            words: vec![0; bytes.div_ceil(8)],
            begin: 0,
            polled: 0,
            whole: 0,
            end: 0,
            frame_max,
            is_unacknowledged: false,
        }
    }

    /// Reads from the connection, once.
    pub(crate) fn read(&mut self, stream: &TcpStream) -> Read {
        self.make_room();
        let most = self.most();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let room = &mut bytes[self.end..];
        if room.is_empty() {
            return Read::Full;
        }
        let most = most.min(room.len());
        let room = &mut room[..most];
        loop {
            match rustix::net::recv(stream, &mut *room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Read::Over("its connection has ended".to_owned()),
                Ok((count, _)) => {
                    self.is_unacknowledged = true;
                    self.end += count;
                    return Read::Some;
                }
                Err(Errno::AGAIN) => {
                    self.acknowledge(stream);
                    return Read::Nothing;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Read::Over(error.to_string().to_lowercase()),
            }
        }
    }

    /// Bytes to be read at once: the rest of a large frame that has begun, so that it is not in the way
    /// of the next one; else much.
    fn most(&self) -> usize {
        let there = self.end - self.whole;
        match self.peek() {
            Ok(Some(header)) if there > LITTLE_BYTES => frame_bytes(header.len as usize)
                .saturating_sub(there)
                .max(1),
            _ => usize::MAX,
        }
    }

    /// Acknowledges what was read before, now that nothing more has come: in a stream the system does
    /// so by itself.
    fn acknowledge(&mut self, stream: &TcpStream) {
        if std::mem::take(&mut self.is_unacknowledged) {
            acknowledge::now(stream);
        }
    }

    /// Moves what is there to the front when it is little, so that the same memory is read into again
    /// and again while it is near, and when the rest of the buffer is short.
    fn make_room(&mut self) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let is_little = self.end - self.begin <= LITTLE_BYTES;
        if self.begin > 0 && (is_little || bytes.len() - self.end < self.frame_max) {
            bytes.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.whole -= self.begin;
            self.polled -= self.begin;
            self.begin = 0;
        }
    }

    /// The header of the first frame that was not taken, if it is there.
    ///
    /// # Errors
    /// It is none, or of a frame that is too long.
    #[inline]
    pub(crate) fn peek(&self) -> Result<Option<Header>, String> {
        let word = match self.words.get(self.whole / 8) {
            Some(word) if self.end - self.whole >= HEADER_BYTES => *word,
            _ => return Ok(None),
        };
        self.frame_at(word)?;
        Ok(Some(Header::from_word(word)))
    }

    /// Bytes of the frame with that header.
    ///
    /// # Errors
    /// It is none, or too long.
    #[inline]
    fn frame_at(&self, word: u64) -> Result<usize, String> {
        match Header::check(word) {
            Some(header) if frame_bytes(header.len as usize) <= self.frame_max => {
                Ok(frame_bytes(header.len as usize))
            }
            header => Err(self.wrong_frame(word, header)),
        }
    }

    #[cold]
    fn wrong_frame(&self, word: u64, header: Option<Header>) -> String {
        match header {
            Some(header) => format!(
                "a frame of {} bytes; at most {} were agreed on",
                header.len,
                self.frame_max - HEADER_BYTES
            ),
            None => format!("{word:#018x} where a frame should begin"),
        }
    }

    /// Takes the frame that was peeked at, if all of it is there.
    #[inline]
    pub(crate) fn take(&mut self, header: Header) -> bool {
        let to = self.whole + frame_bytes(header.len as usize);
        let is_there = to <= self.end;
        if is_there {
            self.whole = to;
        }
        is_there
    }

    /// Takes whole frames that are so many bytes together, as far as they are there: how many bytes.
    ///
    /// # Errors
    /// The first of them is none, is too long, or ends behind the last byte.
    pub(crate) fn take_some(&mut self, bytes: usize) -> Result<usize, String> {
        let (from, until) = (self.whole, self.end.min(self.whole + bytes));
        // Frames are often like the one before: then the next is found without waiting for this one.
        // To begin with, one that is empty.
        let (mut like, mut like_bytes) = (0, HEADER_BYTES);
        while let Some(&word) = self.words[..until / 8].get(self.whole / 8) {
            if word != like {
                match self.frame_at(word) {
                    Ok(bytes) => (like, like_bytes) = (word, bytes),
                    Err(why) => return self.taken_or(from, why),
                }
            }
            let to = self.whole + like_bytes;
            if to > from + bytes {
                let why = "a frame that is longer than what is left of its batch";
                return self.taken_or(from, why.to_owned());
            }
            if to > until {
                break;
            }
            self.whole = to;
        }
        Ok(self.whole - from)
    }

    /// What is wrong is said when it comes first.
    #[cold]
    fn taken_or(&self, from: usize, why: String) -> Result<usize, String> {
        match self.whole - from {
            0 => Err(why),
            taken => Ok(taken),
        }
    }

    /// The last words of what was taken, if there are so many.
    pub(crate) fn last_words<const N: usize>(&self) -> Option<[u64; N]> {
        let to = self.whole / 8;
        self.words
            .get(to.checked_sub(N)?..to)?
            .first_chunk()
            .copied()
    }

    /// Forgets what came of a frame that will not be completed: frames go on on another connection.
    pub(crate) fn forget_torn(&mut self) {
        self.end = self.whole;
        self.is_unacknowledged = false;
    }

    /// Whole frames that were not polled.
    #[inline]
    pub(crate) fn poll(&mut self) -> Batch<'_> {
        let from = self.polled;
        self.polled = self.whole;
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        Batch::new(&bytes[from..self.whole])
    }

    /// Whether there are whole frames to poll.
    pub(crate) fn has_frames(&self) -> bool {
        self.polled < self.whole
    }

    /// Gives back what was polled: how many bytes.
    #[inline]
    pub(crate) fn release(&mut self) -> usize {
        let released = self.polled - self.begin;
        self.begin = self.polled;
        released
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::media::tcp::loopback::pair;

    fn frame(len: usize) -> Vec<u8> {
        let header = Header {
            len: len as u32,
            kind: 1,
            flags: 0,
        };
        let mut bytes = header.to_word().to_ne_bytes().to_vec();
        bytes.resize(frame_bytes(len), len as u8);
        bytes
    }

    /// Takes whole frames until so many have been.
    fn take(intake: &mut Intake, stream: &TcpStream, count: usize) -> Vec<usize> {
        let mut lens = Vec::new();
        while lens.len() < count {
            assert!(!matches!(intake.read(stream), Read::Over(_)));
            while let Some(header) = intake.peek().expect("sound frames") {
                if !intake.take(header) {
                    break;
                }
            }
            lens.extend(intake.poll().map(|frame| {
                assert!(frame.bytes.as_ptr().addr().is_multiple_of(8));
                frame.bytes.len()
            }));
            intake.release();
        }
        lens
    }

    #[test]
    fn frames_of_any_cut_come_whole() {
        let (mut sender, receiver) = pair();
        let mut intake = Intake::new(5000);
        let lens = [0, 1, 7, 8, 4999, 5000, 64];
        let bytes: Vec<u8> = lens.iter().flat_map(|len| frame(*len)).collect();
        for cut in (1..bytes.len()).step_by(61) {
            sender.write_all(&bytes[..cut]).expect("written");
            let _ = intake.read(&receiver);
            sender.write_all(&bytes[cut..]).expect("written");
            assert_eq!(take(&mut intake, &receiver, lens.len()), lens, "{cut}");
        }
    }

    #[test]
    fn a_large_frame_is_read_to_its_end() {
        let (mut sender, receiver) = pair();
        let mut intake = Intake::new(100_000);
        let large = frame(2 * LITTLE_BYTES);
        sender
            .write_all(&large[..large.len() - 1])
            .expect("written");
        while intake.end < large.len() - 1 {
            assert!(!matches!(intake.read(&receiver), Read::Over(_)));
        }
        assert_eq!(intake.most(), 1);
        sender
            .write_all(&large[large.len() - 1..])
            .expect("written");
        sender.write_all(&frame(8)).expect("written");
        assert_eq!(take(&mut intake, &receiver, 2), [2 * LITTLE_BYTES, 8]);
    }

    #[test]
    fn what_is_not_given_back_holds_room() {
        let (mut sender, receiver) = pair();
        let mut intake = Intake::new(5000);
        let many = frame(5000).repeat(2 * READ_BYTES / 5008);
        let writer = std::thread::spawn(move || sender.write_all(&many).map(|()| sender));
        let mut count = 0;
        while intake.read(&receiver) != Read::Full {
            while let Some(header) = intake.peek().expect("sound frames") {
                if !intake.take(header) {
                    break;
                }
            }
            count += intake.poll().count();
        }
        assert_eq!(count, READ_BYTES / 5008);
        assert!(intake.release() > 0);
        let rest = 2 * READ_BYTES / 5008 - count;
        take(&mut intake, &receiver, rest);
        drop(writer.join());
    }

    #[test]
    fn wrong_frames_are_refused() {
        let (mut sender, receiver) = pair();
        let mut intake = Intake::new(1000);
        let read = |intake: &mut Intake| while intake.read(&receiver) == Read::Nothing {};
        sender.write_all(&frame(1001)[..8]).expect("written");
        read(&mut intake);
        let why = intake.peek().expect_err("refused");
        assert_eq!(why, "a frame of 1001 bytes; at most 1000 were agreed on");
        let mut intake = Intake::new(1000);
        sender.write_all(&[0xff; 8]).expect("written");
        read(&mut intake);
        assert!(intake.peek().is_err());
    }

    #[test]
    fn a_run_of_frames_ends_before_what_is_wrong() {
        let (mut sender, receiver) = pair();
        let mut intake = Intake::new(1000);
        let good = [frame(8), frame(8), frame(100)].concat();
        let torn = &frame(64)[..40];
        sender.write_all(&[&good, torn].concat()).expect("written");
        while intake.end < good.len() + torn.len() {
            assert!(!matches!(intake.read(&receiver), Read::Over(_)));
        }
        // The first two, and not the third, of a batch that ends in the third.
        assert_eq!(intake.take_some(32 + 16), Ok(32));
        let why = intake.take_some(16).expect_err("too long for its batch");
        assert!(why.contains("longer than what is left"), "{why}");
        // The third, and not the fourth, which has not come as a whole.
        assert_eq!(intake.take_some(1 << 20), Ok(good.len() - 32));
        assert_eq!(intake.take_some(1 << 20), Ok(0));
        assert_eq!(intake.poll().count(), 3);
        sender.write_all(&frame(64)[40..]).expect("written");
        sender.write_all(&[0xff; 8]).expect("written");
        while intake.end < good.len() + 72 + 8 {
            assert!(!matches!(intake.read(&receiver), Read::Over(_)));
        }
        assert_eq!(intake.take_some(1 << 20), Ok(72));
        assert!(intake.take_some(1 << 20).is_err());
        assert_eq!(intake.poll().count(), 1);
    }
}
