//! The sending end of an edge over a ring.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::grant::GrantAddress;
use ring::{Fault, Writer};

use super::watch::Watch;
use super::{Peers, numbers};
use crate::{Counters, Error, Loss, Outbound, Spec, Wait};

/// A writer, and the receivers behind it. The writer is dropped first: whoever is woken by the end of
/// the rest finds the ring closed.
pub(in crate::media) struct Sending<P> {
    writer: Writer,
    peers: P,
    name: Arc<str>,
    frame_bytes_max: usize,
    /// Something is to be looked at before the next claim: there was no room, or nobody is left.
    needs_look: bool,
    /// Bytes of the last claim, if it found no room.
    wanted: usize,
    is_armed: bool,
    watch: Watch,
    lost: Vec<u32>,
    /// The same, a bit for each. For those who look at the counters.
    gone: Arc<AtomicU64>,
    counters: Arc<Counters>,
    /// How the last one was lost.
    why: String,
}

impl<P: Peers> Sending<P> {
    /// The end of an edge.
    pub(in crate::media) fn new(spec: &Spec, writer: Writer, peers: P) -> Sending<P> {
        let (counters, gone) = (Arc::new(Counters::default()), Arc::new(AtomicU64::new(0)));
        watch(&counters, &writer, gone.clone());
        Sending {
            gone,
            counters,
            frame_bytes_max: writer.frame_bytes_max(),
            writer,
            peers,
            name: spec.name.clone(),
            needs_look: false,
            wanted: 0,
            is_armed: false,
            watch: Watch::new(),
            lost: Vec::with_capacity(spec.receivers as usize),
            why: String::new(),
        }
    }

    #[inline(always)]
    fn claim_now(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        match self.writer.claim(len) {
            Some(room) => Ok(Some(room)),
            None if len > self.frame_bytes_max => {
                Err(oversized(&self.name, len, self.frame_bytes_max))
            }
            None => {
                self.needs_look = true;
                self.wanted = len;
                self.counters.block();
                Ok(None)
            }
        }
    }

    /// Apart, so that the way without a look is short.
    #[cold]
    #[inline(never)]
    fn claim_after_look(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        self.look()?;
        // What held it up is gone, or the claim finds that it is not, and since when.
        if self.writer.claim(len).is_some() {
            self.counters.unblock();
        }
        self.claim_now(len)
    }

    /// Before a claim: whether the one before found no room because of somebody who is gone.
    #[cold]
    fn look(&mut self) -> Result<(), Error> {
        self.wanted = 0;
        self.needs_look = false;
        self.notice();
        if !self.needs_look {
            return Ok(());
        }
        Err(Error::Lost(Loss {
            receiver: self.lost.last().copied(),
            why: self.why.clone(),
        }))
    }

    /// Dismisses receivers that are gone. When nobody is left, the next claim says so.
    fn notice(&mut self) {
        self.dismiss(self.writer.gone_readers(), "it has closed its end");
        if let Some(Fault::Cursor { reader, .. }) = self.writer.fault() {
            self.dismiss(1 << reader, "it has broken the ring");
        }
        if self.watch.is_due() {
            let dead = self.peers.dead();
            self.dismiss(dead, "its process has ended");
        }
        self.needs_look |= self.writer.live_readers() == 0;
    }

    #[inline]
    fn dismiss(&mut self, gone: u64, why: &str) {
        if gone != 0 {
            self.dismiss_some(gone, why);
        }
    }

    #[cold]
    fn dismiss_some(&mut self, gone: u64, why: &str) {
        for reader in numbers(gone) {
            if !self.lost.contains(&reader) {
                self.writer.dismiss(reader);
                self.peers.dismiss(reader);
                self.lost.push(reader);
                self.gone.fetch_or(1 << reader, Ordering::Relaxed);
                self.why = why.to_owned();
            }
        }
    }

    #[inline]
    fn wake_sleepers(&self) {
        let sleepers = self.writer.sleeping_readers();
        if sleepers != 0 {
            self.wake_some(sleepers);
        }
    }

    #[cold]
    fn wake_some(&self, sleepers: u64) {
        self.peers.wake(sleepers);
    }
}

/// Has the counters say how full the ring is, without a word from the writer.
fn watch(counters: &Counters, writer: &Writer, gone: Arc<AtomicU64>) {
    let gauge = writer.gauge();
    counters.set_look(move |counters| {
        let level = gauge.level(gone.load(Ordering::Relaxed));
        counters.bytes.store(level.committed, Ordering::Relaxed);
        counters.queued_bytes.store(level.queued, Ordering::Relaxed);
        counters.slowest.store(level.slowest, Ordering::Relaxed);
    });
}

impl<P> Drop for Sending<P> {
    /// The ring's memory is not kept for those who look at counters.
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

impl<P: Peers> Outbound for Sending<P> {
    fn frame_bytes_max(&self) -> usize {
        self.frame_bytes_max
    }

    #[inline]
    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if self.needs_look {
            return self.claim_after_look(len);
        }
        self.claim_now(len)
    }

    #[inline]
    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        self.writer.commit(kind, flags, len);
        self.wake_sleepers();
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.writer.publish();
        self.notice();
        Ok(true)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        self.notice();
        Ok(self.writer.queued_bytes() == 0)
    }

    fn queued_bytes(&self) -> usize {
        self.writer.queued_bytes()
    }

    fn lost(&self) -> &[u32] {
        &self.lost
    }

    fn grant(&mut self) -> Option<GrantAddress> {
        self.writer.grant()
    }

    fn limit_grant(&mut self, bytes: u64) {
        self.writer.cap_grant(bytes);
    }

    fn wake(&mut self) {
        self.wake_sleepers();
    }

    fn counters(&self) -> Option<Arc<Counters>> {
        Some(self.counters.clone())
    }
}

impl<P: Peers> Wait for Sending<P> {
    fn arm(&mut self) -> Result<bool, Error> {
        self.writer.publish();
        self.notice();
        self.is_armed = self.writer.live_readers() > 0 && self.writer.arm(self.wanted);
        Ok(self.is_armed)
    }

    fn disarm(&mut self) {
        if std::mem::take(&mut self.is_armed) {
            self.writer.disarm();
            let dead = self.peers.silence();
            self.dismiss(dead, "its process has ended");
            self.needs_look |= self.writer.live_readers() == 0;
        }
    }

    fn sources<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        self.peers.sources(readable);
    }
}
