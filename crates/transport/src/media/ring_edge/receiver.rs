//! The receiving end of an edge over a ring.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use ring::Reader;
use ring::frame::FrameBatch;

use super::liveness_timer::LivenessTimer;
use super::ring_peers::RingPeers;
use crate::{EdgeSpec, Error, PeerLoss, ReceivingEnd, Waitable};

/// A reader, and the sender behind it. The reader is dropped first, as in
/// [`RingSender`](super::RingSender).
pub(in crate::media) struct RingReceiver<P> {
    reader: Reader,
    peers: P,
    name: Arc<str>,
    /// The last poll found nothing, so the next one checks the sender.
    needs_check: bool,
    /// The system has reported that the sender died.
    is_sender_dead: bool,
    /// The sender commits nothing more: the frames that are there now are the last.
    is_closed: bool,
    /// The ring was closed before the last poll, and that poll found nothing: the stream is over,
    /// unless the reader has a fault.
    is_drained: bool,
    is_armed: bool,
    liveness_timer: LivenessTimer,
}

impl<P: RingPeers> RingReceiver<P> {
    /// The receiving end of an edge over this ring.
    pub(in crate::media) fn new(spec: &EdgeSpec, reader: Reader, peers: P) -> RingReceiver<P> {
        RingReceiver {
            reader,
            peers,
            name: spec.name.clone(),
            needs_check: false,
            is_sender_dead: false,
            is_closed: false,
            is_drained: false,
            is_armed: false,
            liveness_timer: LivenessTimer::new(),
        }
    }

    /// Checks, after a poll that found nothing, whether more frames can come.
    fn check_sender(&mut self) -> Result<(), Error> {
        // First: a torn frame may be the last one that the sender has committed.
        if let Some(fault) = self.reader.fault() {
            let name = &self.name;
            return Err(Error::Refused(format!("{name}: a broken ring: {fault}")));
        }
        if self.is_drained {
            return Err(self.loss());
        }
        self.is_sender_dead =
            self.is_sender_dead || self.liveness_timer.is_due() && self.peers.dead_peers() != 0;
        self.is_closed = self.is_sender_dead || self.reader.is_closed();
        Ok(())
    }

    #[cold]
    fn loss(&self) -> Error {
        let why = match self.reader.is_closed() {
            true => "it has closed its end",
            false => "its process has ended",
        };
        Error::PeerLost(PeerLoss {
            receiver: None,
            reason: why.to_owned(),
        })
    }

    #[cold]
    fn wake_sender(&self) {
        self.peers.wake(1);
    }
}

impl<P: RingPeers> ReceivingEnd for RingReceiver<P> {
    #[inline]
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        if self.needs_check {
            self.check_sender()?;
        }
        let batch = self.reader.poll();
        self.needs_check = batch.is_empty();
        self.is_drained = self.is_closed && self.needs_check;
        Ok(batch)
    }

    #[inline]
    fn release(&mut self) {
        self.reader.release();
        if self.reader.take_sleeping_writer() {
            self.wake_sender();
        }
    }
}

impl<P: RingPeers> Waitable for RingReceiver<P> {
    fn arm(&mut self) -> Result<bool, Error> {
        self.is_armed = !self.is_sender_dead && self.reader.arm();
        Ok(self.is_armed)
    }

    fn disarm(&mut self) {
        if std::mem::take(&mut self.is_armed) {
            self.reader.disarm();
            self.is_sender_dead = self.peers.clear_wakeups() != 0;
            self.needs_check = true;
        }
    }

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        self.peers.poll_fds(readable);
    }
}
