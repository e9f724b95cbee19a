//! The word of a receiver's request by a rail that says which rail it is, and which try: in place
//! of the position that a request without rails names.
//!
//! ```text
//!   31      28 27     24 23                     0
//!   +---------+---------+-----------------------+
//!   | rails   | rail    | epoch                 |
//!   +---------+---------+-----------------------+
//! ```

use super::{EPOCH_BITS, EPOCH_MASK};

/// Bits of a number of rails.
const RAIL_BITS: u32 = 4;

/// A request for a connection of a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RailRequest {
    /// Number of the rail, and of how many.
    pub(super) rail: usize,
    pub(super) rails: usize,
    /// Number of the connection among those that the receiver has asked for on this rail, from 1
    /// on and around. The receiver has closed all before it.
    pub(super) epoch: u32,
}

impl RailRequest {
    pub(super) fn to_word(self) -> u32 {
        let rails = (self.rails as u32) << (EPOCH_BITS + RAIL_BITS);
        rails | (self.rail as u32) << EPOCH_BITS | self.epoch & EPOCH_MASK
    }

    pub(super) fn from_word(word: u32) -> RailRequest {
        RailRequest {
            rail: (word >> EPOCH_BITS & ((1 << RAIL_BITS) - 1)) as usize,
            rails: (word >> (EPOCH_BITS + RAIL_BITS)) as usize,
            epoch: word & EPOCH_MASK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RAILS_MAX;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        for (rail, rails, epoch) in [(0, 2, 1), (RAILS_MAX - 1, RAILS_MAX, EPOCH_MASK)] {
            let request = RailRequest { rail, rails, epoch };
            assert_eq!(RailRequest::from_word(request.to_word()), request);
        }
    }
}
