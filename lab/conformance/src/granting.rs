//! A medium that grants room wrongly: the ring between threads behind a fault.

use std::os::fd::BorrowedFd;

use ring::grant::GrantAddresses;
use ring::{RingShape, Writer};
use transport::{
    EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd, Waitable, media,
};

use crate::broken::GrantFault;
use crate::compiled;
use crate::reference::IN_PROCESS;

/// The medium with its fault.
pub struct Granting {
    /// Name of the fault.
    pub name: &'static str,
    /// The fault of the medium.
    pub fault: GrantFault,
}

struct GrantingSender {
    inner: Box<dyn SendingEnd>,
    fault: GrantFault,
    ring_bytes: usize,
    /// A ring that no receiver reads.
    elsewhere: Writer,
    /// Number of times that the grant was requested.
    asked: u64,
    /// A claim, and the frame of it that is committed and kept back.
    claim: Vec<u8>,
    held: Option<(u8, u8, usize)>,
}

fn ring() -> Result<&'static dyn Medium, Error> {
    media::find("ring").ok_or_else(|| Error::Refused("there is no ring".to_owned()))
}

impl Medium for Granting {
    fn name(&self) -> &'static str {
        self.name
    }

    fn caps(&self) -> MediumCaps {
        IN_PROCESS
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let (inner, tickets) = ring()?.open(spec)?;
        let shape = RingShape {
            bytes: spec.ring_bytes,
            readers: 1,
        };
        let private = ring::private_ring(shape).map_err(|e| Error::system("make a ring", e))?;
        let sending = GrantingSender {
            inner,
            fault: self.fault,
            ring_bytes: spec.ring_bytes,
            elsewhere: private.0,
            asked: 0,
            claim: Vec::new(),
            held: None,
        };
        Ok((Box::new(sending), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        ring()?.accept(spec, ticket)
    }
}

impl GrantingSender {
    fn is(&self, fault: GrantFault) -> bool {
        self.fault == fault
    }

    /// Commits a frame, so that the ring has room for more by way of its grant.
    fn open_elsewhere(&mut self) {
        if self.elsewhere.claim(0).is_some() {
            self.elsewhere.commit(1, 0, 0);
        }
    }

    fn let_go(&mut self) {
        if let Some((kind, flags, len)) = self.held.take() {
            let is_put = self.inner.try_write(kind, flags, &self.claim[..len]);
            assert!(matches!(is_put, Ok(true)), "the room was there before");
        }
    }
}

impl SendingEnd for GrantingSender {
    fn payload_bytes_max(&self) -> usize {
        self.inner.payload_bytes_max()
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        self.let_go();
        let claimed = match self.inner.claim(len) {
            Err(Error::PeerLost(_)) if self.fault == GrantFault::HidesLosses => Ok(None),
            claimed => claimed,
        };
        if self.fault != GrantFault::HoldsCallsBack || !matches!(claimed, Ok(Some(_))) {
            return claimed;
        }
        self.claim.resize(len, 0);
        Ok(Some(&mut self.claim))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        if self.is(GrantFault::HoldsCallsBack) {
            self.held = Some((kind, flags, len));
            return;
        }
        self.inner.commit(kind, flags, len);
        if self.is(GrantFault::GrantsOverFrames) {
            compiled::grant_over_frames(&mut *self.inner, self.ring_bytes);
        }
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.let_go();
        self.inner.flush()
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        Ok(self.is(GrantFault::CountsOnlyCalls) || self.inner.is_drained()?)
    }

    fn queued_bytes(&self) -> usize {
        match self.fault {
            GrantFault::CountsOnlyCalls => 0,
            _ => self.inner.queued_bytes(),
        }
    }

    fn lost_receivers(&self) -> &[u32] {
        self.inner.lost_receivers()
    }

    fn grant(&mut self) -> Option<GrantAddresses> {
        self.asked += 1;
        let moved = self.is(GrantFault::MovesGrant) && self.asked > 1;
        if moved || self.is(GrantFault::GrantsElsewhere) {
            self.open_elsewhere();
            return self.elsewhere.grant();
        }
        self.inner.grant()
    }

    fn wake_receivers(&mut self) {
        if !self.is(GrantFault::WakesNobody) {
            self.inner.wake_receivers();
        }
    }
}

impl Waitable for GrantingSender {
    fn arm(&mut self) -> Result<bool, Error> {
        self.let_go();
        self.inner.arm()
    }

    fn disarm(&mut self) {
        self.inner.disarm();
    }

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        self.inner.poll_fds(readable, writable);
    }
}
