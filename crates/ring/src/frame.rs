//! Frames: how tuples and punctuation lie in a ring, in a batch, on the wire.
//!
//! ```text
//!   0         4      5      6       8              8 + len     next multiple of 8
//!   +---------+------+------+-------+--------------+-----------+
//!   | len u32 | kind | flags| 0     | payload      | undefined |
//!   +---------+------+------+-------+--------------+-----------+
//! ```
//! Native byte order. A frame begins at a multiple of 8, so a payload does too: a flat tuple is read
//! where it lies.

/// Bytes of a header.
pub const HEADER_BYTES: usize = 8;

/// Frames begin at multiples of this.
pub const ALIGN: usize = 8;

/// A frame that is skipped: it fills the end of a ring.
pub const PAD: u8 = 0;

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch<'a> {
    bytes: &'a [u8],
}

/// What a payload of so many bytes takes, with its header and what fills it up.
#[inline]
pub const fn frame_bytes(len: usize) -> usize {
    HEADER_BYTES + len.next_multiple_of(ALIGN)
}

impl Header {
    /// As it lies in memory.
    #[inline]
    pub const fn to_word(self) -> u64 {
        self.len as u64 | (self.kind as u64) << 32 | (self.flags as u64) << 40
    }

    /// From memory. The reserved bits are not looked at: see [`Header::check`].
    #[inline]
    pub const fn from_word(word: u64) -> Header {
        Header {
            len: word as u32,
            kind: (word >> 32) as u8,
            flags: (word >> 40) as u8,
        }
    }

    /// From bytes that came from elsewhere: `None` if a reserved bit is set.
    pub const fn check(word: u64) -> Option<Header> {
        if word >> 48 == 0 {
            Some(Header::from_word(word))
        } else {
            None
        }
    }
}

impl<'a> Batch<'a> {
    /// Whole frames that lie one after the other, from an address that is a multiple of 8. Whoever
    /// makes it answers for the lengths: a wrong one ends the batch early, nothing worse.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Batch<'a> {
        Batch { bytes }
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

    /// Takes whole frames of so many bytes off; all of them, if there are fewer.
    #[inline]
    pub fn advance(&mut self, bytes: usize) {
        self.bytes = self.bytes.get(bytes..).unwrap_or_default();
    }
}

impl<'a> Iterator for Batch<'a> {
    type Item = Frame<'a>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'a>> {
        loop {
            let (word, rest) = self.bytes.split_first_chunk::<HEADER_BYTES>()?;
            let header = Header::from_word(u64::from_ne_bytes(*word));
            let len = header.len as usize;
            let Some(bytes) = rest.get(..len) else {
                self.bytes = &[];
                return None;
            };
            self.bytes = rest.get(len.next_multiple_of(ALIGN)..).unwrap_or_default();
            if header.kind != PAD {
                return Some(Frame {
                    kind: header.kind,
                    flags: header.flags,
                    bytes,
                });
            }
        }
    }
}

const _: () = assert!(
    Header {
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
        let header = Header {
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
        let batch = Batch::new(&bytes);
        let frames: Vec<_> = batch.map(|f| (f.kind, f.bytes)).collect();
        assert_eq!(frames, [(1, &b"one"[..]), (2, b""), (3, b"12345678")]);
        assert_eq!(
            bytes.len(),
            frame_bytes(3) + frame_bytes(24) + 8 + frame_bytes(8)
        );
    }

    #[test]
    fn a_frame_that_is_cut_off_ends_the_batch() {
        let mut bytes = Vec::new();
        push(&mut bytes, 1, b"whole");
        push(&mut bytes, 1, b"cut off");
        for end in frame_bytes(5)..bytes.len() - 1 {
            assert_eq!(Batch::new(&bytes[..end]).count(), 1, "{end}");
        }
    }

    #[test]
    fn reserved_bits_are_refused() {
        let header = Header {
            len: u32::MAX,
            kind: 255,
            flags: 255,
        };
        assert_eq!(Header::check(header.to_word()), Some(header));
        assert_eq!(Header::check(header.to_word() | 1 << 48), None);
    }
}
