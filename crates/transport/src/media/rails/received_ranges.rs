//! The ranges of a striped stream that have been received: everything before one position, and some
//! ranges ahead of it.
//!
//! ```text
//!   =================|      |=======|   |====|
//!                 in_order       ahead
//! ```

/// Ranges for which memory is reserved: there are few more than rails, unless a rail is far behind.
const RANGES_RESERVED: usize = 32;

/// Received ranges of positions.
#[derive(Debug)]
pub(in crate::media) struct ReceivedRanges {
    in_order: u64,
    /// Ranges beyond `in_order`, in order, none empty and none touching another.
    ahead: Vec<(u64, u64)>,
}

impl Default for ReceivedRanges {
    /// Ranges of a stream of which nothing is received.
    fn default() -> ReceivedRanges {
        ReceivedRanges {
            in_order: 0,
            ahead: Vec::with_capacity(RANGES_RESERVED),
        }
    }
}

impl ReceivedRanges {
    /// Position before which everything was received.
    pub(in crate::media) fn in_order(&self) -> u64 {
        self.in_order
    }

    /// Adds the positions from `from` up to `to`; some of them may have been received before.
    pub(in crate::media) fn add(&mut self, from: u64, to: u64) {
        if to <= self.in_order || from >= to {
            return;
        }
        // The ranges that the new one touches become one with it.
        let first = self.ahead.partition_point(|range| range.1 < from);
        let after = self.ahead.partition_point(|range| range.0 <= to);
        let touched = self.ahead.drain(first..after);
        let (from, to) = touched.fold((from, to), |(from, to), range| {
            (from.min(range.0), to.max(range.1))
        });
        match from <= self.in_order {
            true => self.in_order = to,
            false => self.ahead.insert(first, (from, to)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The ranges agree with a list of single positions.
        #[test]
        fn any_pieces_in_any_order_are_counted(
            pieces in prop::collection::vec((0u64..60, 0u64..12), 0..60),
        ) {
            let (mut ranges, mut positions) = (ReceivedRanges::default(), [false; 80]);
            for (from, bytes) in pieces {
                ranges.add(from, from + bytes);
                positions[from as usize..(from + bytes) as usize].fill(true);
                let in_order = positions.iter().take_while(|is_there| **is_there).count();
                prop_assert_eq!(ranges.in_order(), in_order as u64);
                let is_sound = ranges.ahead.iter().all(|(from, to)| from < to)
                    && ranges.ahead.windows(2).all(|pair| pair[0].1 < pair[1].0)
                    && ranges.ahead.first().is_none_or(|first| first.0 > ranges.in_order);
                prop_assert!(is_sound, "{:?}", ranges);
                let ahead: u64 = ranges.ahead.iter().map(|(from, to)| to - from).sum();
                let count = positions.iter().filter(|is_there| **is_there).count() as u64;
                prop_assert_eq!(ranges.in_order() + ahead, count);
            }
        }
    }
}
