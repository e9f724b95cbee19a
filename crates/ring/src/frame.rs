//! Frames: the layout of tuples and punctuation in a ring, in a batch and on the wire.
//!
//! ```text
//!   0         4      5      6       8              8 + len     next multiple of 8
//!   +---------+------+------+-------+--------------+-----------+
//!   | len u32 | kind | flags| 0     | payload      | undefined |
//!   +---------+------+------+-------+--------------+-----------+
//! ```
//! Numbers have the native byte order. A frame begins at a multiple of 8, so its payload does too:
//! a flat tuple is read in place.

use std::cell::Cell;

use crate::prefetch;

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 8;

/// Alignment in bytes of frames and payloads: that of the widest attribute in a flat tuple.
pub const ALIGN: usize = 8;

/// Kind of a padding frame, which fills the end of a ring and is skipped.
pub const PAD: u8 = 0;

/// The header of a frame: payload length, kind and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of the payload.
    pub len: u32,
    /// Kind of the frame. This crate knows only [`PAD`]; the others are the caller's.
    pub kind: u8,
    /// Flags of the frame; their meaning depends on the kind.
    pub flags: u8,
}

/// A frame that is read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Kind of the frame, never [`PAD`].
    pub kind: u8,
    /// Flags of the frame; their meaning depends on the kind.
    pub flags: u8,
    /// The payload, which begins at a multiple of 8.
    pub bytes: &'a [u8],
}

/// A run of whole frames, one after the other; iterating skips padding.
///
/// # Example
/// ```
/// use thalweg_ring::frame::{FrameBatch, FrameHeader, frame_bytes};
///
/// let header = FrameHeader { len: 3, kind: 1, flags: 0 };
/// let mut bytes = header.to_word().to_ne_bytes().to_vec();
/// bytes.extend(b"abc");
/// bytes.resize(frame_bytes(3), 0);
/// let mut batch = FrameBatch::new(&bytes);
/// assert_eq!(batch.next().map(|frame| frame.bytes), Some(&b"abc"[..]));
/// assert!(batch.is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FrameBatch<'a> {
    bytes: &'a [u8],
    /// Header word of the previous frame.
    header: u64,
    /// The decoded form of `header`.
    decoded: DecodedHeader,
    rules: FrameRules,
    /// Cell that is told of a torn frame, if the batch has one.
    torn: Option<&'a Cell<Option<TornFrame>>>,
}

/// An invalid frame, at which a batch has ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornFrame {
    /// Bytes from the invalid frame to the end of the batch.
    pub rest_bytes: usize,
    /// Word in the place of its header; the previous header, if there is no room for one.
    pub header: u64,
}

/// Frames that a batch may hold.
#[derive(Clone, Copy, Debug)]
struct FrameRules {
    /// Most bytes of a frame, with header and padding.
    bytes_max: usize,
    /// Whether padding frames are among them.
    has_padding: bool,
}

/// Sizes and fields that follow from a header word.
#[derive(Clone, Copy, Debug)]
struct DecodedHeader {
    /// Bytes of the frame, with header and padding.
    frame_bytes: usize,
    /// Offset in the frame where its payload ends.
    payload_end: usize,
    kind: u8,
    flags: u8,
}

/// Bytes of a frame whose payload has `len` bytes, with header and padding to a multiple of 8.
///
/// # Example
/// ```
/// use thalweg_ring::frame::frame_bytes;
///
/// assert_eq!([0, 1, 8, 9].map(frame_bytes), [8, 16, 16, 24]);
/// ```
#[inline]
pub const fn frame_bytes(len: usize) -> usize {
    HEADER_BYTES + len.next_multiple_of(ALIGN)
}

impl FrameHeader {
    /// Encodes the header as the word that lies in memory.
    #[inline]
    pub const fn to_word(self) -> u64 {
        self.len as u64 | (self.kind as u64) << 32 | (self.flags as u64) << 40
    }

    /// Decodes a trusted word from memory. Reserved bits are ignored: see
    /// [`FrameHeader::try_from_word`].
    #[inline]
    pub const fn from_word(word: u64) -> FrameHeader {
        FrameHeader {
            len: word as u32,
            kind: (word >> 32) as u8,
            flags: (word >> 40) as u8,
        }
    }

    /// Decodes an untrusted word. `None`: a reserved bit is set.
    pub const fn try_from_word(word: u64) -> Option<FrameHeader> {
        if word >> 48 == 0 {
            Some(FrameHeader::from_word(word))
        } else {
            None
        }
    }
}

impl<'a> FrameBatch<'a> {
    /// A batch over frames that lie one after the other, from an address that is a multiple of 8. A
    /// wrong length in a header ends the batch early and does no other harm.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> FrameBatch<'a> {
        // No frame has this header, and a frame that had it would not fit.
        let header = u64::MAX;
        let known = DecodedHeader::INVALID;
        FrameBatch {
            bytes,
            header,
            decoded: known,
            rules: FrameRules::ANY,
            torn: None,
        }
    }

    /// A batch over bytes that nobody has looked at yet: a padding frame, or one of more than
    /// `frame_bytes_max` bytes, ends it early like a wrong length. The frame at which it has ended
    /// early is stored in `torn`.
    ///
    /// # Example
    /// ```
    /// use std::cell::Cell;
    /// use thalweg_ring::frame::FrameBatch;
    ///
    /// let torn = Cell::new(None);
    /// assert_eq!(FrameBatch::unchecked(&[0; 16], 64, &torn).next(), None);
    /// assert_eq!(torn.get().map(|torn| torn.rest_bytes), Some(16), "zeros are padding");
    /// ```
    #[inline]
    pub const fn unchecked(
        bytes: &'a [u8],
        frame_bytes_max: usize,
        torn: &'a Cell<Option<TornFrame>>,
    ) -> FrameBatch<'a> {
        let mut batch = FrameBatch::with_torn_cell(bytes, torn);
        batch.rules = FrameRules {
            bytes_max: frame_bytes_max,
            has_padding: false,
        };
        batch
    }

    /// A batch that stores the frame at which it ended early in `torn`.
    #[inline]
    pub(crate) const fn with_torn_cell(
        bytes: &'a [u8],
        torn: &'a Cell<Option<TornFrame>>,
    ) -> FrameBatch<'a> {
        let mut batch = FrameBatch::new(bytes);
        batch.torn = Some(torn);
        batch
    }

    /// Whether no bytes are left, padding included.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes that are left, headers and padding included.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The frames within the first `bytes` bytes; the last one may be cut off.
    #[inline]
    pub fn prefix(&self, bytes: usize) -> FrameBatch<'a> {
        let bytes = self.bytes.get(..bytes).unwrap_or(self.bytes);
        FrameBatch::new(bytes)
    }

    /// Drops the first `bytes` bytes, which must be whole frames; all of them, if there are fewer.
    #[inline]
    pub fn advance(&mut self, bytes: usize) {
        self.bytes = self.bytes.get(bytes..).unwrap_or_default();
    }

    /// Drops padding up to the next frame that is none.
    #[inline]
    pub fn skip_padding(&mut self) {
        while let Some(header) = self.bytes.first_chunk() {
            let header = u64::from_ne_bytes(*header);
            if header != self.header {
                (self.header, self.decoded) = (header, DecodedHeader::new(header, self.rules));
            }
            match self.bytes.get(self.decoded.frame_bytes..) {
                Some(rest) if self.decoded.kind == PAD => self.bytes = rest,
                _ => return,
            }
        }
    }

    /// Returns the last frame, if nothing but its padding is missing.
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

impl FrameRules {
    /// All frames, and padding between them.
    const ANY: FrameRules = FrameRules {
        bytes_max: usize::MAX,
        has_padding: true,
    };
}

impl DecodedHeader {
    /// Decoded form of an invalid header: no batch is long enough for it.
    const INVALID: DecodedHeader = DecodedHeader {
        frame_bytes: usize::MAX,
        payload_end: usize::MAX,
        kind: PAD,
        flags: 0,
    };

    /// Decodes a header word. Out of line, so that it stays a branch: see [`FrameBatch::next`].
    #[cold]
    #[inline(never)]
    fn new(word: u64, rules: FrameRules) -> DecodedHeader {
        let Some(header) = FrameHeader::try_from_word(word) else {
            return DecodedHeader::INVALID;
        };
        let len = header.len as usize;
        let frame_bytes = frame_bytes(len);
        let is_refused = frame_bytes > rules.bytes_max || header.kind == PAD && !rules.has_padding;
        if is_refused {
            return DecodedHeader::INVALID;
        }
        DecodedHeader {
            frame_bytes,
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

    /// Where a frame begins depends on the header before it, which must first come from memory or
    /// from another processor: a chain of waits. But most headers of a stream are alike. So the
    /// next frame is assumed to begin where it would if this header equals the last, and a branch,
    /// which the processor predicts, checks that: the waits overlap.
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
                self.decoded = DecodedHeader::new(header, self.rules);
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
        // Bytes that are cut off or no frame are left to the next call of `next`.
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
    fn what_no_sender_writes_ends_a_batch_that_nobody_has_checked() {
        let mut whole = Vec::new();
        push(&mut whole, 1, b"12345678");
        push(&mut whole, 2, b"123");
        let (mut padding, mut large) = (whole.clone(), whole.clone());
        push(&mut padding, PAD, &[0; 8]);
        push(&mut large, 1, &[0; 24]);
        let reserved = [&whole[..], &(1_u64 << 48 | 1 << 32).to_ne_bytes()].concat();
        let cut = &large[..large.len() - 8];
        for (bytes, bytes_max) in [(&padding[..], 64), (&large, 24), (&reserved, 64), (cut, 64)] {
            let torn = Cell::new(None);
            let batch = FrameBatch::unchecked(bytes, bytes_max, &torn);
            assert_eq!(batch.count(), 2);
            let found: TornFrame = torn.get().expect("a torn frame");
            assert_eq!(found.rest_bytes, bytes.len() - whole.len());
            let header = bytes[whole.len()..].first_chunk().copied();
            assert_eq!(Some(found.header), header.map(u64::from_ne_bytes));
        }
        let torn = Cell::new(None);
        assert_eq!(FrameBatch::unchecked(&large, 32, &torn).count(), 3);
        assert_eq!(torn.get(), None);
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
