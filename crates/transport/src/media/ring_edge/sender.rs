//! The sending end of an edge over a ring.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::grant::GrantAddresses;
use ring::{RingFault, Writer};

use super::liveness_timer::LivenessTimer;
use super::ring_peers::{RingPeers, set_bits};
use crate::{EdgeCounters, EdgeSpec, Error, PeerLoss, SendingEnd, Waitable};

/// A writer, and the receivers behind it. The writer is dropped first: a receiver that is woken by
/// the drop of the peers finds the ring closed.
pub(in crate::media) struct RingSender<P> {
    writer: Writer,
    peers: P,
    name: Arc<str>,
    payload_bytes_max: usize,
    /// A look is needed before the next claim: there was no room, no receiver is left, or the last
    /// claim was not committed, for a sender that only claims must learn that they are gone.
    needs_check: bool,
    /// Payload bytes of the last claim, if it found no room; else 0.
    blocked_claim_bytes: usize,
    is_armed: bool,
    liveness_timer: LivenessTimer,
    lost: Vec<u32>,
    /// Set of lost receivers, a bit for each, for the counters.
    lost_set: Arc<AtomicU64>,
    counters: Arc<EdgeCounters>,
    /// How the last receiver was lost.
    loss_reason: String,
}

impl<P: RingPeers> RingSender<P> {
    /// The sending end of an edge over this ring.
    pub(in crate::media) fn new(spec: &EdgeSpec, writer: Writer, peers: P) -> RingSender<P> {
        let (counters, gone) = (
            Arc::new(EdgeCounters::default()),
            Arc::new(AtomicU64::new(0)),
        );
        report_ring_level(&counters, &writer, gone.clone());
        RingSender {
            lost_set: gone,
            counters,
            payload_bytes_max: writer.payload_bytes_max(),
            writer,
            peers,
            name: spec.name.clone(),
            needs_check: false,
            blocked_claim_bytes: 0,
            is_armed: false,
            liveness_timer: LivenessTimer::new(),
            lost: Vec::with_capacity(spec.receiver_count as usize),
            loss_reason: String::new(),
        }
    }

    #[inline(always)]
    fn claim_now(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        match self.writer.claim(len) {
            Some(room) => {
                self.needs_check = true;
                Ok(Some(room))
            }
            None if len > self.payload_bytes_max => {
                Err(oversized(&self.name, len, self.payload_bytes_max))
            }
            None => {
                self.needs_check = true;
                self.blocked_claim_bytes = len;
                self.counters.block();
                Ok(None)
            }
        }
    }

    /// A claim after one that found no room. Not inlined, so that a claim without a look stays
    /// short.
    #[cold]
    #[inline(never)]
    fn claim_after_check(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        self.check_receivers()?;
        // The obstacle is gone, or the claim notes since when it is not.
        if self.writer.claim(len).is_some() {
            self.counters.unblock();
        }
        self.claim_now(len)
    }

    /// Fails if no receiver is left, after dismissing receivers that are gone.
    #[cold]
    fn check_receivers(&mut self) -> Result<(), Error> {
        self.blocked_claim_bytes = 0;
        self.needs_check = false;
        self.dismiss_lost();
        if !self.needs_check {
            return Ok(());
        }
        Err(Error::PeerLost(PeerLoss {
            receiver: self.lost.last().copied(),
            reason: self.loss_reason.clone(),
        }))
    }

    /// Dismisses receivers that are gone. When none is left, the next claim reports it.
    fn dismiss_lost(&mut self) {
        self.dismiss(self.writer.gone_readers(), "it has closed its end");
        if let Some(RingFault::Cursor { reader, .. }) = self.writer.fault() {
            self.dismiss(1 << reader, "it has broken the ring");
        }
        if self.liveness_timer.is_due() {
            let dead = self.peers.dead_peers();
            self.dismiss(dead, "its process has ended");
        }
        self.needs_check |= self.writer.live_reader_count() == 0;
    }

    #[inline]
    fn dismiss(&mut self, gone: u64, why: &str) {
        if gone != 0 {
            self.dismiss_set(gone, why);
        }
    }

    #[cold]
    fn dismiss_set(&mut self, gone: u64, why: &str) {
        for reader in set_bits(gone) {
            if !self.lost.contains(&reader) {
                self.writer.dismiss(reader);
                self.peers.dismiss(reader);
                self.lost.push(reader);
                self.lost_set.fetch_or(1 << reader, Ordering::Relaxed);
                self.loss_reason = why.to_owned();
            }
        }
    }

    #[inline]
    fn wake_sleepers(&self) {
        let sleepers = self.writer.take_sleeping_readers();
        if sleepers != 0 {
            self.wake_set(sleepers);
        }
    }

    #[cold]
    fn wake_set(&self, sleepers: u64) {
        self.peers.wake(sleepers);
    }
}

/// Has the counters read the ring's level themselves, without the writer.
fn report_ring_level(counters: &EdgeCounters, writer: &Writer, gone: Arc<AtomicU64>) {
    let monitor = writer.monitor();
    counters.set_refresh(move |counters| {
        let level = monitor.occupancy(gone.load(Ordering::Relaxed));
        counters
            .bytes
            .store(level.committed_bytes, Ordering::Relaxed);
        counters
            .queued_bytes
            .store(level.queued_bytes, Ordering::Relaxed);
        counters
            .slowest_receiver
            .store(level.slowest_reader, Ordering::Relaxed);
    });
}

impl<P> Drop for RingSender<P> {
    /// Freezes the counters, so that they do not keep the ring's memory.
    fn drop(&mut self) {
        self.counters.freeze();
    }
}

#[cold]
fn oversized(name: &str, len: usize, most: usize) -> Error {
    Error::Refused(format!(
        "{name}: a frame of {len} bytes; this edge takes frames of {most} bytes at most"
    ))
}

impl<P: RingPeers> SendingEnd for RingSender<P> {
    fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    #[inline]
    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if self.needs_check {
            return self.claim_after_check(len);
        }
        self.claim_now(len)
    }

    #[inline]
    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        self.needs_check = false;
        self.writer.commit(kind, flags, len);
        self.wake_sleepers();
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.writer.publish();
        self.dismiss_lost();
        Ok(true)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        self.dismiss_lost();
        Ok(self.writer.queued_bytes() == 0)
    }

    fn queued_bytes(&self) -> usize {
        self.writer.queued_bytes()
    }

    fn lost_receivers(&self) -> &[u32] {
        &self.lost
    }

    fn grant(&mut self) -> Option<GrantAddresses> {
        self.writer.grant()
    }

    fn limit_grant(&mut self, bytes: u64) {
        self.writer.cap_grant(bytes);
    }

    fn wake_receivers(&mut self) {
        self.wake_sleepers();
    }

    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        Some(self.counters.clone())
    }
}

impl<P: RingPeers> Waitable for RingSender<P> {
    fn arm(&mut self) -> Result<bool, Error> {
        self.writer.publish();
        self.dismiss_lost();
        self.is_armed =
            self.writer.live_reader_count() > 0 && self.writer.arm(self.blocked_claim_bytes);
        Ok(self.is_armed)
    }

    fn disarm(&mut self) {
        if std::mem::take(&mut self.is_armed) {
            self.writer.disarm();
            let dead = self.peers.clear_wakeups();
            self.dismiss(dead, "its process has ended");
            self.needs_check |= self.writer.live_reader_count() == 0;
        }
    }

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        self.peers.poll_fds(readable);
    }
}
