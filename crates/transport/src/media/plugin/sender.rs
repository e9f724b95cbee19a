//! The sending end of an edge over a library: a frame is a block, with its header written here.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::plugin::LibrarySender;
use ring::frame::{FrameHeader, HEADER_BYTES, PAD, frame_bytes};

use super::medium::edge_error;
use crate::{EdgeCounters, EdgeSpec, Error, SendingEnd, Waitable};

/// The sending end of an edge over a library.
pub(super) struct PluginSendingEnd {
    sender: LibrarySender,
    name: Arc<str>,
    receivers: u32,
    /// Payload bytes of the claim that is not committed.
    claimed_bytes: Option<usize>,
    /// Bytes of the frame whose claim found no room last; that of an empty payload if it had room.
    wanted_bytes: u64,
    lost: Vec<u32>,
    frames: u64,
    bytes: u64,
    counters: Arc<EdgeCounters>,
}

impl PluginSendingEnd {
    pub(super) fn new(spec: &EdgeSpec, sender: LibrarySender) -> PluginSendingEnd {
        PluginSendingEnd {
            sender,
            name: spec.name.clone(),
            receivers: spec.receiver_count,
            claimed_bytes: None,
            wanted_bytes: HEADER_BYTES as u64,
            lost: Vec::with_capacity(spec.receiver_count as usize),
            frames: 0,
            bytes: 0,
            counters: Arc::default(),
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

    /// Notes that there is no room, or no receiver.
    #[cold]
    fn note_refusal(&mut self, wanted_bytes: u64) {
        self.wanted_bytes = wanted_bytes;
        self.list_lost();
        self.count_queued();
        self.counters.block();
    }

    fn count_queued(&self) -> u64 {
        let queued = self.sender.queued_bytes();
        self.counters.queued_bytes.store(queued, Ordering::Relaxed);
        queued
    }
}

impl SendingEnd for PluginSendingEnd {
    fn payload_bytes_max(&self) -> usize {
        self.sender.block_bytes_max() as usize - HEADER_BYTES
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        let most = self.payload_bytes_max();
        self.claimed_bytes = None;
        if len > most {
            let why = format!("a claim of {len} bytes: a frame has at most {most}");
            return Err(Error::Refused(why));
        }
        let bytes = frame_bytes(len) as u64;
        let claimed = self.sender.claim(bytes);
        if !matches!(claimed, Ok(true)) {
            self.note_refusal(bytes);
            let lost = self.lost.last().copied().or(Some(0));
            let refused = claimed.map_err(|error| edge_error(error, &self.name, lost));
            return refused.map(|_| None);
        }
        self.wanted_bytes = HEADER_BYTES as u64;
        self.counters.unblock();
        self.claimed_bytes = Some(len);
        Ok(self
            .sender
            .claimed()
            .map(|room| &mut room[HEADER_BYTES..HEADER_BYTES + len]))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        let claimed = self.claimed_bytes.take();
        let is_claimed = claimed.is_some_and(|claimed| len <= claimed);
        assert!(is_claimed, "commit of {len} bytes that were not claimed");
        assert!(kind != PAD, "a frame of the kind of padding");
        let header = FrameHeader {
            len: len as u32,
            kind,
            flags,
        };
        let bytes = frame_bytes(len) as u64;
        self.sender.commit(header.to_word(), bytes);
        self.frames += 1;
        self.bytes += bytes;
        self.counters.frames.store(self.frames, Ordering::Relaxed);
        self.counters.bytes.store(self.bytes, Ordering::Relaxed);
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

    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        Some(self.counters.clone())
    }
}

impl Waitable for PluginSendingEnd {
    fn arm(&mut self) -> Result<bool, Error> {
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
