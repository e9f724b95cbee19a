//! Numbers that come with the writes of a rail: which positions of the ring were written, and what
//! else the sender says.
//!
//! ```text
//!   63  62        32 31                          0
//!   +---+-----------+----------------------------+
//!   | 1 | words     | lowest bits of a position  |     a segment, where numbers have 8 bytes
//!   +---+-----------+-----+----------------------+
//!   | 0               kind| 28 bits              |     all others, which need 4 bytes
//!   +---------------------+----------------------+
//! ```
//! A provider whose numbers have 4 bytes brings two for a segment: one with the position at which
//! it begins, with a write of no bytes of the ring, and one with the position at which it ends. A
//! rail whose next segment begins where its last one has ended needs no first number.
//!
//! Positions are multiples of 8, and a ring has at most [`RING_BYTES_MAX`] bytes, so the bits that
//! are there name one position near that which the receiver has released.

use super::{EPOCH_BITS, EPOCH_MASK};

/// Most bytes of a ring with rails: half of what 31 bits tell apart, so that positions before and
/// behind the one that is released are told apart too.
pub(super) const RING_BYTES_MAX: usize = (1 << 30) - 8;

const SEGMENT: u64 = 1 << 63;
const KIND_SHIFT: u32 = 28;
const REST: u64 = (1 << KIND_SHIFT) - 1;

const BEGIN: u64 = 1;
const END: u64 = 2;
const EMPTY: u64 = 3;
const CLOSE: u64 = 4;

/// A number that comes with a write. Positions are lowest bits; see [`near`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RailNumber {
    /// Bytes of the ring were written, from a position on.
    Segment { from: u32, bytes: u32 },
    /// The segment of the next number begins at a position.
    Begin { from: u32 },
    /// Bytes of the ring were written, up to a position.
    End { to: u32 },
    /// Nothing was written: the sender asks for a report.
    Empty,
    /// The sender has closed the connection of another rail with this number, and all before it.
    Close { rail: u8, epoch: u32 },
}

impl RailNumber {
    pub(super) fn to_bits(self) -> u64 {
        let of_kind = |kind: u64, rest: u64| kind << KIND_SHIFT | rest;
        match self {
            RailNumber::Segment { from, bytes } => {
                SEGMENT | u64::from(bytes / 8) << 32 | u64::from(from)
            }
            RailNumber::Begin { from } => of_kind(BEGIN, u64::from(from >> 3) & REST),
            RailNumber::End { to } => of_kind(END, u64::from(to >> 3) & REST),
            RailNumber::Empty => of_kind(EMPTY, 0),
            RailNumber::Close { rail, epoch } => {
                of_kind(CLOSE, u64::from(rail) << EPOCH_BITS | u64::from(epoch))
            }
        }
    }

    /// Reads a number of a peer, which may be any; `None`: it means nothing.
    pub(super) fn from_bits(bits: u64) -> Option<RailNumber> {
        if bits & SEGMENT != 0 {
            let (from, words) = (bits as u32, (bits & !SEGMENT) >> 32);
            let is_sound = from.is_multiple_of(8) && words <= REST;
            let bytes = (words & REST) as u32 * 8;
            return is_sound.then_some(RailNumber::Segment { from, bytes });
        }
        let (kind, rest) = (bits >> KIND_SHIFT, (bits & REST) as u32);
        match kind {
            BEGIN => Some(RailNumber::Begin { from: rest << 3 }),
            END => Some(RailNumber::End { to: rest << 3 }),
            EMPTY => Some(RailNumber::Empty),
            CLOSE => Some(RailNumber::Close {
                rail: (rest >> EPOCH_BITS) as u8,
                epoch: rest & EPOCH_MASK,
            }),
            _ => None,
        }
    }
}

/// The position nearest to another whose lowest 31 bits are these; `None`: there is none.
pub(super) fn near(position: u64, low: u32) -> Option<u64> {
    let ahead = low.wrapping_sub(position as u32) << 1;
    position.checked_add_signed(i64::from(ahead as i32 >> 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_written() {
        for number in [
            RailNumber::Segment {
                from: u32::MAX - 7,
                bytes: 1 << 30,
            },
            RailNumber::Segment { from: 0, bytes: 8 },
            RailNumber::Begin {
                from: (1 << 31) - 8,
            },
            RailNumber::End { to: 16 },
            RailNumber::Empty,
            RailNumber::Close {
                rail: 7,
                epoch: EPOCH_MASK,
            },
        ] {
            assert_eq!(RailNumber::from_bits(number.to_bits()), Some(number));
            let is_wide = matches!(number, RailNumber::Segment { .. });
            assert_eq!(number.to_bits() > u64::from(u32::MAX), is_wide);
        }
        for bits in [0, 5 << KIND_SHIFT, 1 << 40, SEGMENT | 4, u64::MAX] {
            assert_eq!(RailNumber::from_bits(bits), None, "{bits:#x}");
        }
    }

    #[test]
    fn a_position_is_found_by_its_lowest_bits() {
        let ring = RING_BYTES_MAX as u64;
        for released in [0, 8, ring - 8, 1 << 31, (1 << 32) + 8, 1 << 40] {
            for ahead in [0, 8, ring] {
                let position = released + ahead;
                assert_eq!(near(released, position as u32), Some(position));
                assert_eq!(
                    near(released, position as u32 & 0x7fff_ffff),
                    Some(position)
                );
                let behind = near(position, released as u32);
                assert_eq!(behind, Some(released));
            }
        }
        assert_eq!(near(0, u32::MAX - 7), None);
    }
}
