//! One receiver of a sender in mode `write` or `batch`: what it was sent, and what it has released.

use std::collections::VecDeque;

use fabric::{ConnectionId, PinnedMemory, RdmaNode, RegionId, RemoteAccess, RemoteMemory};

use super::disconnected_peer::DisconnectedPeer;
use super::introduction::CREDIT_MEMORY_BYTES;
use super::number_buffers::{NUMBER_BUFFERS, NumberBuffers};
use super::write_targets::{memory, refused};
use crate::Error;

/// Most writes to a receiver that are on their way: enough to hide a round trip, and few enough
/// that frames join records when the network is slower than the sender.
pub(super) const WRITES_ON_WAY_MAX: usize = 32;

/// Bits of a completion's number that count writes, from 0 again after all; those above are the
/// receiver.
pub(super) const WRITE_COUNT_BITS: u32 = 40;

pub(super) const WRITE_COUNT_MASK: u64 = (1 << WRITE_COUNT_BITS) - 1;

const MASK_HALF: u64 = 1 << (WRITE_COUNT_BITS - 1);

/// A receiver of the edge, from before it has connected.
pub(super) struct WriteTarget {
    pub(super) state: TargetState,
    /// Memory of its own for its credit, so that its key opens nothing else.
    pub(super) credit: PinnedMemory,
    pub(super) credit_region: RegionId,
    pub(super) memory: RemoteMemory,
    /// Position up to which frames are posted on its connection, on any, and up to which they are
    /// released.
    pub(super) posted: u64,
    pub(super) sent: u64,
    pub(super) released: u64,
    /// Position at which the last write began.
    pub(super) last_from: u64,
    /// Number of writes posted, of the last one that has a completion, and of the last one on a
    /// connection that is broken.
    pub(super) writes: u64,
    pub(super) told: u64,
    stale: u64,
    /// Writes on their way: number and end.
    pub(super) on_way: VecDeque<(u64, u64)>,
    /// Receive buffers for the numbers of its credit.
    pub(super) numbers: NumberBuffers,
    /// Ends of the writes with a number that it has not released, if numbers use receive buffers.
    pub(super) unreleased: VecDeque<u64>,
    /// Whether the provider had no room for the last write.
    pub(super) is_blocked: bool,
    /// Number of the receiving end, by which it is known when it connects again.
    pub(super) instance: u32,
    /// State of a receiver whose connection is broken.
    pub(super) disconnected: Option<Box<DisconnectedPeer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetState {
    Awaited,
    Accepted(ConnectionId),
    Connected(ConnectionId),
    /// The connection is broken, and the receiver may connect again.
    Disconnected,
    Lost,
}

impl TargetState {
    /// The connection that is made, or being made.
    pub(super) fn connection(self) -> Option<ConnectionId> {
        match self {
            TargetState::Accepted(connection) | TargetState::Connected(connection) => {
                Some(connection)
            }
            _ => None,
        }
    }
}

impl WriteTarget {
    pub(super) fn new(node: &mut impl RdmaNode) -> Result<WriteTarget, Error> {
        let credit = memory(CREDIT_MEMORY_BYTES)?;
        let credit_region = node.register(&credit, RemoteAccess::Write);
        Ok(WriteTarget {
            state: TargetState::Awaited,
            credit,
            credit_region: credit_region.map_err(refused)?,
            memory: RemoteMemory {
                address: 0,
                key: 0,
                bytes: 0,
            },
            posted: 0,
            sent: 0,
            released: 0,
            last_from: 0,
            writes: 0,
            told: 0,
            stale: 0,
            // One more is that by which a flush asks for a completion.
            on_way: VecDeque::with_capacity(WRITES_ON_WAY_MAX + 1),
            numbers: NumberBuffers::default(),
            unreleased: VecDeque::with_capacity(NUMBER_BUFFERS),
            is_blocked: false,
            instance: 0,
            disconnected: None,
        })
    }

    pub(super) fn is_connected(&self) -> bool {
        matches!(self.state, TargetState::Connected(_))
    }

    /// Whether all writes up to a position are done.
    pub(super) fn is_written(&self, end: u64) -> bool {
        self.is_connected() && self.posted == end && self.on_way.is_empty()
    }

    /// Whether the receiver has released all that it was sent.
    pub(super) fn is_idle(&self) -> bool {
        self.released == self.posted
    }

    /// Notes that a write up to a position is posted.
    pub(super) fn note_write(&mut self, from: u64, end: u64, is_told: bool) {
        self.last_from = from;
        self.posted = end;
        self.sent = self.sent.max(end);
        self.writes = (self.writes + 1) & WRITE_COUNT_MASK;
        if is_told {
            self.told = self.writes;
        }
        self.on_way.push_back((self.writes, end));
    }

    /// Notes that the writes up to one with this number are done.
    pub(super) fn finish_to(&mut self, write: u64) {
        self.finish_writes(|&(number, _)| is_at_most(number, write));
    }

    pub(super) fn finish_writes(&mut self, is_done: impl Fn(&(u64, u64)) -> bool) {
        while self.on_way.front().is_some_and(&is_done) {
            self.on_way.pop_front();
        }
    }

    /// Whether a write was on a connection that is broken.
    pub(super) fn is_stale(&self, write: u64) -> bool {
        is_at_most(write, self.stale)
    }

    /// Forgets what was on its way; the next write begins at a position that is posted again.
    pub(super) fn restart(&mut self, position: u64) {
        self.on_way.clear();
        self.unreleased.clear();
        self.numbers = NumberBuffers::default();
        (self.stale, self.told) = (self.writes, self.writes);
        (self.posted, self.last_from) = (position, position);
        self.is_blocked = false;
    }

    /// Position at which this receiver goes on when it asks for a connection in mode `batch`, by
    /// the lowest bits of the position that it names and its number; `None`: it may not go on.
    pub(super) fn start_position(&self, (low, instance): (u32, u32)) -> Option<u64> {
        match self.state {
            TargetState::Lost => None,
            TargetState::Awaited => (low == 0).then_some(0),
            _ if instance != self.instance => None,
            _ => self.resume_position(low),
        }
    }

    /// The position whose lowest bits these are, if the receiver may go on there: from what it has
    /// released up to what it was sent.
    pub(super) fn resume_position(&self, low: u32) -> Option<u64> {
        let behind = low.wrapping_sub(self.released as u32);
        let position = self.released + u64::from(behind);
        (position <= self.sent && position.is_multiple_of(8)).then_some(position)
    }
}

/// Whether a write was posted no later than another; far fewer than half of the numbers are in use.
fn is_at_most(write: u64, other: u64) -> bool {
    other.wrapping_sub(write) & WRITE_COUNT_MASK < MASK_HALF
}
