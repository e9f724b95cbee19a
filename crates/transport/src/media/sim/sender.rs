//! The sending end of an edge with seeded faults.

use std::os::fd::BorrowedFd;

use super::fault_rng::FaultRng;
use super::faults::{SimFaults, cut_error};
use crate::{Error, SendingEnd, Waitable};

/// A sending end behind faults.
pub(super) struct SimSender {
    /// The end of the inner medium; `None`: it is cut off.
    inner: Option<Box<dyn SendingEnd>>,
    rng: FaultRng,
    faults: SimFaults,
    payload_bytes_max: usize,
    /// Number of frames until the cut.
    until_cut: Option<u64>,
    /// Numbers of all receivers, which are lost when the edge is cut.
    receivers: Vec<u32>,
}

impl SimSender {
    pub(super) fn new(
        inner: Box<dyn SendingEnd>,
        rng: FaultRng,
        faults: SimFaults,
        receivers: u32,
    ) -> SimSender {
        SimSender {
            payload_bytes_max: inner.payload_bytes_max(),
            inner: Some(inner),
            rng,
            faults,
            until_cut: faults.cut_sender,
            receivers: (0..receivers).collect(),
        }
    }

    /// Flushes committed frames, then cuts the edge. `false`: they are not all out yet.
    fn cut(&mut self) -> Result<bool, Error> {
        if let Some(inner) = &mut self.inner
            && !inner.flush()?
        {
            return Ok(false);
        }
        self.inner = None;
        Ok(true)
    }

    fn inner(&mut self) -> Result<&mut dyn SendingEnd, Error> {
        match &mut self.inner {
            Some(inner) => Ok(&mut **inner),
            None => Err(cut_error(Some(0))),
        }
    }
}

impl SendingEnd for SimSender {
    fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if self.until_cut == Some(0) && !self.cut()? {
            return Ok(None);
        }
        let may_find_room = len > self.payload_bytes_max || !self.rng.one_in(self.faults.no_room);
        let room = self.inner()?.claim(len)?;
        Ok(room.filter(|_| may_find_room))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        if let Some(inner) = &mut self.inner {
            inner.commit(kind, flags, len);
            self.until_cut = self.until_cut.map(|frames| frames.saturating_sub(1));
        }
    }

    fn flush(&mut self) -> Result<bool, Error> {
        if self.until_cut == Some(0) {
            return self.cut();
        }
        let is_short = self.rng.one_in(self.faults.short_flush);
        Ok(self.inner()?.flush()? && !is_short)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        self.inner()?.is_drained()
    }

    fn queued_bytes(&self) -> usize {
        self.inner.as_ref().map_or(0, |inner| inner.queued_bytes())
    }

    fn lost_receivers(&self) -> &[u32] {
        match &self.inner {
            Some(inner) => inner.lost_receivers(),
            None => &self.receivers,
        }
    }
}

impl Waitable for SimSender {
    fn arm(&mut self) -> Result<bool, Error> {
        match &mut self.inner {
            Some(inner) => inner.arm(),
            None => Ok(false),
        }
    }

    fn disarm(&mut self) {
        if let Some(inner) = &mut self.inner {
            inner.disarm();
        }
    }

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        if let Some(inner) = &self.inner {
            inner.poll_fds(readable, writable);
        }
    }
}
