//! Writes of a sender in modes `write` and `batch`: which part of its ring is written next to a
//! receiver, with which number and completion.

use std::ops::Range;

use fabric::{LocalSlice, PostOptions, RdmaNode};

use super::PlacementProof;
use super::number_buffers::NUMBER_BUFFERS;
use super::write_target::{TargetState, WRITE_COUNT_BITS, WRITE_COUNT_MASK, WRITES_ON_WAY_MAX};
use super::write_targets::{Committed, WRITES_PER_COMPLETION, WriteTargets};

impl<N: RdmaNode> WriteTargets<N> {
    /// Posts what is committed to each receiver that is connected.
    pub(super) fn post_all(&mut self) {
        for receiver in 0..self.receivers.len() {
            self.post_to_receiver(receiver);
        }
    }

    /// Posts what is committed to a receiver, if it is connected. Returns the number of writes.
    pub(super) fn post_to_receiver(&mut self, receiver: usize) -> u64 {
        let mut writes = 0;
        while self.post_next(receiver) {
            writes += 1;
        }
        let end = self.committed.end;
        let target = &mut self.receivers[receiver];
        target.is_blocked = target.is_connected() && target.posted < end;
        writes
    }

    /// Posts one write to a receiver. Returns whether there may be room for another.
    fn post_next(&mut self, receiver: usize) -> bool {
        let Committed {
            end: limit,
            records,
            turn,
        } = self.committed;
        let target = &self.receivers[receiver];
        let from = target.posted;
        // A flush has buffers of its own: it need not wait for a receiver that reads nothing.
        let unreleased_max = match self.is_flushed {
            true => NUMBER_BUFFERS,
            false => NUMBER_BUFFERS / 2,
        };
        let is_full = target.on_way.len() >= self.writes_on_way_max()
            || target.unreleased.len() >= unreleased_max;
        if from >= limit || is_full {
            return false;
        }
        let round_end = (from / self.terms.ring_bytes + 1) * self.terms.ring_bytes;
        let (end, number) = match limit > round_end {
            true => (round_end, turn.1),
            false => (limit, records),
        };
        if !self.post_number_buffers(receiver) {
            return false;
        }
        let target = &self.receivers[receiver];
        let is_told = self.was_flushed || (target.writes + 1).is_multiple_of(WRITES_PER_COMPLETION);
        let piece = end.min(from.saturating_add(self.write_bytes_max()));
        let immediate = match self.terms.proof {
            // A number tells of all records before it, so a part of one brings none.
            PlacementProof::Numbers if piece == end => Some(u64::from(number)),
            _ => None,
        };
        // What lies behind the start of the ring follows at once: one doorbell serves both. Where
        // numbers use receive buffers, it may have to wait for one.
        let is_more = limit > end
            && piece == end
            && target.on_way.len() + 1 < self.writes_on_way_max()
            && !self.number_memory.is_used();
        let options = PostOptions {
            immediate,
            is_more,
            ..PostOptions::default()
        };
        self.post(receiver, from..piece, is_told, options)
    }

    /// Posts the receive buffers that a receiver's credit has used up, if the provider uses any.
    /// Returns whether all are posted.
    pub(super) fn post_number_buffers(&mut self, receiver: usize) -> bool {
        let target = &mut self.receivers[receiver];
        let Some(connection) = target.state.connection() else {
            return false;
        };
        let number = (receiver as u64) << WRITE_COUNT_BITS;
        let (memory, buffers) = (&self.number_memory, &mut target.numbers);
        let posted = memory.post(&mut self.node, connection, buffers, number);
        posted.unwrap_or_else(|error| {
            self.end_connection(receiver, error.to_string());
            false
        })
    }

    /// Posts the last word of the last write again, with a completion, if the provider was not to
    /// tell of that write: the word is there already, or arrives behind the same word. Returns
    /// whether it is posted.
    pub(super) fn ask_for_completion(&mut self, receiver: usize) -> bool {
        let target = &self.receivers[receiver];
        if target.on_way.is_empty() || target.told == target.writes {
            return false;
        }
        let end = target.posted;
        self.post(receiver, end - 8..end, true, PostOptions::default())
    }

    /// Posts a write of these positions of the ring, which do not go around its end. Returns
    /// whether the provider had room.
    fn post(
        &mut self,
        receiver: usize,
        positions: Range<u64>,
        is_told: bool,
        options: PostOptions,
    ) -> bool {
        let target = &self.receivers[receiver];
        let TargetState::Connected(connection) = target.state else {
            return false;
        };
        let offset = (positions.start % self.terms.ring_bytes) as usize;
        let range = offset..offset + (positions.end - positions.start) as usize;
        let write = (target.writes + 1) & WRITE_COUNT_MASK;
        let completion = (receiver as u64) << WRITE_COUNT_BITS | write;
        let options = PostOptions {
            completion: is_told.then_some(completion),
            is_inline: range.len() <= self.node.limits().inline_bytes_max,
            ..options
        };
        let slice = LocalSlice {
            region: self.ring_region,
            range,
        };
        let memory = target.memory;
        match self
            .node
            .post_write(connection, &slice, &memory, offset as u64, options)
        {
            Ok(true) => {
                let target = &mut self.receivers[receiver];
                target.note_write(positions.start, positions.end, is_told);
                if options.immediate.is_some() && self.number_memory.is_used() {
                    target.unreleased.push_back(positions.end);
                }
                true
            }
            Ok(false) => false,
            Err(error) => {
                self.end_connection(receiver, error.to_string());
                false
            }
        }
    }

    /// Most bytes of a write: a multiple of 8, as positions are.
    fn write_bytes_max(&self) -> u64 {
        (self.node.limits().message_bytes_max as u64 / 8 * 8).max(8)
    }

    fn writes_on_way_max(&self) -> usize {
        let depth = self.node.limits().transmit_depth;
        WRITES_ON_WAY_MAX.min(depth.saturating_sub(1).max(1))
    }
}
