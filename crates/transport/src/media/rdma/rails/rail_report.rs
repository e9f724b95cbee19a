//! Reports of a receiver, which it writes into memory of the sender's by each rail: how far frames
//! are released, and how each rail stands.
//!
//! ```text
//!   0          8                    8 + 8 n   16 + 8 n
//!   +----------+--------------------+---------+---------------------------------------+
//!   | released | a word by rail     | mark    | introduction, once for a connection   |
//!   +----------+--------------------+---------+---------------------------------------+
//!
//!   word of a rail:  63     40  39       38                          0
//!                    +--------+--------+-----------------------------+
//!                    | epoch  | closed | segments received           |
//!                    +--------+--------+-----------------------------+
//! ```
//! Each report tells everything, so any of them makes up for those before it, by whatever rail it
//! comes. The mark follows from the words before it and the sender's salt: a report that is half
//! there is not believed.
//!
//! An epoch is the number of a connection among those that the receiver has asked for on a rail. A
//! rail that is open, or asks, has closed all before its epoch; one that is closed has closed that
//! too. Segments are those of the connection with the epoch.

use super::{EPOCH_BITS, is_at_most};
use crate::RAILS_MAX;
use crate::media::rdma::introduction::INTRODUCTION_WORDS;
use crate::media::rdma::record::RecordMarks;

/// Most words of a report and an introduction.
const REPORT_WORDS_MAX: usize = 2 + RAILS_MAX + INTRODUCTION_WORDS;

/// Bytes of the memory for reports.
pub(super) const REPORT_MEMORY_BYTES: usize = 8 * REPORT_WORDS_MAX;

const EPOCH_SHIFT: u32 = u64::BITS - EPOCH_BITS;
const CLOSED: u64 = 1 << (EPOCH_SHIFT - 1);

/// State of a rail at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RailState {
    /// Number of the connection that the receiver has asked for last.
    pub(super) epoch: u32,
    /// Whether the receiver has closed it.
    pub(super) is_closed: bool,
    /// Segments that it has received on it.
    pub(super) received: u64,
}

impl RailState {
    /// A rail that never had a connection.
    pub(super) const NEVER_OPEN: RailState = RailState {
        epoch: 0,
        is_closed: true,
        received: 0,
    };

    fn to_word(self) -> u64 {
        let closed = if self.is_closed { CLOSED } else { 0 };
        u64::from(self.epoch) << EPOCH_SHIFT | closed | self.received & (CLOSED - 1)
    }

    fn from_word(word: u64) -> RailState {
        RailState {
            epoch: (word >> EPOCH_SHIFT) as u32,
            is_closed: word & CLOSED != 0,
            received: word & (CLOSED - 1),
        }
    }

    /// Whether the receiver has closed the connection with this number, and all before it.
    pub(super) fn has_closed(&self, epoch: u32) -> bool {
        match self.is_closed {
            true => is_at_most(epoch, self.epoch),
            false => is_at_most(epoch, self.epoch.wrapping_sub(1)),
        }
    }
}

/// Words of a report of `rails` rails, with its mark.
pub(super) const fn report_words(rails: usize) -> usize {
    2 + rails
}

/// The words of a report, with the mark behind them.
pub(super) fn seal_report(
    released: u64,
    rails: impl Iterator<Item = RailState>,
    marks: RecordMarks,
    words: &mut Vec<u64>,
) {
    words.clear();
    words.push(released);
    words.extend(rails.map(RailState::to_word));
    words.push(marks.seal(words));
}

/// A report as the sender has read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RailReport {
    pub(super) released: u64,
    words: [u64; RAILS_MAX],
}

impl RailReport {
    /// Reads the words of a report of `rails` rails; `None`: it is not there, or not whole.
    pub(super) fn read(
        word: impl Fn(usize) -> u64,
        rails: usize,
        marks: RecordMarks,
    ) -> Option<RailReport> {
        let mut sealed = [0; 1 + RAILS_MAX];
        for (at, found) in sealed[..=rails].iter_mut().enumerate() {
            *found = word(at);
        }
        if marks.seal(&sealed[..=rails]) != word(1 + rails) {
            return None;
        }
        let mut words = [0; RAILS_MAX];
        words[..rails].copy_from_slice(&sealed[1..=rails]);
        Some(RailReport {
            released: sealed[0],
            words,
        })
    }

    pub(super) fn rail(&self, rail: usize) -> RailState {
        RailState::from_word(self.words[rail])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written_and_a_torn_one_is_none() {
        let marks = RecordMarks::new(77);
        let states = [((1 << 24) - 1, true, 0), (3, false, 1 << 38)];
        let states = states.map(|(epoch, is_closed, received)| RailState {
            epoch,
            is_closed,
            received,
        });
        let mut words = Vec::new();
        seal_report(4096, states.into_iter(), marks, &mut words);
        assert_eq!(words.len(), report_words(2));
        let read = RailReport::read(|at| words[at], 2, marks).expect("whole");
        assert_eq!(
            (read.released, read.rail(0), read.rail(1)),
            (4096, states[0], states[1])
        );
        for torn in 0..words.len() {
            let word = |at: usize| words[at] ^ u64::from(at == torn) << 8;
            assert_eq!(RailReport::read(word, 2, marks), None, "word {torn}");
        }
        assert_eq!(
            RailReport::read(|_| 0, 2, marks),
            None,
            "memory that nobody wrote"
        );
    }

    #[test]
    fn what_is_closed_follows_from_the_last_connection() {
        let state = |epoch, is_closed| RailState {
            epoch,
            is_closed,
            received: 0,
        };
        assert!(state(3, true).has_closed(3) && state(3, true).has_closed(2));
        assert!(!state(3, true).has_closed(4));
        assert!(state(3, false).has_closed(2) && !state(3, false).has_closed(3));
        let last = (1 << 24) - 1;
        assert!(state(1, false).has_closed(last) && state(0, false).has_closed(last));
        assert!(!RailState::NEVER_OPEN.has_closed(1));
    }
}
