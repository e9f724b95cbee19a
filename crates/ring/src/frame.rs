//! Frames: how tuples and punctuation lie in a ring, in a batch, on the wire.
//!
//! ```text
//!   0         4      5      6       8              8 + len     next multiple of 8
//!   +---------+------+------+-------+--------------+-----------+
//!   | len u32 | kind | flags| 0     | payload      | undefined |
//!   +---------+------+------+-------+--------------+-----------+
//! ```
//! Native byte order. A frame begins at a multiple of 8, so a payload does too: a flat tuple is
//! read where it lies.

use std::cell::Cell;

use crate::prefetch;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 8;

/// Frames begin at multiples of this.
pub const ALIGN: usize = 8;

/// A frame that is skipped: it fills the end of a ring.
pub const PAD: u8 = 0;

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of the payload.
    pub len: u32,
    /// What it is; [`PAD`] is the only kind that this crate knows.
    pub kind: u8,
    /// Whatever the kind needs.
    pub flags: u8,
}

/// A frame, read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What it is.
    pub kind: u8,
    /// Whatever the kind needs.
    pub flags: u8,
    /// The payload; begins at a multiple of 8.
    pub bytes: &'a [u8],
}

/// Whole frames, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct FrameBatch<'a> {
    bytes: &'a [u8],
    /// The header of the frame before.
    header: u64,
    /// What follows from it.
    decoded: DecodedHeader,
    /// Who wants to know of a frame that is none.
    torn: Option<&'a Cell<Option<TornFrame>>>,
}

/// A frame at which a batch has ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TornFrame {
    /// Bytes from there to the end of the batch.
    pub(crate) rest_bytes: usize,
    /// What stands there for a header; the one before, if there is no room for one.
    pub(crate) header: u64,
}

/// What a header says, worked out.
#[derive(Clone, Copy, Debug)]
struct DecodedHeader {
    /// Bytes of the frame.
    frame_bytes: usize,
    /// Where in it the payload ends.
    payload_end: usize,
    kind: u8,
    flags: u8,
}

/// What a payload of so many bytes takes, with its header and what fills it up.
#[inline]
pub const fn frame_bytes(len: usize) -> usize {
    HEADER_BYTES + len.next_multiple_of(ALIGN)
}

impl FrameHeader {
    /// As it lies in memory.
    #[inline]
    pub const fn to_word(self) -> u64 {
        self.len as u64 | (self.kind as u64) << 32 | (self.flags as u64) << 40
    }

    /// From memory. The reserved bits are not looked at: see [`FrameHeader::try_from_word`].
    #[inline]
    pub const fn from_word(word: u64) -> FrameHeader {
        FrameHeader {
            len: word as u32,
            kind: (word >> 32) as u8,
            flags: (word >> 40) as u8,
        }
    }

    /// From bytes that came from elsewhere: `None` if a reserved bit is set.
    pub const fn try_from_word(word: u64) -> Option<FrameHeader> {
        if word >> 48 == 0 {
            Some(FrameHeader::from_word(word))
        } else {
            None
        }
    }
}

impl<'a> FrameBatch<'a> {
    /// Whole frames that lie one after the other, from an address that is a multiple of 8. Whoever
    /// makes it answers for the lengths: a wrong one ends the batch early, nothing worse.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> FrameBatch<'a> {
        // No frame begins like this, and if one did, it would not fit.
        let header = u64::MAX;
        let known = DecodedHeader::INVALID;
        FrameBatch {
            bytes,
            header,
            decoded: known,
            torn: None,
        }
    }

    /// The same, and whoever made it is told if it has ended early.
    #[inline]
    pub(crate) const fn with_torn_cell(
        bytes: &'a [u8],
        torn: &'a Cell<Option<TornFrame>>,
    ) -> FrameBatch<'a> {
        let mut batch = FrameBatch::new(bytes);
        batch.torn = Some(torn);
        batch
    }

    /// Whether there is nothing in it.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All bytes, headers too.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The frames within the first so many bytes; the last one may be cut.
    #[inline]
    pub fn prefix(&self, bytes: usize) -> FrameBatch<'a> {
        let bytes = self.bytes.get(..bytes).unwrap_or(self.bytes);
        FrameBatch::new(bytes)
    }

    /// Takes whole frames of so many bytes off; all of them, if there are fewer.
    #[inline]
    pub fn advance(&mut self, bytes: usize) {
        self.bytes = self.bytes.get(bytes..).unwrap_or_default();
    }

    /// Takes frames off that only fill, up to one that does not.
    #[inline]
    pub fn skip_padding(&mut self) {
        while let Some(header) = self.bytes.first_chunk() {
            let header = u64::from_ne_bytes(*header);
            if header != self.header {
                (self.header, self.decoded) = (header, DecodedHeader::new(header));
            }
            match self.bytes.get(self.decoded.frame_bytes..) {
                Some(rest) if self.decoded.kind == PAD => self.bytes = rest,
                _ => return,
            }
        }
    }

    /// The last frame, if nothing but its filling is missing.
    #[cold]
    fn take_last(&mut self) -> Option<Frame<'a>> {
        let bytes = std::mem::take(&mut self.bytes);
        if let Some(payload) = bytes.get(HEADER_BYTES..self.decoded.payload_end) {
            return Some(self.decoded.frame(payload));
        }
        let (rest, header) = (bytes.len(), self.header);
        self.torn?.set(Some(TornFrame {
            rest_bytes: rest,
            header,
        }));
        None
    }
}

impl DecodedHeader {
    /// What no bytes are enough for.
    const INVALID: DecodedHeader = DecodedHeader {
        frame_bytes: usize::MAX,
        payload_end: usize::MAX,
        kind: PAD,
        flags: 0,
    };

    /// Out of line, so that it is a branch: see [`FrameBatch::next`].
    #[cold]
    #[inline(never)]
    fn new(word: u64) -> DecodedHeader {
        let Some(header) = FrameHeader::try_from_word(word) else {
            return DecodedHeader::INVALID;
        };
        let len = header.len as usize;
        DecodedHeader {
            frame_bytes: frame_bytes(len),
            payload_end: HEADER_BYTES + len,
            kind: header.kind,
            flags: header.flags,
        }
    }

    #[inline(always)]
    fn frame(self, bytes: &[u8]) -> Frame<'_> {
        Frame {
            kind: self.kind,
            flags: self.flags,
            bytes,
        }
    }
}

impl Default for FrameBatch<'_> {
    fn default() -> Self {
        FrameBatch::new(&[])
    }
}

impl<'a> Iterator for FrameBatch<'a> {
    type Item = Frame<'a>;

    /// Where a frame begins is known when the header before it has come from memory, or from
    /// another processor: a chain of waits. But most headers of a stream are alike. So the next
    /// frame is taken to begin where it does if this one's header is that of the last, and a
    /// branch, which the processor predicts, finds out if not: the waits overlap.
    #[inline]
    fn next(&mut self) -> Option<Frame<'a>> {
        loop {
            let Some(header) = self.bytes.first_chunk() else {
                return if self.is_empty() {
                    None
                } else {
                    self.take_last()
                };
            };
            let header = u64::from_ne_bytes(*header);
            if header != self.header {
                self.header = header;
                self.decoded = DecodedHeader::new(header);
            }
            let Some((frame, rest)) = self.bytes.split_at_checked(self.decoded.frame_bytes) else {
                return self.take_last();
            };
            if self.decoded.frame_bytes >= prefetch::PREFETCH_FRAME_BYTES_MIN {
                prefetch::prefetch_ahead(frame.as_ptr(), frame.len(), self.bytes.len());
            }
            self.bytes = rest;
            if self.decoded.kind != PAD {
                let payload = frame
                    .get(HEADER_BYTES..self.decoded.payload_end)
                    .unwrap_or_default();
                return Some(self.decoded.frame(payload));
            }
        }
    }
}

const _: () = assert!(
    FrameHeader {
        len: 1,
        kind: 2,
        flags: 3
    }
    .to_word()
        == 1 | 2 << 32 | 3 << 40
);

#[cfg(test)]
mod tests {
    use super::*;

    fn push(bytes: &mut Vec<u8>, kind: u8, payload: &[u8]) {
        let len = payload.len() as u32;
        let header = FrameHeader {
            len,
            kind,
            flags: 0,
        };
        bytes.extend(header.to_word().to_ne_bytes());
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(ALIGN), 0xee);
    }

    #[test]
    fn frames_come_out_as_they_went_in_and_padding_does_not() {
        let mut bytes = Vec::new();
        push(&mut bytes, 1, b"one");
        push(&mut bytes, PAD, &[0; 24]);
        push(&mut bytes, 2, b"");
        push(&mut bytes, 3, b"12345678");
        let batch = FrameBatch::new(&bytes);
        let frames: Vec<_> = batch.map(|f| (f.kind, f.bytes)).collect();
        assert_eq!(frames, [(1, &b"one"[..]), (2, b""), (3, b"12345678")]);
        assert_eq!(
            bytes.len(),
            frame_bytes(3) + frame_bytes(24) + 8 + frame_bytes(8)
        );
    }

    #[test]
    fn filling_is_skipped_up_to_the_next_frame() {
        let mut bytes = Vec::new();
        for _ in 0..2 {
            push(&mut bytes, PAD, &[0; 24]);
        }
        let filling = bytes.len();
        push(&mut bytes, 1, b"one");
        push(&mut bytes, PAD, &[0; 24]);
        let mut batch = FrameBatch::new(&bytes);
        batch.skip_padding();
        assert_eq!(batch.bytes().len(), bytes.len() - filling);
        batch.skip_padding();
        assert_eq!(batch.next().map(|frame| frame.bytes), Some(&b"one"[..]));
        batch.skip_padding();
        assert!(batch.is_empty());
        // What is cut off or no frame is left to whoever takes the next one.
        for wrong in [&bytes[..8], &[0xff; 8], &bytes[..4]] {
            let mut batch = FrameBatch::new(wrong);
            batch.skip_padding();
            assert_eq!(batch.bytes(), wrong);
        }
    }

    #[test]
    fn a_frame_that_is_cut_off_ends_the_batch() {
        let mut bytes = Vec::new();
        push(&mut bytes, 1, b"whole");
        push(&mut bytes, 1, b"cut off");
        for end in frame_bytes(5)..bytes.len() - 1 {
            assert_eq!(FrameBatch::new(&bytes[..end]).count(), 1, "{end}");
        }
    }

    #[test]
    fn the_first_bytes_of_a_batch_hold_the_frames_before_the_cut() {
        let mut bytes = Vec::new();
        (0..3).for_each(|kind| push(&mut bytes, kind + 1, b"12345678"));
        let batch = FrameBatch::new(&bytes);
        for (cut, frames) in [(0, 0), (15, 0), (16, 1), (40, 2), (48, 3), (49, 3)] {
            assert_eq!(batch.prefix(cut).count(), frames, "{cut}");
        }
        assert_eq!(batch.count(), 3, "it is as it was");
    }

    #[test]
    fn reserved_bits_are_refused() {
        let header = FrameHeader {
            len: u32::MAX,
            kind: 255,
            flags: 255,
        };
        assert_eq!(FrameHeader::try_from_word(header.to_word()), Some(header));
        assert_eq!(FrameHeader::try_from_word(header.to_word() | 1 << 48), None);
    }
}
