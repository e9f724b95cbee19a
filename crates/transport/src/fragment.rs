//! Fragments: a payload larger than a frame crosses in several frames.
//!
//! ```text
//!   payload   [--------------------------------------]
//!   frames    [first--][middle-][middle-][middle-][last]     adjacent, no other frames between
//!   payload   [----]
//!   frame     [whole]
//! ```
//! The flags of a frame say which part of its payload it holds.
//!
//! # Example
//! ```
//! use thalweg_transport::fragment::{FragmentAssembler, split_payload};
//!
//! let mut assembler = FragmentAssembler::default();
//! let mut payloads = Vec::new();
//! for (flags, fragment) in split_payload(b"a payload of 24 bytes ..", 10) {
//!     if let Some(payload) = assembler.add_fragment(flags, fragment)? {
//!         payloads.push(payload.to_vec());
//!     }
//! }
//! assert_eq!(payloads, [b"a payload of 24 bytes .."]);
//! # Ok::<(), thalweg_transport::Error>(())
//! ```

use crate::Error;

/// All of a payload.
pub const WHOLE: u8 = 0;
/// Flags of the first of several fragments.
pub const FIRST: u8 = 1;
/// Flags of a fragment between the first and the last.
pub const MIDDLE: u8 = 2;
/// Flags of the last of several fragments.
pub const LAST: u8 = 3;

/// Most bytes of a payload: those that a tuple can have.
pub const PAYLOAD_BYTES_MAX: usize = u32::MAX as usize;

/// Splits a payload into fragments of at most `bytes_max` bytes (at least 1), each with its flags.
pub fn split_payload(payload: &[u8], bytes_max: usize) -> impl Iterator<Item = (u8, &[u8])> {
    let bytes_max = bytes_max.max(1);
    let count = payload.len().div_ceil(bytes_max).max(1);
    (0..count).map(move |at| {
        let begin = at * bytes_max;
        let piece = &payload[begin..payload.len().min(begin + bytes_max)];
        let flags = match (at == 0, at + 1 == count) {
            (true, true) => WHOLE,
            (true, false) => FIRST,
            (false, false) => MIDDLE,
            (false, true) => LAST,
        };
        (flags, piece)
    })
}

/// Joins fragments to payloads. Keeps its memory, which grows only with the bytes that have come.
#[derive(Debug, Default)]
pub struct FragmentAssembler {
    /// Words rather than bytes, so that a payload begins at a multiple of 8.
    words: Vec<u64>,
    /// Bytes of the fragments so far.
    len: usize,
    is_partial: bool,
}

impl FragmentAssembler {
    /// Adds the next frame and returns the payload, if it is complete. The payload begins at a
    /// multiple of 8 if the frames' payloads do.
    ///
    /// # Errors
    /// The frames are not in an order that [`split_payload`] makes, or the payload is above
    /// [`PAYLOAD_BYTES_MAX`].
    #[inline]
    pub fn add_fragment<'a>(
        &'a mut self,
        flags: u8,
        bytes: &'a [u8],
    ) -> Result<Option<&'a [u8]>, Error> {
        if flags == WHOLE && !self.is_partial {
            return Ok(Some(bytes));
        }
        self.append_fragment(flags, bytes)
    }

    /// Whether a payload has begun and is not complete yet.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    fn append_fragment(&mut self, flags: u8, bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
        if self.is_partial != matches!(flags, MIDDLE | LAST) || flags > LAST {
            return Err(Error::Refused(out_of_order_message(flags, self.is_partial)));
        }
        if flags == FIRST {
            self.len = 0;
        }
        let end = self.len + bytes.len();
        if end > PAYLOAD_BYTES_MAX {
            let message =
                format!("a payload in fragments is larger than {PAYLOAD_BYTES_MAX} bytes");
            return Err(Error::Refused(message));
        }
        let words = end.div_ceil(8);
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        all[self.len..end].copy_from_slice(bytes);
        self.len = end;
        self.is_partial = flags != LAST;
        Ok((flags == LAST).then_some(&all[..end]))
    }
}

#[cold]
fn out_of_order_message(flags: u8, is_begun: bool) -> String {
    let piece = match flags {
        WHOLE => "a whole payload",
        FIRST => "the first fragment of a payload",
        MIDDLE => "a middle fragment",
        LAST => "a last fragment",
        _ => return format!("a frame has the flags {flags}, which mean nothing"),
    };
    let before = if is_begun {
        "a payload that is not complete"
    } else {
        "no first fragment"
    };
    format!("{piece} came after {before}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn payloads_come_out_as_they_went_in(
            payloads in proptest::collection::vec(
                (proptest::collection::vec(any::<u8>(), 0..200), 1..70usize), 1..20)
        ) {
            let mut assembly = FragmentAssembler::default();
            for (payload, bytes_max) in &payloads {
                let mut out = None;
                for (flags, piece) in split_payload(payload, *bytes_max) {
                    prop_assert!(piece.len() <= *bytes_max);
                    prop_assert!(out.is_none(), "a frame after the last one");
                    // A frame's payload begins at a multiple of 8.
                    let words: Vec<u64> = vec![0; piece.len().div_ceil(8)];
                    let mut words = words;
                    let aligned = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..piece.len()];
                    aligned.copy_from_slice(piece);
                    if let Some(whole) = assembly.add_fragment(flags, aligned).unwrap() {
                        prop_assert!(whole.is_empty() || whole.as_ptr().addr().is_multiple_of(8));
                        out = Some(whole.to_vec());
                    }
                }
                prop_assert_eq!(out.as_ref(), Some(payload));
                prop_assert!(!assembly.is_partial());
            }
        }

        #[test]
        fn any_frames_give_payloads_or_a_sentence(
            frames in proptest::collection::vec((0..6u8, 0..9usize), 0..40)
        ) {
            let mut assembly = FragmentAssembler::default();
            for (flags, len) in frames {
                let begun = assembly.is_partial();
                let is_fit = flags <= LAST && begun == (flags == MIDDLE || flags == LAST);
                let bytes = [7; 9];
                prop_assert_eq!(assembly.add_fragment(flags, &bytes[..len]).is_ok(), is_fit);
                if !is_fit {
                    prop_assert_eq!(assembly.is_partial(), begun);
                }
            }
        }
    }

    #[test]
    fn an_empty_payload_is_a_whole_frame() {
        assert_eq!(
            split_payload(&[], 8).collect::<Vec<_>>(),
            [(WHOLE, &[][..])]
        );
        assert_eq!(split_payload(&[1; 8], 8).count(), 1);
        let flags: Vec<u8> = split_payload(&[1; 25], 8).map(|(flags, _)| flags).collect();
        assert_eq!(flags, [FIRST, MIDDLE, MIDDLE, LAST]);
    }

    #[test]
    fn disorder_is_said() {
        let mut assembly = FragmentAssembler::default();
        let refused = |result: Result<Option<&[u8]>, Error>| result.unwrap_err().to_string();
        assert_eq!(
            refused(assembly.add_fragment(LAST, b"x")),
            "a last fragment came after no first fragment"
        );
        assert!(assembly.add_fragment(FIRST, b"x").unwrap().is_none());
        assert_eq!(
            refused(assembly.add_fragment(WHOLE, b"x")),
            "a whole payload came after a payload that is not complete"
        );
        assert_eq!(
            refused(assembly.add_fragment(9, b"x")),
            "a frame has the flags 9, which mean nothing"
        );
    }
}
