//! Records: what a remote write brings into the receiver's ring.
//!
//! ```text
//!   0            4          8                   8 + n       16 + n
//!   +------------+----------+-------------------+-----------+
//!   | n u32      | number   | frames            | end mark  |
//!   +------------+----------+-------------------+-----------+
//!     xor with the salt       n bytes, n % 8 = 0
//! ```
//! Length and number are one aligned word, so a receiver that polls it sees both or none. The end
//! mark follows from the salt of the sender, the number and the length: neither bytes of an earlier
//! round of the ring nor a tuple's own bytes pass for it, but for a chance of 1 in 2^64.
//!
//! A record does not go around the end of the ring. If there is room for a mark but not for the
//! record, [`WRAP_BYTES`] stands in the place of the length and the end mark follows at once; if
//! there is no room even for that, the rest of the ring is skipped.
//!
//! # When the marks may be trusted
//! Marks show that a record is whole only where the bytes of a write are placed from the first to
//! the last, and writes one after the other. InfiniBand does not promise it, though many adapters
//! do it; libfabric has no way to ask. Where nothing promises it, each write brings a number that
//! the adapter tells after the data ([`super::PlacementProof`]).

/// Bytes of a record besides its frames.
pub(super) const RECORD_OVERHEAD_BYTES: usize = 16;

/// Length in the head of a record that only says: go on at the start of the ring.
pub(super) const WRAP_BYTES: u32 = u32::MAX;

/// Bytes of credit: two words.
pub(super) const CREDIT_BYTES: usize = 16;

/// The ring divided by it is the room that a receiver may have released without writing credit for
/// it. The room of every record must be within the rest.
pub(super) const WITHHELD_PART: u64 = 8;

/// The marks of the records of one sender, and of the credit that it gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordMarks {
    salt: u64,
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordHead {
    /// Number of the record, counted from 0 and around.
    pub(super) number: u32,
    /// Bytes of its frames, or [`WRAP_BYTES`].
    pub(super) bytes: u32,
}

impl RecordMarks {
    pub(super) fn new(salt: u64) -> RecordMarks {
        RecordMarks { salt }
    }

    /// The word of a record's head.
    pub(super) fn head_word(self, head: RecordHead) -> u64 {
        (u64::from(head.bytes) | u64::from(head.number) << 32) ^ self.salt
    }

    /// The head that a word would be; the end mark shows whether it is one.
    pub(super) fn head(self, word: u64) -> RecordHead {
        let word = word ^ self.salt;
        RecordHead {
            number: (word >> 32) as u32,
            bytes: word as u32,
        }
    }

    /// The end mark of a record: the mixed head.
    pub(super) fn end_word(self, head: RecordHead) -> u64 {
        self.mix(self.head_word(head))
    }

    /// The two words of credit: a position, and a word that follows from it. A write may be seen
    /// while some of its bytes are missing; then the words do not fit each other.
    pub(super) fn credit_words(self, position: u64) -> [u64; 2] {
        [position, self.mix(!position)]
    }

    /// The position of two words of credit; `None`: they do not fit each other.
    pub(super) fn credited(self, words: [u64; 2]) -> Option<u64> {
        (self.credit_words(words[0]) == words).then_some(words[0])
    }

    /// A word that follows from several.
    pub(super) fn seal(self, words: &[u64]) -> u64 {
        words
            .iter()
            .fold(!self.salt, |sealed, word| self.mix(sealed ^ word))
    }

    /// A word from which the other follows, but not the other way round without the salt: as
    /// SplitMix64 mixes.
    fn mix(self, word: u64) -> u64 {
        let mut mixed = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31).wrapping_add(self.salt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_credit_is_none() {
        let marks = RecordMarks::new(0x1234_5678_9abc_def0);
        let (old, new) = (marks.credit_words(0x01f8), marks.credit_words(0x0210));
        assert_eq!(marks.credited(new), Some(0x0210));
        let bytes = |words: [u64; 2]| words.map(u64::to_ne_bytes).concat();
        for come in 1..16 {
            let torn = [&bytes(new)[..come], &bytes(old)[come..]].concat();
            let word = |at| u64::from_ne_bytes(torn[at..at + 8].try_into().expect("8 bytes"));
            let credited = marks.credited([word(0), word(8)]);
            assert!(
                credited.is_none_or(|at| at == 0x01f8 || at == 0x0210),
                "{come}"
            );
        }
    }

    #[test]
    fn a_head_is_read_as_it_was_written() {
        for salt in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            let marks = RecordMarks::new(salt);
            for (number, bytes) in [(0, 8), (7, WRAP_BYTES), (u32::MAX, 1 << 30)] {
                let head = RecordHead { number, bytes };
                assert_eq!(marks.head(marks.head_word(head)), head);
                let next = RecordHead {
                    number: number.wrapping_add(1),
                    bytes,
                };
                assert_ne!(marks.end_word(head), marks.end_word(next));
            }
        }
    }
}
