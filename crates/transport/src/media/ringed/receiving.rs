//! The receiving end of an edge over a ring.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use ring::Reader;
use ring::frame::Batch;

use super::Peers;
use super::watch::Watch;
use crate::{Error, Inbound, Loss, Spec, Wait};

/// A reader, and the sender behind it. The reader is dropped first, as in
/// [`Sending`](super::Sending).
pub(in crate::media) struct Receiving<P> {
    reader: Reader,
    peers: P,
    name: Arc<str>,
    /// The last poll found nothing.
    needs_look: bool,
    /// The system said that the sender has died.
    is_dead: bool,
    /// Nothing is committed any more: what is there now is all.
    is_over: bool,
    /// It was over before the last poll, and that one found nothing.
    is_drained: bool,
    is_armed: bool,
    watch: Watch,
}

impl<P: Peers> Receiving<P> {
    /// The end of an edge.
    pub(in crate::media) fn new(spec: &Spec, reader: Reader, peers: P) -> Receiving<P> {
        Receiving {
            reader,
            peers,
            name: spec.name.clone(),
            needs_look: false,
            is_dead: false,
            is_over: false,
            is_drained: false,
            is_armed: false,
            watch: Watch::new(),
        }
    }

    /// After a poll that found nothing: whether there will be something.
    fn look(&mut self) -> Result<(), Error> {
        if self.is_drained {
            return Err(self.loss());
        }
        if let Some(fault) = self.reader.fault() {
            let name = &self.name;
            return Err(Error::Refused(format!("{name}: a broken ring: {fault}")));
        }
        self.is_dead = self.is_dead || self.watch.is_due() && self.peers.dead() != 0;
        self.is_over = self.is_dead || self.reader.is_closed();
        Ok(())
    }

    #[cold]
    fn loss(&self) -> Error {
        let why = match self.reader.is_closed() {
            true => "it has closed its end",
            false => "its process has ended",
        };
        Error::Lost(Loss {
            receiver: None,
            why: why.to_owned(),
        })
    }

    #[cold]
    fn wake(&self) {
        self.peers.wake(1);
    }
}

impl<P: Peers> Inbound for Receiving<P> {
    #[inline]
    fn poll(&mut self) -> Result<Batch<'_>, Error> {
        if self.needs_look {
            self.look()?;
        }
        let batch = self.reader.poll();
        self.needs_look = batch.is_empty();
        self.is_drained = self.is_over && self.needs_look;
        Ok(batch)
    }

    #[inline]
    fn release(&mut self) {
        self.reader.release();
        if self.reader.is_writer_sleeping() {
            self.wake();
        }
    }
}

impl<P: Peers> Wait for Receiving<P> {
    fn arm(&mut self) -> Result<bool, Error> {
        self.is_armed = !self.is_dead && self.reader.arm();
        Ok(self.is_armed)
    }

    fn disarm(&mut self) {
        if std::mem::take(&mut self.is_armed) {
            self.reader.disarm();
            self.is_dead = self.peers.silence() != 0;
            self.needs_look = true;
        }
    }

    fn sources<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        self.peers.sources(readable);
    }
}
