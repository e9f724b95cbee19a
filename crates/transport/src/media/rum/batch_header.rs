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

use ring::frame::{FrameHeader, HEADER_BYTES, PAD};

use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::stream_end::END_OF_STREAM;

/// Bytes of a batch header.
pub(super) const BATCH_HEADER_BYTES: usize = 32;

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
    /// The sender has closed its end: nothing follows.
    pub(super) is_end_of_stream: bool,
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
            flags: if self.is_end_of_stream {
                END_OF_STREAM
            } else {
                0
            },
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
            is_end_of_stream: FrameHeader::from_word(words[0]).flags == END_OF_STREAM,
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
        is_end_of_stream: false,
    };

    #[test]
    fn a_head_comes_out_as_it_went_in() {
        let key = BatchSealKey::from_handshake(&handshake());
        for leaves in [false, true] {
            let head = BatchHeader {
                is_end_of_stream: leaves,
                ..HEAD
            };
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
