//! The header of a batch, which precedes the frames that are sent together.
//!
//! ```text
//!   0             8           12          16            24         32
//!   +-------------+-----------+-----------+-------------+----------+------------------------+
//!   | header of a | magic u32 | bytes u32 | position    | seal     | frames: `bytes` bytes  |
//!   | frame       |           |           |             |          |                        |
//!   +-------------+-----------+-----------+-------------+----------+------------------------+
//! ```
//! Numbers have the native byte order, as frames do. A batch header is a padding frame, so that a
//! run of polled frames may contain batch headers.
//!
//! A position is an index in the sender's ring: bytes since the beginning. Positions go on from
//! batch to batch, except for padding at the end of the ring, which is not sent. The seal is
//! computed from everything else in the header, from the position at which the last batch ended,
//! and from a key of this receiver: a batch that was lost, doubled, cut off or of another stream is
//! not taken for the next one. The frames themselves are protected by TCP's checksum only.
//!
//! On a rail, which carries a part of a stream, the seal is computed from the number of batches
//! before it on its connection instead, and from a key of the rail.

use ring::frame::{FrameHeader, HEADER_BYTES, PAD};

use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::stream_end::END_OF_STREAM;

/// Bytes of a batch header.
pub(super) const BATCH_HEADER_BYTES: usize = 32;

/// Flags of the header of padding, whose bytes are not sent.
const PADDING: u8 = 2;

const MAGIC: u32 = u32::from_ne_bytes(*b"rumB");

/// An encoded batch header.
pub(super) type BatchHeaderWords = [u64; BATCH_HEADER_BYTES / 8];

/// Contents of a batch header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchHeader {
    /// Position at which the batch's frames begin.
    pub(super) position: u64,
    /// Bytes of the batch's frames.
    pub(super) bytes: u32,
    /// Meaning of the bytes.
    pub(super) content: BatchContent,
}

/// Content of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BatchContent {
    /// Frames of the stream, which follow the header.
    Frames,
    /// Padding at the ring's end: nothing follows the header.
    Padding,
    /// The sender has closed its end: no byte of the stream lies beyond the position.
    EndOfStream,
}

impl BatchContent {
    fn to_flags(self) -> u8 {
        match self {
            BatchContent::Frames => 0,
            BatchContent::Padding => PADDING,
            BatchContent::EndOfStream => END_OF_STREAM,
        }
    }

    fn from_flags(flags: u8) -> BatchContent {
        match flags {
            PADDING => BatchContent::Padding,
            END_OF_STREAM => BatchContent::EndOfStream,
            _ => BatchContent::Frames,
        }
    }
}

/// Key of the seals between a sender and one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchSealKey(u64);

impl BatchSealKey {
    /// Derives the key from the receiver's handshake.
    pub(super) fn from_handshake(handshake: &Handshake) -> BatchSealKey {
        let (left, right) = handshake.token.split_at(8);
        let half = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
        let end = u64::from(handshake.edge) << 32 | u64::from(handshake.receiver);
        let parts = [half(left), half(right), end, handshake.instance];
        BatchSealKey(parts.into_iter().fold(0, mix_bits))
    }

    /// The key of one rail of the receiver.
    pub(super) fn of_rail(self, rail: usize) -> BatchSealKey {
        BatchSealKey(mix_bits(self.0, rail as u64 + 1))
    }
}

/// Mixes two words: every bit of either changes about half of the bits of the result.
fn mix_bits(left: u64, right: u64) -> u64 {
    let mixed = (left ^ right).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

impl BatchHeader {
    /// Encodes the header, sealed for a receiver that expects the position `expected` next.
    pub(super) fn to_words(self, key: BatchSealKey, expected: u64) -> BatchHeaderWords {
        let header = FrameHeader {
            len: (BATCH_HEADER_BYTES - HEADER_BYTES) as u32,
            kind: PAD,
            flags: self.content.to_flags(),
        };
        let size = u64::from(MAGIC) | u64::from(self.bytes) << 32;
        let words = [header.to_word(), size, self.position];
        let seal = words.into_iter().chain([expected]).fold(key.0, mix_bits);
        [words[0], words[1], words[2], seal]
    }

    /// Decodes the header of a batch and checks its seal.
    ///
    /// # Errors
    /// The bytes are not the header of the next batch.
    pub(super) fn from_words(
        words: BatchHeaderWords,
        key: BatchSealKey,
        expected: u64,
    ) -> Result<BatchHeader, String> {
        let head = BatchHeader {
            position: words[2],
            bytes: (words[1] >> 32) as u32,
            content: BatchContent::from_flags(FrameHeader::from_word(words[0]).flags),
        };
        if words != head.to_words(key, expected) {
            return Err(format!(
                "a batch that is not the one expected at position {expected}"
            ));
        }
        Ok(head)
    }
}

const _: () = assert!(BATCH_HEADER_BYTES == size_of::<BatchHeaderWords>());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tcp_edge::handshake::{ConnectionPurpose, FramingProtocol};

    fn handshake() -> Handshake {
        Handshake {
            protocol: FramingProtocol::Rum,
            edge: 3,
            receiver: 4,
            token: *b"sixteen secret b",
            instance: 5,
            position: 0,
            purpose: ConnectionPurpose::Frames,
            liveness_port: 0,
        }
    }

    const HEAD: BatchHeader = BatchHeader {
        position: 1 << 40,
        bytes: 4096,
        content: BatchContent::Frames,
    };

    #[test]
    fn a_head_comes_out_as_it_went_in() {
        let key = BatchSealKey::from_handshake(&handshake());
        for content in [
            BatchContent::Frames,
            BatchContent::Padding,
            BatchContent::EndOfStream,
        ] {
            let head = BatchHeader { content, ..HEAD };
            let words = head.to_words(key, 77);
            assert_eq!(BatchHeader::from_words(words, key, 77), Ok(head));
        }
    }

    #[test]
    fn any_change_is_noticed() {
        let key = BatchSealKey::from_handshake(&handshake());
        let words = HEAD.to_words(key, 77);
        for word in 0..words.len() {
            for bit in 0..64 {
                let mut words = words;
                words[word] ^= 1 << bit;
                let read = BatchHeader::from_words(words, key, 77);
                assert!(read.is_err(), "bit {bit} of word {word}: {read:?}");
            }
        }
    }

    #[test]
    fn another_place_or_another_receiver_is_noticed() {
        let words = HEAD.to_words(BatchSealKey::from_handshake(&handshake()), 77);
        assert!(
            BatchHeader::from_words(words, BatchSealKey::from_handshake(&handshake()), 78).is_err()
        );
        let key = BatchSealKey::from_handshake(&handshake());
        for rail in 0..2 {
            let read = BatchHeader::from_words(words, key.of_rail(rail), 77);
            assert!(read.is_err(), "a rail's batch");
            let words = HEAD.to_words(key.of_rail(rail), 77);
            assert!(BatchHeader::from_words(words, key.of_rail(1 - rail), 77).is_err());
        }
        let mut token = handshake().token;
        token[0] ^= 1;
        let others = [
            Handshake {
                edge: 4,
                ..handshake()
            },
            Handshake {
                token,
                ..handshake()
            },
            Handshake {
                receiver: 3,
                ..handshake()
            },
            Handshake {
                instance: 6,
                ..handshake()
            },
        ];
        for other in others {
            assert!(
                BatchHeader::from_words(words, BatchSealKey::from_handshake(&other), 77).is_err()
            );
        }
    }
}
