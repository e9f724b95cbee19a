//! The sending end of an edge over a library: a frame is a block, with its header written here.
//!
//! If the library gives room for runs of blocks, a frame goes into the run without a call, and
//! compiled code writes frames there by itself.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::plugin::LibrarySender;
use ring::frame::{FrameHeader, HEADER_BYTES, PAD, frame_bytes};
use ring::grant::GrantAddresses;

use super::medium::edge_error;
use crate::{EdgeCounters, EdgeSpec, Error, SendingEnd, Waitable};

/// Claims in a row without room of which one asks the library for lost receivers and for the level
/// of the edge: calls that take cache lines from a receiver that is about to make room.
const REFUSALS_PER_LOOK: u32 = 64;

/// The sending end of an edge over a library.
pub(super) struct PluginSendingEnd {
    sender: LibrarySender,
    name: Arc<str>,
    receivers: u32,
    payload_bytes_max: usize,
    /// Whether frames are counted here; those of runs are counted by the library's word.
    is_counting: bool,
    /// Bytes of the frame whose claim found no room last; that of an empty payload if it had room.
    wanted_bytes: u64,
    /// Claims in a row that found no room.
    refusals: u32,
    lost: Vec<u32>,
    frames: u64,
    bytes: u64,
    counters: Arc<EdgeCounters>,
}

impl PluginSendingEnd {
    pub(super) fn new(spec: &EdgeSpec, sender: LibrarySender) -> PluginSendingEnd {
        let counters: Arc<EdgeCounters> = Arc::default();
        let committed = sender.committed_bytes().cloned();
        let is_counting = committed.is_none();
        if let Some(committed) = committed {
            counters.set_refresh(move |counters| {
                counters.bytes.store(committed.get(), Ordering::Relaxed);
            });
        }
        PluginSendingEnd {
            payload_bytes_max: sender.block_bytes_max() as usize - HEADER_BYTES,
            is_counting,
            sender,
            name: spec.name.clone(),
            receivers: spec.receiver_count,
            wanted_bytes: HEADER_BYTES as u64,
            refusals: 0,
            lost: Vec::with_capacity(spec.receiver_count as usize),
            frames: 0,
            bytes: 0,
            counters,
        }
    }

    /// Notes the receivers that the library has noticed to be gone.
    fn list_lost(&mut self) {
        let gone = self.sender.lost_receivers();
        for receiver in 0..self.receivers {
            if gone >> receiver & 1 == 1 && !self.lost.contains(&receiver) {
                self.lost.push(receiver);
            }
        }
    }

    /// Claims room for a frame of `bytes` bytes by a call of the library.
    #[inline(never)]
    fn claim_by_call(&mut self, bytes: u64) -> Result<bool, Error> {
        let claimed = self.sender.claim(bytes);
        if !matches!(claimed, Ok(true)) {
            self.wanted_bytes = bytes;
            if self.refusals.is_multiple_of(REFUSALS_PER_LOOK) || claimed.is_err() {
                self.list_lost();
                self.count_queued();
            }
            self.refusals = self.refusals.wrapping_add(1);
            self.counters.block();
            let lost = self.lost.last().copied().or(Some(0));
            return claimed.map_err(|error| edge_error(error, &self.name, lost));
        }
        self.wanted_bytes = HEADER_BYTES as u64;
        self.refusals = 0;
        self.counters.unblock();
        Ok(true)
    }

    /// The part of the claimed room that is for a payload of `len` bytes.
    #[inline(always)]
    fn claimed_payload(&mut self, len: usize) -> Option<&mut [u8]> {
        let room = self.sender.claimed()?;
        room.get_mut(HEADER_BYTES..HEADER_BYTES + len)
    }

    #[cold]
    fn oversized(&self, len: usize) -> Error {
        let most = self.payload_bytes_max;
        Error::Refused(format!(
            "a claim of {len} bytes: a frame has at most {most}"
        ))
    }

    /// Counts a frame that was committed by a call.
    fn count(&mut self, bytes: u64) {
        self.frames += 1;
        self.bytes += bytes;
        self.counters.frames.store(self.frames, Ordering::Relaxed);
        self.counters.bytes.store(self.bytes, Ordering::Relaxed);
    }

    fn count_queued(&self) -> u64 {
        let queued = self.sender.queued_bytes();
        self.counters.queued_bytes.store(queued, Ordering::Relaxed);
        queued
    }
}

impl Drop for PluginSendingEnd {
    /// Freezes the counters: they need the sender no more.
    fn drop(&mut self) {
        self.counters.freeze();
    }
}

impl SendingEnd for PluginSendingEnd {
    fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    #[inline]
    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if len > self.payload_bytes_max {
            return Err(self.oversized(len));
        }
        let bytes = frame_bytes(len) as u64;
        if self.sender.claim_at_hand(bytes) {
            return Ok(self.claimed_payload(len));
        }
        match self.claim_by_call(bytes)? {
            true => Ok(self.claimed_payload(len)),
            false => Ok(None),
        }
    }

    #[inline]
    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        assert!(kind != PAD, "a frame of the kind of padding");
        assert!(len <= self.payload_bytes_max, "commit of {len} bytes");
        let header = FrameHeader {
            len: len as u32,
            kind,
            flags,
        };
        let bytes = frame_bytes(len) as u64;
        self.sender.commit(header.to_word(), bytes);
        if self.is_counting {
            self.count(bytes);
        }
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let flushed = self.sender.flush();
        self.list_lost();
        self.count_queued();
        flushed.map_err(|error| edge_error(error, &self.name, None))
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        let queued = self.count_queued();
        self.list_lost();
        Ok(queued == 0)
    }

    fn queued_bytes(&self) -> usize {
        self.sender.queued_bytes() as usize
    }

    fn lost_receivers(&self) -> &[u32] {
        &self.lost
    }

    fn grant(&mut self) -> Option<GrantAddresses> {
        self.sender.grant()
    }

    fn limit_grant(&mut self, bytes: u64) {
        self.sender.limit_grant(bytes);
    }

    fn wake_receivers(&mut self) {
        self.sender.wake_receivers();
    }

    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        Some(self.counters.clone())
    }
}

impl Waitable for PluginSendingEnd {
    fn arm(&mut self) -> Result<bool, Error> {
        self.list_lost();
        let armed = self.sender.arm(self.wanted_bytes);
        armed.map_err(|error| edge_error(error, &self.name, None))
    }

    fn disarm(&mut self) {
        self.sender.disarm();
    }

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        self.sender.poll_fds(readable, writable);
    }
}
