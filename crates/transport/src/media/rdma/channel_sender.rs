//! The sending thread's side of mode `channel`: builds frames in the buffers of the send pool.
//!
//! A commit is sent at once while there is credit and few messages are on their way. Otherwise it
//! waits with those behind it and joins the last message, if that was not posted and its buffer has
//! room: the busier the connection, the larger the messages.

use std::sync::{Arc, Mutex};

use fabric::{PinnedMemory, RdmaNode};
use ring::frame::{FrameHeader, HEADER_BYTES, frame_bytes};

use super::channel_pool::PoolShape;
use super::channel_targets::ChannelTargets;
use super::mode::lock;
use super::mode::{ModeSender, ModeTargets, check_claim};
use super::write_targets::memory;
use crate::{EdgeSpec, Error};

/// The sending thread's side of an edge in mode `channel`.
pub(super) struct ChannelSender<N> {
    targets: Arc<Mutex<ChannelTargets<N>>>,
    pool: PinnedMemory,
    shape: PoolShape,
    claim: Option<ClaimedFrame>,
    /// Numbers of the receivers that are gone, as of the last call.
    lost: Vec<u32>,
}

/// Room for a frame: behind the first `before` bytes of a message.
#[derive(Clone, Copy, Debug)]
struct ClaimedFrame {
    message: u64,
    before: usize,
    len: usize,
}

impl<N: RdmaNode> ChannelSender<N> {
    /// Makes the sender's side over a node that listens.
    pub(super) fn new(
        node: N,
        spec: &EdgeSpec,
        ring_bytes: usize,
    ) -> Result<ChannelSender<N>, Error> {
        let shape = PoolShape::new(ring_bytes, node.limits());
        let pool = memory(shape.bytes())?;
        let targets = ChannelTargets::new(node, spec, shape, &pool)?;
        Ok(ChannelSender {
            targets: Arc::new(Mutex::new(targets)),
            pool,
            shape,
            claim: None,
            lost: Vec::with_capacity(spec.receiver_count as usize),
        })
    }

    /// Finds room behind the last message, in it if it was not posted; `None`: there is none.
    fn find_room(&self, targets: &ChannelTargets<N>, len: usize) -> Option<ClaimedFrame> {
        let frame = frame_bytes(len);
        let last = targets.unposted_message();
        let last = last.filter(|(_, bytes)| bytes + frame <= self.shape.buffer_bytes);
        let (message, before) = last.or_else(|| Some((targets.free_message()?, 0)))?;
        Some(ClaimedFrame {
            message,
            before,
            len,
        })
    }
}

impl<N: RdmaNode> ModeSender for ChannelSender<N> {
    type Targets = ChannelTargets<N>;

    fn targets(&self) -> &Arc<Mutex<ChannelTargets<N>>> {
        &self.targets
    }

    /// A frame lies in one buffer; larger payloads cross in pieces (`crate::fragment`).
    fn payload_bytes_max(&self) -> usize {
        self.shape.buffer_bytes - HEADER_BYTES
    }

    fn try_claim(&mut self, len: usize) -> Result<bool, Error> {
        check_claim(len, self.payload_bytes_max())?;
        self.claim = None;
        let mut targets = lock(&self.targets);
        targets.let_go();
        let mut claim = self.find_room(&targets, len);
        if claim.is_none() {
            targets.progress()?;
            claim = self.find_room(&targets, len);
        }
        targets.receivers().list_lost(&mut self.lost);
        targets.receivers().check()?;
        // A message that a claim goes on with must not be posted before it is whole again.
        if let Some(claim) = claim {
            targets.hold(claim.message);
        }
        drop(targets);
        self.claim = claim;
        Ok(claim.is_some())
    }

    fn claimed(&mut self) -> &mut [u8] {
        let Some(claim) = self.claim else {
            return &mut [];
        };
        let start = self.shape.range(claim.message, 0).start + claim.before + HEADER_BYTES;
        self.pool.bytes_mut(start..start + claim.len)
    }

    fn forget_claim(&mut self) {
        if self.claim.take().is_some() {
            lock(&self.targets).let_go();
        }
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) -> bool {
        let claim = self.claim.take().filter(|claim| len <= claim.len);
        let claim = claim.expect("commit of bytes that were claimed");
        let header = FrameHeader {
            len: len as u32,
            kind,
            flags,
        };
        let at = self.shape.range(claim.message, 0).start + claim.before;
        let bytes = self.pool.bytes_mut(at..at + HEADER_BYTES);
        bytes.copy_from_slice(&header.to_word().to_ne_bytes());
        lock(&self.targets).commit(claim.message, claim.before + frame_bytes(len));
        false
    }

    fn progress(&mut self) -> Result<(), Error> {
        self.forget_claim();
        let mut targets = lock(&self.targets);
        let progress = targets.progress();
        targets.receivers().list_lost(&mut self.lost);
        progress
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.forget_claim();
        let mut targets = lock(&self.targets);
        let is_out = targets.flush();
        targets.receivers().list_lost(&mut self.lost);
        is_out
    }

    fn lost_receivers(&self) -> &[u32] {
        &self.lost
    }

    fn is_drained(&self) -> bool {
        lock(&self.targets).is_done()
    }

    fn queued_bytes(&self) -> usize {
        lock(&self.targets).queued_bytes()
    }
}
