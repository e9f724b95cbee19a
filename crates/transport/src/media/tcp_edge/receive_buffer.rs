//! The buffer that a receiver reads its connection into: whole frames are polled in place.
//!
//! ```text
//!   0       released     polled         taken          read      capacity
//!   +--------+------------+--------------+--------------+----------+
//!   | room   | polled,    | whole frames | an incom-    | room to  |
//!   |        | not        | not polled   | plete frame  | read     |
//!   |        | released   |              |              | into     |
//!   +--------+------------+--------------+--------------+----------+
//! ```
//! Frames begin at multiples of 8 on the wire. They do so here too, because bytes are moved to the
//! front by a multiple of 8. A frame's length is checked before anything is done with it: a frame
//! longer than agreed is refused as soon as its header is there.

use std::net::TcpStream;

use ring::frame::{FrameBatch, FrameHeader, HEADER_BYTES, frame_bytes};
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::acknowledge;
use super::handshake::HandshakeReply;
use crate::Error;

/// Bytes read with one call, if as many have come. Small enough for the second level of cache,
/// large enough for few calls.
const READ_BYTES: usize = 256 * 1024;

/// Most bytes that are moved to the front of the buffer: moving them costs less than reading into
/// memory that is not cached.
const MOVE_BYTES_MAX: usize = 16 * 1024;

/// Most bytes of a payload that a sender may announce: a bound against broken replies.
const FRAME_BYTES_MAX: usize = 1 << 26;

/// A buffer of received frames. Its indexes are in bytes, in the order of the module's picture.
pub(crate) struct ReceiveBuffer {
    /// Words rather than bytes, so that the buffer begins at a multiple of 8.
    words: Vec<u64>,
    released_end: usize,
    polled_end: usize,
    taken_end: usize,
    read_end: usize,
    /// Bytes of the longest frame, with its header.
    frame_with_header_bytes_max: usize,
    /// Bytes were read that are not acknowledged yet.
    is_unacknowledged: bool,
}

/// Result of reading from the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// Some bytes were read.
    Received,
    /// No bytes have come.
    WouldBlock,
    /// The buffer is full of frames that were not released.
    Full,
    /// The connection has ended, in this way.
    Closed(String),
}

impl ReceiveBuffer {
    /// A buffer for the frames that a sender announces in its reply.
    ///
    /// # Errors
    /// The sender announces frames above [`FRAME_BYTES_MAX`].
    pub(crate) fn from_reply(name: &str, reply: &HandshakeReply) -> Result<ReceiveBuffer, Error> {
        let announced = reply.payload_bytes_max as usize;
        if announced > FRAME_BYTES_MAX {
            return Err(Error::Refused(format!(
                "{name}: the sender announces frames of {announced} bytes; at most \
                 {FRAME_BYTES_MAX} are taken"
            )));
        }
        Ok(ReceiveBuffer::new(announced))
    }

    /// A buffer for frames with payloads of at most `payload_bytes_max` bytes.
    pub(crate) fn new(payload_bytes_max: usize) -> ReceiveBuffer {
        let frame_max = frame_bytes(payload_bytes_max);
        let bytes = (2 * frame_max).max(READ_BYTES);
        ReceiveBuffer {
            words: vec![0; bytes.div_ceil(8)],
            released_end: 0,
            polled_end: 0,
            taken_end: 0,
            read_end: 0,
            frame_with_header_bytes_max: frame_max,
            is_unacknowledged: false,
        }
    }

    /// Reads from the connection once, without waiting.
    pub(crate) fn read(&mut self, stream: &TcpStream) -> ReadOutcome {
        self.make_room();
        let most = self.read_bytes_max();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let room = &mut bytes[self.read_end..];
        if room.is_empty() {
            return ReadOutcome::Full;
        }
        let most = most.min(room.len());
        let room = &mut room[..most];
        loop {
            match rustix::net::recv(stream, &mut *room, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return ReadOutcome::Closed("its connection has ended".to_owned()),
                Ok((count, _)) => {
                    self.is_unacknowledged = true;
                    self.read_end += count;
                    return ReadOutcome::Received;
                }
                Err(Errno::AGAIN) => {
                    self.acknowledge(stream);
                    return ReadOutcome::WouldBlock;
                }
                Err(Errno::INTR) => {}
                Err(error) => return ReadOutcome::Closed(error.to_string().to_lowercase()),
            }
        }
    }

    /// Most bytes to read with one call: the rest of a large frame that has begun, so that the next
    /// one can begin at the front; otherwise no limit.
    fn read_bytes_max(&self) -> usize {
        let there = self.read_end - self.taken_end;
        match self.peek_header() {
            Ok(Some(header)) if there > MOVE_BYTES_MAX => frame_bytes(header.len as usize)
                .saturating_sub(there)
                .max(1),
            _ => usize::MAX,
        }
    }

    /// Acknowledges bytes read before, now that no more have come: in a stream the system does so
    /// by itself.
    fn acknowledge(&mut self, stream: &TcpStream) {
        if std::mem::take(&mut self.is_unacknowledged) {
            acknowledge::send_acknowledgement(stream);
        }
    }

    /// Moves unreleased bytes to the front when they are few, so that the same cached memory is
    /// read into again, and when the rest of the buffer is short.
    fn make_room(&mut self) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let is_little = self.read_end - self.released_end <= MOVE_BYTES_MAX;
        if self.released_end > 0
            && (is_little || bytes.len() - self.read_end < self.frame_with_header_bytes_max)
        {
            bytes.copy_within(self.released_end..self.read_end, 0);
            self.read_end -= self.released_end;
            self.taken_end -= self.released_end;
            self.polled_end -= self.released_end;
            self.released_end = 0;
        }
    }

    /// Header of the first frame that was not taken, if it is there.
    ///
    /// # Errors
    /// The header is invalid, or its frame is too long.
    #[inline]
    pub(crate) fn peek_header(&self) -> Result<Option<FrameHeader>, String> {
        let word = match self.words.get(self.taken_end / 8) {
            Some(word) if self.read_end - self.taken_end >= HEADER_BYTES => *word,
            _ => return Ok(None),
        };
        self.checked_frame_bytes(word)?;
        Ok(Some(FrameHeader::from_word(word)))
    }

    /// Bytes of the frame with this header word.
    ///
    /// # Errors
    /// The header is invalid, or its frame is too long.
    #[inline]
    fn checked_frame_bytes(&self, word: u64) -> Result<usize, String> {
        match FrameHeader::try_from_word(word) {
            Some(header)
                if frame_bytes(header.len as usize) <= self.frame_with_header_bytes_max =>
            {
                Ok(frame_bytes(header.len as usize))
            }
            header => Err(self.invalid_frame_message(word, header)),
        }
    }

    #[cold]
    fn invalid_frame_message(&self, word: u64, header: Option<FrameHeader>) -> String {
        match header {
            Some(header) => format!(
                "a frame of {} bytes; at most {} were agreed on",
                header.len,
                self.frame_with_header_bytes_max - HEADER_BYTES
            ),
            None => format!("{word:#018x} where a frame should begin"),
        }
    }

    /// Takes the frame whose header was peeked at. `false`: it is not complete yet.
    #[inline]
    pub(crate) fn take_frame(&mut self, header: FrameHeader) -> bool {
        let to = self.taken_end + frame_bytes(header.len as usize);
        let is_there = to <= self.read_end;
        if is_there {
            self.taken_end = to;
        }
        is_there
    }

    /// Takes the complete frames among the next `bytes` bytes, and returns their bytes.
    ///
    /// # Errors
    /// The first frame is invalid, is too long, or ends behind those bytes.
    pub(crate) fn take_frames(&mut self, bytes: usize) -> Result<usize, String> {
        let (from, until) = (self.taken_end, self.read_end.min(self.taken_end + bytes));
        // Frames are often like the one before: then the next is found without waiting for this
        // one's header. The first comparison is with an empty frame.
        let (mut like, mut like_bytes) = (0, HEADER_BYTES);
        while let Some(&word) = self.words[..until / 8].get(self.taken_end / 8) {
            if word != like {
                match self.checked_frame_bytes(word) {
                    Ok(bytes) => (like, like_bytes) = (word, bytes),
                    Err(why) => return self.taken_or(from, why),
                }
            }
            let to = self.taken_end + like_bytes;
            if to > from + bytes {
                let why = "a frame that is longer than what is left of its batch";
                return self.taken_or(from, why.to_owned());
            }
            if to > until {
                break;
            }
            self.taken_end = to;
        }
        Ok(self.taken_end - from)
    }

    /// Reports an error only if no frame was taken before it.
    #[cold]
    fn taken_or(&self, from: usize, why: String) -> Result<usize, String> {
        match self.taken_end - from {
            0 => Err(why),
            taken => Ok(taken),
        }
    }

    /// The last `N` words that were taken, if there are as many.
    pub(crate) fn last_words<const N: usize>(&self) -> Option<[u64; N]> {
        let to = self.taken_end / 8;
        self.words
            .get(to.checked_sub(N)?..to)?
            .first_chunk()
            .copied()
    }

    /// Drops the bytes of an incomplete frame, which will be sent again on another connection.
    pub(crate) fn discard_partial_frame(&mut self) {
        self.read_end = self.taken_end;
        self.is_unacknowledged = false;
    }

    /// Returns whole frames that were not polled yet.
    #[inline]
    pub(crate) fn poll(&mut self) -> FrameBatch<'_> {
        let from = self.polled_end;
        self.polled_end = self.taken_end;
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        FrameBatch::new(&bytes[from..self.taken_end])
    }

    /// Whether there are whole frames to poll.
    pub(crate) fn has_frames(&self) -> bool {
        self.polled_end < self.taken_end
    }

    /// Releases the polled frames, and returns their bytes.
    #[inline]
    pub(crate) fn release(&mut self) -> usize {
        let released = self.polled_end - self.released_end;
        self.released_end = self.polled_end;
        released
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::media::tcp_edge::loopback::loopback_pair;

    fn frame(len: usize) -> Vec<u8> {
        let header = FrameHeader {
            len: len as u32,
            kind: 1,
            flags: 0,
        };
        let mut bytes = header.to_word().to_ne_bytes().to_vec();
        bytes.resize(frame_bytes(len), len as u8);
        bytes
    }

    /// Takes whole frames until there are `count` of them.
    fn take(intake: &mut ReceiveBuffer, stream: &TcpStream, count: usize) -> Vec<usize> {
        let mut lens = Vec::new();
        while lens.len() < count {
            assert!(!matches!(intake.read(stream), ReadOutcome::Closed(_)));
            while let Some(header) = intake.peek_header().expect("sound frames") {
                if !intake.take_frame(header) {
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
        let (mut sender, receiver) = loopback_pair();
        let mut intake = ReceiveBuffer::new(5000);
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
        let (mut sender, receiver) = loopback_pair();
        let mut intake = ReceiveBuffer::new(100_000);
        let large = frame(2 * MOVE_BYTES_MAX);
        sender
            .write_all(&large[..large.len() - 1])
            .expect("written");
        while intake.read_end < large.len() - 1 {
            assert!(!matches!(intake.read(&receiver), ReadOutcome::Closed(_)));
        }
        assert_eq!(intake.read_bytes_max(), 1);
        sender
            .write_all(&large[large.len() - 1..])
            .expect("written");
        sender.write_all(&frame(8)).expect("written");
        assert_eq!(take(&mut intake, &receiver, 2), [2 * MOVE_BYTES_MAX, 8]);
    }

    #[test]
    fn what_is_not_given_back_holds_room() {
        let (mut sender, receiver) = loopback_pair();
        let mut intake = ReceiveBuffer::new(5000);
        let many = frame(5000).repeat(2 * READ_BYTES / 5008);
        let writer = std::thread::spawn(move || sender.write_all(&many).map(|()| sender));
        let mut count = 0;
        while intake.read(&receiver) != ReadOutcome::Full {
            while let Some(header) = intake.peek_header().expect("sound frames") {
                if !intake.take_frame(header) {
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
        let (mut sender, receiver) = loopback_pair();
        let mut intake = ReceiveBuffer::new(1000);
        let read =
            |intake: &mut ReceiveBuffer| while intake.read(&receiver) == ReadOutcome::WouldBlock {};
        sender.write_all(&frame(1001)[..8]).expect("written");
        read(&mut intake);
        let why = intake.peek_header().expect_err("refused");
        assert_eq!(why, "a frame of 1001 bytes; at most 1000 were agreed on");
        let mut intake = ReceiveBuffer::new(1000);
        sender.write_all(&[0xff; 8]).expect("written");
        read(&mut intake);
        assert!(intake.peek_header().is_err());
    }

    #[test]
    fn a_run_of_frames_ends_before_what_is_wrong() {
        let (mut sender, receiver) = loopback_pair();
        let mut intake = ReceiveBuffer::new(1000);
        let good = [frame(8), frame(8), frame(100)].concat();
        let torn = &frame(64)[..40];
        sender.write_all(&[&good, torn].concat()).expect("written");
        while intake.read_end < good.len() + torn.len() {
            assert!(!matches!(intake.read(&receiver), ReadOutcome::Closed(_)));
        }
        // The first two, and not the third, of a batch that ends in the third.
        assert_eq!(intake.take_frames(32 + 16), Ok(32));
        let why = intake.take_frames(16).expect_err("too long for its batch");
        assert!(why.contains("longer than what is left"), "{why}");
        // The third, and not the fourth, which has not come as a whole.
        assert_eq!(intake.take_frames(1 << 20), Ok(good.len() - 32));
        assert_eq!(intake.take_frames(1 << 20), Ok(0));
        assert_eq!(intake.poll().count(), 3);
        sender.write_all(&frame(64)[40..]).expect("written");
        sender.write_all(&[0xff; 8]).expect("written");
        while intake.read_end < good.len() + 72 + 8 {
            assert!(!matches!(intake.read(&receiver), ReadOutcome::Closed(_)));
        }
        assert_eq!(intake.take_frames(1 << 20), Ok(72));
        assert!(intake.take_frames(1 << 20).is_err());
        assert_eq!(intake.poll().count(), 1);
    }
}
