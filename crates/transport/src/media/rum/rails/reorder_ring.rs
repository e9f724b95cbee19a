//! The receiver's copy of the sender's ring, in which striped bytes come to lie in order.
//!
//! Every byte has one place in it, that of its position, so bytes are received into their place and
//! never moved. It has as many bytes as the sender's ring, which sends nothing beyond them.
//!
//! ```text
//!   released      polled        taken      in order
//!   --+-------------+-------------+-----------+------------------------+--
//!     | polled, not | whole       | incom-    | some ranges, received  |
//!     | released    | frames      | plete     | out of order           |
//! ```

use ring::frame::{FrameBatch, FrameHeader, HEADER_BYTES, PAD, frame_bytes};

use crate::media::rails::received_ranges::ReceivedRanges;

/// Received bytes of a striped stream, and positions in them.
#[derive(Debug)]
pub(super) struct ReorderRing {
    /// Words rather than bytes, so that frames begin at multiples of 8.
    words: Vec<u64>,
    ranges: ReceivedRanges,
    released: u64,
    polled: u64,
    taken: u64,
    /// Bytes of the longest frame, with its header.
    frame_with_header_bytes_max: usize,
}

impl ReorderRing {
    /// A copy of a ring of `capacity` bytes, a power of two, for payloads of at most this many
    /// bytes.
    pub(super) fn new(capacity: usize, payload_bytes_max: usize) -> ReorderRing {
        ReorderRing {
            words: vec![0; capacity / 8],
            ranges: ReceivedRanges::default(),
            released: 0,
            polled: 0,
            taken: 0,
            frame_with_header_bytes_max: frame_bytes(payload_bytes_max),
        }
    }

    /// Position before which everything was received.
    pub(super) fn in_order(&self) -> u64 {
        self.ranges.in_order()
    }

    /// Position from which on the sender has to send again if everything under way is lost: a whole
    /// word, like every position of a batch.
    pub(super) fn resume_position(&self) -> u64 {
        self.in_order() / 8 * 8
    }

    /// Position up to which frames were released.
    pub(super) fn released(&self) -> u64 {
        self.released
    }

    fn capacity(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    fn offset(&self, position: u64) -> usize {
        (position % self.capacity()) as usize
    }

    /// Checks that a batch of `bytes` bytes at a position can be one of the sender's ring.
    ///
    /// # Errors
    /// The batch lies beyond the ring or across its end.
    pub(super) fn check_batch(&self, position: u64, bytes: u64) -> Result<(), String> {
        let end = position.checked_add(bytes);
        let is_kept = end.is_some_and(|end| end <= self.released + self.capacity());
        let is_whole = self.offset(position) as u64 + bytes <= self.capacity();
        match is_kept && is_whole && position.is_multiple_of(8) {
            true => Ok(()),
            false => Err(format!(
                "a batch of {bytes} bytes at position {position}; the ring has {} after {}",
                self.capacity(),
                self.released
            )),
        }
    }

    /// The place of bytes of a batch that was checked and is ahead of everything in order.
    pub(super) fn place(&mut self, from: u64, to: u64) -> &mut [u8] {
        debug_assert!(from >= self.in_order());
        let at = self.offset(from);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        &mut bytes[at..at + (to - from) as usize]
    }

    /// Notes that bytes were received into their place.
    pub(super) fn note_received(&mut self, from: u64, to: u64) {
        self.ranges.add(from, to);
    }

    /// Receives padding of a checked batch, whose bytes are not sent.
    ///
    /// # Errors
    /// Padding of a ring has a header and whole words.
    pub(super) fn receive_padding(&mut self, from: u64, to: u64) -> Result<(), String> {
        let bytes = to - from;
        if bytes < HEADER_BYTES as u64 || !bytes.is_multiple_of(8) {
            return Err(format!("padding of {bytes} bytes"));
        }
        if from >= self.in_order() {
            let header = FrameHeader {
                len: (bytes as usize - HEADER_BYTES) as u32,
                kind: PAD,
                flags: 0,
            };
            let at = self.offset(from) / 8;
            self.words[at] = header.to_word();
            self.ranges.add(from, to);
        }
        Ok(())
    }

    /// Takes the whole frames that are in order.
    ///
    /// # Errors
    /// A frame is invalid, too long or lies across the ring's end.
    pub(super) fn take_frames(&mut self) -> Result<(), String> {
        let in_order = self.in_order();
        while in_order - self.taken >= HEADER_BYTES as u64 {
            let at = self.offset(self.taken);
            let word = self.words[at / 8];
            let bytes =
                FrameHeader::try_from_word(word).map(|header| frame_bytes(header.len as usize));
            let bytes = bytes.filter(|bytes| {
                *bytes <= self.frame_with_header_bytes_max && at + bytes <= 8 * self.words.len()
            });
            let Some(bytes) = bytes else {
                return Err(format!("{word:#018x} where a frame should begin"));
            };
            if in_order - self.taken < bytes as u64 {
                return Ok(());
            }
            self.taken += bytes as u64;
        }
        Ok(())
    }

    /// Whether there are whole frames to poll.
    pub(super) fn has_frames(&self) -> bool {
        self.polled < self.taken
    }

    /// Returns whole frames that were not polled yet, up to the ring's end at most.
    pub(super) fn poll(&mut self) -> FrameBatch<'_> {
        let (at, capacity) = (self.offset(self.polled), self.capacity());
        let bytes = (self.taken - self.polled).min(capacity - at as u64);
        self.polled += bytes;
        let all: &[u8] = bytemuck::cast_slice(&self.words);
        FrameBatch::new(&all[at..at + bytes as usize])
    }

    /// Releases the polled frames. `true`: there were some.
    pub(super) fn release(&mut self) -> bool {
        let has_polled = self.released < self.polled;
        self.released = self.polled;
        has_polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: usize = 256;

    fn frame(number: u8, len: usize) -> Vec<u8> {
        let header = FrameHeader {
            len: len as u32,
            kind: 1,
            flags: 0,
        };
        let mut bytes = header.to_word().to_ne_bytes().to_vec();
        bytes.resize(frame_bytes(len), number);
        bytes
    }

    fn receive(ring: &mut ReorderRing, from: u64, bytes: &[u8]) {
        let to = from + bytes.len() as u64;
        ring.check_batch(from, bytes.len() as u64).expect("sound");
        ring.place(from, to).copy_from_slice(bytes);
        ring.note_received(from, to);
    }

    fn polled(ring: &mut ReorderRing) -> Vec<u8> {
        ring.take_frames().expect("sound frames");
        let numbers = ring.poll().map(|frame| frame.bytes[0]).collect();
        ring.release();
        numbers
    }

    #[test]
    fn frames_come_in_order_over_the_end_of_the_ring() {
        let mut ring = ReorderRing::new(CAPACITY, 56);
        let frames: Vec<_> = (0..40).map(|number| frame(number, 56)).collect();
        for pair in 0..20 {
            let at = pair * 128;
            receive(&mut ring, at + 64, &frames[2 * pair as usize + 1]);
            assert!(polled(&mut ring).is_empty(), "the first is missing");
            receive(&mut ring, at, &frames[2 * pair as usize]);
            assert_eq!(polled(&mut ring), [2 * pair as u8, 2 * pair as u8 + 1]);
        }
        assert_eq!(ring.released(), 40 * 64);
    }

    #[test]
    fn padding_is_skipped_without_its_bytes() {
        let mut ring = ReorderRing::new(CAPACITY, 120);
        receive(&mut ring, 0, &frame(1, 120));
        assert_eq!(polled(&mut ring), [1]);
        receive(&mut ring, 256, &frame(2, 64)[..32]);
        ring.receive_padding(128, 256).expect("padding");
        assert!(polled(&mut ring).is_empty(), "one half is missing");
        receive(&mut ring, 288, &frame(2, 64)[32..]);
        assert_eq!(polled(&mut ring), [2]);
        assert!(ring.receive_padding(328, 329).is_err());
        ring.receive_padding(128, 256)
            .expect("doubled padding is ignored");
    }

    #[test]
    fn batches_that_no_sender_has_are_refused() {
        let ring = ReorderRing::new(CAPACITY, 56);
        for (position, bytes) in [(0, 257), (256, 8), (200, 64), (4, 8), (u64::MAX - 7, 16)] {
            assert!(
                ring.check_batch(position, bytes).is_err(),
                "{position} {bytes}"
            );
        }
        assert!(ring.check_batch(0, 256).is_ok());
    }

    #[test]
    fn frames_that_cannot_be_are_refused() {
        for bytes in [frame(1, 64), vec![0xff; 8]] {
            let mut ring = ReorderRing::new(CAPACITY, 56);
            receive(&mut ring, 0, &bytes[..8]);
            assert!(ring.take_frames().is_err());
        }
        let mut ring = ReorderRing::new(CAPACITY, 128);
        receive(&mut ring, 0, &frame(1, 120));
        receive(&mut ring, 128, &frame(1, 72));
        receive(&mut ring, 208, &frame(1, 56)[..48]);
        assert!(ring.take_frames().is_err(), "over the end of the ring");
    }
}
