//! When a receiver in modes `write` and `batch` tells its sender of released room.
//!
//! In mode `write` credit is withheld until an eighth of the ring is released, until many polls
//! have found nothing, or until the thread is about to sleep: a frame costs a part of a write of
//! credit. What is withheld never takes the room of a frame, since a record has at most 7/16 of the
//! ring ([`WITHHELD_PART`]). In mode `batch` credit is due as soon as no further record has come,
//! since the sender's batches go out sooner to a receiver that has released all.

use super::number_buffers::NUMBER_BUFFERS;
use super::record::WITHHELD_PART;

/// Polls in a row without a frame after which withheld credit is written: more than pass between
/// the frames of a busy stream, and few enough that a sender which waits until all is released does
/// not notice them.
const POLLS_PER_CREDIT: u32 = 256;

/// Records that may be released before credit for them is written, where the numbers of writes use
/// receive buffers: half of the writes after which a sender waits for credit.
const WITHHELD_RECORDS: usize = NUMBER_BUFFERS / 4;

/// Position up to which frames are released, and the credit for it that is not written yet.
#[derive(Debug)]
pub(super) struct WithheldCredit {
    /// Released bytes and records for which credit is due.
    bytes_max: u64,
    records_max: usize,
    /// Whether credit is due when no further record has come.
    is_eager: bool,
    released: u64,
    credited: u64,
    /// Number of records that were released since credit was written, and of those that have come
    /// and are not released.
    records: usize,
    unreleased_records: usize,
    /// Number of polls in a row that have found no frame; it may wrap around.
    empty_polls: u32,
}

impl WithheldCredit {
    /// Credit for a ring of so many bytes. `is_eager`: it is due when no further record has come.
    pub(super) fn new(ring_bytes: u64, uses_number_buffers: bool, is_eager: bool) -> Self {
        WithheldCredit {
            bytes_max: ring_bytes / WITHHELD_PART,
            records_max: if uses_number_buffers {
                WITHHELD_RECORDS
            } else {
                usize::MAX
            },
            is_eager,
            released: 0,
            credited: 0,
            records: 0,
            unreleased_records: 0,
            empty_polls: 0,
        }
    }

    /// Position up to which frames are released.
    pub(super) fn released(&self) -> u64 {
        self.released
    }

    /// Notes that a poll has found a record.
    pub(super) fn note_record(&mut self) {
        self.unreleased_records += 1;
        self.empty_polls = 0;
    }

    /// Notes that a poll has found nothing. Returns how many have in a row.
    pub(super) fn note_empty_poll(&mut self) -> u32 {
        self.empty_polls = self.empty_polls.wrapping_add(1);
        self.empty_polls
    }

    /// Notes that everything up to a position is released.
    pub(super) fn release(&mut self, position: u64) {
        self.released = position;
        self.records += std::mem::take(&mut self.unreleased_records);
    }

    /// Notes that credit for all that is released is written.
    pub(super) fn note_written(&mut self) {
        self.credited = self.released;
        self.records = 0;
    }

    /// Whether something is released for which no credit is written.
    pub(super) fn is_owed(&self) -> bool {
        self.released > self.credited
    }

    /// Whether credit is to be written at a release; `is_idle`: no further record has come.
    pub(super) fn is_due(&self, is_idle: impl FnOnce() -> bool) -> bool {
        self.is_owed() && (self.is_much() || self.is_eager && is_idle())
    }

    /// Whether so much is released that the sender is to be told, whatever comes.
    fn is_much(&self) -> bool {
        self.released - self.credited >= self.bytes_max || self.records >= self.records_max
    }

    /// Whether credit that is owed is to be written after a poll that has found nothing: there may
    /// have been no room for it at the release.
    pub(super) fn is_due_when_empty(&self) -> bool {
        self.is_eager || self.is_much() || self.empty_polls >= POLLS_PER_CREDIT
    }
}

#[cfg(test)]
mod tests {
    use super::{POLLS_PER_CREDIT, WITHHELD_RECORDS, WithheldCredit};

    #[test]
    fn an_eighth_of_the_ring_is_withheld() {
        let mut credit = WithheldCredit::new(800, false, false);
        assert!(!credit.is_due(|| true));
        credit.release(99);
        assert!(credit.is_owed() && !credit.is_due(|| true));
        credit.release(100);
        assert!(credit.is_due(|| false));
        credit.note_written();
        credit.release(199);
        assert!(!credit.is_due(|| true));
    }

    #[test]
    fn records_count_where_numbers_use_buffers() {
        let mut credit = WithheldCredit::new(1 << 20, true, false);
        for at in 1..=WITHHELD_RECORDS as u64 {
            assert!(!credit.is_due(|| true));
            credit.note_record();
            credit.release(at);
        }
        assert!(credit.is_due(|| false));
        credit.note_written();
        assert!(!credit.is_due(|| false));
    }

    #[test]
    fn records_that_are_not_released_count_for_the_next_credit() {
        let mut credit = WithheldCredit::new(1 << 20, true, false);
        credit.release(1);
        for _ in 0..WITHHELD_RECORDS {
            credit.note_record();
        }
        assert!(!credit.is_due(|| true));
        credit.note_written();
        credit.release(1 + WITHHELD_RECORDS as u64);
        assert!(credit.is_due(|| false) && credit.is_due_when_empty());
    }

    #[test]
    fn polls_without_a_frame_end_it() {
        let mut credit = WithheldCredit::new(800, false, false);
        for _ in 1..POLLS_PER_CREDIT {
            credit.note_empty_poll();
        }
        assert!(!credit.is_due_when_empty());
        credit.note_record();
        credit.note_empty_poll();
        assert!(!credit.is_due_when_empty());
        for _ in 1..POLLS_PER_CREDIT {
            credit.note_empty_poll();
        }
        assert!(credit.is_due_when_empty());
    }

    #[test]
    fn an_eager_receiver_withholds_nothing_when_idle() {
        let mut credit = WithheldCredit::new(800, false, true);
        credit.release(8);
        assert!(credit.is_due(|| true) && !credit.is_due(|| false));
        assert!(credit.is_due_when_empty());
    }
}
