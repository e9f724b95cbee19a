//! The sending thread's side of modes `write` and `batch`: the ring that is the source of remote
//! writes.
//!
//! ```text
//!   positions   released by     posted to      committed
//!               a receiver      a receiver
//!   ring        |...............|..............|            |
//!                released later   not sent yet    free
//! ```
//! Positions only grow; position p lies at p modulo the bytes of the ring. A commit is posted at
//! once while few writes are on their way. Otherwise it waits with those behind it and joins the
//! last record, if that was not posted: the busier the connection, the larger the writes. In mode
//! `batch`, a commit waits for its batch, and is looked at as often as `rum` does.

use std::sync::{Arc, Mutex};

use fabric::{PinnedMemory, RdmaNode};
use ring::frame::{FrameHeader, HEADER_BYTES, frame_bytes};

use super::batch_pacing::BatchTerms;
use super::mode::{ModeSender, check_claim, lock};
use super::record::{RECORD_OVERHEAD_BYTES, RecordHead, RecordMarks, WITHHELD_PART, WRAP_BYTES};
use super::ring_targets::RingTargets;
use super::write_targets::{Committed, WriteTargets, WriteTerms, memory};
use crate::media::rum::commit_budget::CommitBudget;
use crate::{EdgeSpec, Error};

/// The sending thread's side of an edge in mode `write` or `batch`.
pub(super) struct WriteSender<T> {
    targets: Arc<Mutex<T>>,
    ring: PinnedMemory,
    ring_bytes: u64,
    marks: RecordMarks,
    committed: Committed,
    /// The last record, if it has not gone around the ring since.
    last_record: Option<LastRecord>,
    claim: Option<Claim>,
    /// In mode `batch`: how much is committed before the next look at the batch.
    budget: Option<CommitBudget>,
    /// Numbers of the receivers that are gone, as of the last call.
    lost: Vec<u32>,
}

/// The last record: its position, and the bytes of its frames.
#[derive(Clone, Copy, Debug)]
struct LastRecord {
    position: u64,
    bytes: u64,
}

/// Room for a frame.
#[derive(Clone, Copy, Debug)]
struct Claim {
    /// Position of the record that gets the frame.
    record: u64,
    /// Bytes of the frames that the record has already.
    before: u64,
    len: usize,
    /// Position of the end of the ring, if the record begins behind it and a mark must say so.
    wraps_at: Option<u64>,
}

impl<N: RdmaNode> WriteSender<WriteTargets<N>> {
    /// Makes the sender's side over a node that listens.
    pub(super) fn new(
        node: N,
        spec: &EdgeSpec,
        terms: &WriteTerms,
    ) -> Result<WriteSender<WriteTargets<N>>, Error> {
        let ring = memory(terms.ring_bytes as usize)?;
        let targets = WriteTargets::new(node, spec, terms, &ring)?;
        Ok(WriteSender::over(targets, ring, spec, terms))
    }
}

impl<T: RingTargets> WriteSender<T> {
    /// Makes the sender's side over its receivers and its ring.
    pub(super) fn over(
        targets: T,
        ring: PinnedMemory,
        spec: &EdgeSpec,
        terms: &WriteTerms,
    ) -> WriteSender<T> {
        let ring_bytes = terms.ring_bytes as usize;
        let batch_bytes = |batch: &BatchTerms| batch.batching.bytes_max.min(ring_bytes / 4);
        WriteSender {
            targets: Arc::new(Mutex::new(targets)),
            ring,
            ring_bytes: terms.ring_bytes,
            marks: RecordMarks::new(terms.salt),
            committed: Committed::default(),
            last_record: None,
            claim: None,
            budget: (terms.batch.as_ref()).map(|batch| CommitBudget::new(batch_bytes(batch))),
            lost: Vec::with_capacity(spec.receiver_count as usize),
        }
    }
}

impl<T: RingTargets> ModeSender for WriteSender<T> {
    type Targets = T;

    fn targets(&self) -> &Arc<Mutex<T>> {
        &self.targets
    }

    /// Most bytes of a payload. When all is released, the room is the ring but for credit that the
    /// receiver withholds, 1/[`WITHHELD_PART`] of it; a record fits there, wherever the ring ends,
    /// if it has half of that.
    fn payload_bytes_max(&self) -> usize {
        let room = self.ring_bytes - self.ring_bytes / WITHHELD_PART;
        (room as usize / 2 - RECORD_OVERHEAD_BYTES - HEADER_BYTES) / 8 * 8
    }

    /// Claims room for a payload, perhaps after some progress. Returns whether there is room: then
    /// [`WriteSender::claimed`] is it.
    ///
    /// # Errors
    /// See [`crate::SendingEnd::claim`].
    fn try_claim(&mut self, len: usize) -> Result<bool, Error> {
        check_claim(len, self.payload_bytes_max())?;
        self.claim = None;
        let mut targets = lock(&self.targets);
        let mut claim = self.find_room(&targets, len);
        if claim.is_none() {
            targets.hold(self.committed);
            targets.progress()?;
            targets.let_out();
            claim = self.find_room(&targets, len);
            if let Some(budget) = &mut self.budget {
                budget.begin_batch(self.committed.end);
            }
        }
        targets.list_lost(&mut self.lost);
        targets.check_receivers()?;
        // A record that a claim goes on with must not be posted before it is whole again.
        let extended = claim.filter(|claim| claim.before > 0);
        targets.hold(match extended {
            None => self.committed,
            Some(claim) => Committed {
                end: claim.record,
                records: self.committed.records.wrapping_sub(1),
                turn: self.committed.turn,
            },
        });
        drop(targets);
        self.claim = claim;
        Ok(claim.is_some())
    }

    /// The room that was claimed; empty if there is none.
    fn claimed(&mut self) -> &mut [u8] {
        match self.claim {
            Some(claim) => self.payload_mut(claim),
            None => &mut [],
        }
    }

    /// Forgets the claim, so that the record that it goes on with can be posted.
    fn forget_claim(&mut self) {
        if self.claim.take().is_some() {
            lock(&self.targets).hold(self.committed);
        }
    }

    /// Commits the claim: see [`crate::SendingEnd::commit`].
    fn commit(&mut self, kind: u8, flags: u8, len: usize) -> bool {
        let claim = self.claim.take().filter(|claim| len <= claim.len);
        let claim = claim.expect("commit of bytes that were claimed");
        if let Some(end) = claim.wraps_at {
            self.turn(end, claim.record);
        } else if claim.before == 0 && claim.record.is_multiple_of(self.ring_bytes) {
            self.committed.turn = (claim.record, self.committed.records);
        }
        let header = FrameHeader {
            len: len as u32,
            kind,
            flags,
        };
        let offset = self.offset(claim.record);
        self.put_word(offset + 8 + claim.before as usize, header.to_word());
        let bytes = claim.before + frame_bytes(len) as u64;
        if claim.before == 0 {
            self.committed.records = self.committed.records.wrapping_add(1);
        }
        let head = RecordHead {
            number: self.committed.records.wrapping_sub(1),
            bytes: bytes as u32,
        };
        self.put_word(offset + 8 + bytes as usize, self.marks.end_word(head));
        self.put_word(offset, self.marks.head_word(head));
        let position = claim.record;
        self.last_record = Some(LastRecord { position, bytes });
        self.committed.end = position + bytes + RECORD_OVERHEAD_BYTES as u64;
        let has_doubled = claim.before.checked_ilog2() != bytes.checked_ilog2();
        self.hand_over(frame_bytes(len) as u64, has_doubled)
    }

    /// Takes completions, credit, requests and losses, and posts what waits.
    fn progress(&mut self) -> Result<(), Error> {
        self.forget_claim();
        let mut targets = lock(&self.targets);
        let progress = targets.progress();
        targets.list_lost(&mut self.lost);
        progress
    }

    /// Gets out what is committed: see [`crate::SendingEnd::flush`].
    fn flush(&mut self) -> Result<bool, Error> {
        self.forget_claim();
        let mut targets = lock(&self.targets);
        let is_out = targets.flush();
        targets.list_lost(&mut self.lost);
        if let Some(budget) = &mut self.budget {
            budget.begin_batch(self.committed.end);
        }
        is_out
    }

    /// Numbers of the receivers that were gone at the last call.
    fn lost_receivers(&self) -> &[u32] {
        &self.lost
    }

    /// Whether every living receiver has released everything.
    fn is_drained(&self) -> bool {
        self.queued_bytes() == 0
    }

    /// Bytes that the slowest living receiver has not released.
    fn queued_bytes(&self) -> usize {
        self.queued(&lock(&self.targets)) as usize
    }
}

impl<T: RingTargets> WriteSender<T> {
    /// Hands the committed frames to the receivers' side: in mode `write` they are posted, in mode
    /// `batch` if their batch is full or due. Returns whether the IO thread has to come.
    ///
    /// In mode `write`, a look for completions costs as much as many small frames do, so a record
    /// that grows while it waits looks when it begins and each time that its bytes have doubled.
    fn hand_over(&mut self, frame: u64, has_doubled: bool) -> bool {
        let (committed, end) = (self.committed, self.committed.end);
        let mut targets = lock(&self.targets);
        let Some(budget) = &mut self.budget else {
            targets.commit(committed);
            if has_doubled {
                targets.post_waiting();
            }
            return false;
        };
        let needs_look = targets.extend(committed);
        if budget.is_full(end, frame) {
            let now = targets.post_full_batch();
            budget.begin_after_full(end, frame, 0, now);
        } else if needs_look || budget.bytes_left(end) == 0 {
            match targets.look_at_batch() {
                Some(left) => budget.continue_batch(end, frame, left),
                None => budget.begin_batch(end),
            }
        }
        targets.takes_turn()
    }

    fn queued(&self, targets: &T) -> u64 {
        let end = self.committed.end;
        end - targets.released().unwrap_or(end)
    }

    fn offset(&self, position: u64) -> usize {
        (position % self.ring_bytes) as usize
    }

    fn payload_mut(&mut self, claim: Claim) -> &mut [u8] {
        let start = self.offset(claim.record) + 8 + claim.before as usize + HEADER_BYTES;
        self.ring.bytes_mut(start..start + claim.len)
    }

    fn put_word(&mut self, offset: usize, word: u64) {
        let bytes = self.ring.bytes_mut(offset..offset + 8);
        bytes.copy_from_slice(&word.to_ne_bytes());
    }

    /// Finds room behind the last record, in it if it was not posted; `None`: there is none.
    fn find_room(&self, targets: &T, len: usize) -> Option<Claim> {
        let frame = frame_bytes(len) as u64;
        let overhead = RECORD_OVERHEAD_BYTES as u64;
        let limit = targets.reusable().unwrap_or(self.committed.end) + self.ring_bytes;
        if let Some(last) = self
            .last_record
            .filter(|last| targets.is_unposted(last.position))
        {
            let end = self.offset(last.position) as u64 + last.bytes + frame + overhead;
            if end <= self.ring_bytes && self.committed.end + frame <= limit {
                let (record, before) = (last.position, last.bytes);
                return Some(Claim {
                    record,
                    before,
                    len,
                    wraps_at: None,
                });
            }
        }
        let rest = self.ring_bytes - self.committed.end % self.ring_bytes;
        let fits = frame + overhead <= rest;
        let record = if fits {
            self.committed.end
        } else {
            self.committed.end + rest
        };
        let is_room = record + frame + overhead <= limit;
        is_room.then_some(Claim {
            record,
            before: 0,
            len,
            wraps_at: (!fits).then_some(self.committed.end),
        })
    }

    /// Ends a round of the ring at a position, with a mark if there is room for one.
    fn turn(&mut self, at: u64, start: u64) {
        if start - at >= RECORD_OVERHEAD_BYTES as u64 {
            let number = self.committed.records;
            let head = RecordHead {
                number,
                bytes: WRAP_BYTES,
            };
            let offset = self.offset(at);
            self.put_word(offset + 8, self.marks.end_word(head));
            self.put_word(offset, self.marks.head_word(head));
            self.committed.records = number.wrapping_add(1);
        }
        self.committed.turn = (start, self.committed.records);
    }
}
