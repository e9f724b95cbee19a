//! Where the fields of a record end: separators and line ends as bits, a block of bytes at a time.
//!
//! ```text
//!   bytes       IBM,,,7\n
//!   separators  ...111.       one comparison of 16 bytes finds them all
//!   line ends   .......1
//! ```
//! A bit says nothing of quotes: whoever reads a string in quotes goes on behind it, and the bits
//! within are passed over.

use wide::u8x16;

/// Bytes of a block. Many lines are not longer, and what is behind the line is looked at in vain.
const BLOCK_BYTES: usize = 32;

/// Separators and line ends of the block that is being read.
pub(super) struct FieldEnds {
    separator: u8,
    /// Offset of the block.
    start: usize,
    /// A bit for each byte of the block that is a separator.
    separators: u32,
    /// A bit for each byte of the block that is `\n` or `\r`, and no separator.
    line_ends: u32,
}

impl FieldEnds {
    /// The ends of the fields of a record that begins at an offset.
    #[inline]
    pub fn new(separator: u8, bytes: &[u8], at: usize) -> FieldEnds {
        let mut ends = FieldEnds {
            separator,
            start: at,
            separators: 0,
            line_ends: 0,
        };
        ends.find(bytes, at);
        ends
    }

    /// The offset of the next end at or behind an offset, or the end of the bytes. The offset is
    /// never less than an earlier one.
    #[inline]
    pub fn next(&mut self, bytes: &[u8], at: usize) -> usize {
        let ahead = self.ahead(self.separators | self.line_ends, at);
        if ahead != 0 {
            return at + ahead.trailing_zeros() as usize;
        }
        self.next_in_other_block(bytes, at)
    }

    /// The number of separators that follow one another from an offset on, as far as the block has
    /// them.
    #[inline]
    pub fn separators_from(&self, at: usize) -> usize {
        (!self.ahead(self.separators, at)).trailing_zeros() as usize
    }

    /// Bits of the block from an offset on, which is at or behind the block's start.
    #[inline]
    fn ahead(&self, bits: u32, at: usize) -> u32 {
        let passed = at - self.start;
        if passed < BLOCK_BYTES {
            bits >> passed
        } else {
            0
        }
    }

    #[inline(never)]
    fn next_in_other_block(&mut self, bytes: &[u8], at: usize) -> usize {
        let mut start = at.max(self.start + BLOCK_BYTES);
        while start < bytes.len() {
            self.find(bytes, start);
            let ends = self.separators | self.line_ends;
            if ends != 0 {
                return start + ends.trailing_zeros() as usize;
            }
            start += BLOCK_BYTES;
        }
        bytes.len()
    }

    /// Looks at the block that begins at an offset.
    #[inline]
    fn find(&mut self, bytes: &[u8], start: usize) {
        self.start = start;
        let rest = &bytes[start..];
        match rest.first_chunk() {
            Some(block) => self.find_in(block),
            None => {
                let mut block = [0; BLOCK_BYTES];
                block[..rest.len()].copy_from_slice(rest);
                self.find_in(&block);
                // Bytes that are not there end nothing.
                let there = (1 << rest.len()) - 1;
                self.separators &= there;
                self.line_ends &= there;
            }
        }
    }

    #[inline]
    fn find_in(&mut self, block: &[u8; BLOCK_BYTES]) {
        let [separator, feed, carriage] = [self.separator, b'\n', b'\r'].map(u8x16::splat);
        let (mut separators, mut line_ends) = (0, 0);
        for (at, piece) in block.as_chunks::<16>().0.iter().enumerate() {
            let piece = u8x16::new(*piece);
            let bits = |found: u8x16| found.to_bitmask() << (16 * at);
            separators |= bits(piece.simd_eq(separator));
            line_ends |= bits(piece.simd_eq(feed) | piece.simd_eq(carriage));
        }
        self.separators = separators;
        self.line_ends = line_ends & !separators;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_end_is_found(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b','), Just(b'\n'), Just(b'\r'), Just(0), Just(b'a'), any::<u8>()],
                0..300,
            ),
            start in 0..300usize,
            steps in proptest::collection::vec(0..90usize, 0..20),
            separator in prop_oneof![Just(b','), Just(b'\n'), Just(0)],
        ) {
            let is_end = |&b: &u8| b == separator || b == b'\n' || b == b'\r';
            let mut at = start.min(bytes.len());
            let mut ends = FieldEnds::new(separator, &bytes, at);
            for step in steps {
                let expected = bytes[at..].iter().position(is_end);
                let expected = expected.map_or(bytes.len(), |found| at + found);
                let found = ends.next(&bytes, at);
                prop_assert_eq!(found, expected);
                let run = ends.separators_from(found);
                let all = bytes[found..].iter().take_while(|&&b| b == separator).count();
                prop_assert!(run <= all && (run > 0 || all == 0));
                at = (found + step).min(bytes.len());
            }
        }
    }
}
