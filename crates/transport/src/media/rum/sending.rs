//! The sending end of rum: frames are built in a ring and sent from there, many at a time.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ring::Writer;
use ring::frame::frame_bytes;
use ring::grant::GrantAddress;

use super::due::Which;
use super::link::Link;
use super::pace::Pace;
use crate::media::tcp::pump::{Attended, Next};
use crate::media::tcp::waiting::Waiting;
use crate::{Batching, Bell, Counters, Error, Loss, Outbound, Wait};

/// When the pump comes back that has found the sending thread at work.
const AGAIN: Duration = Duration::from_micros(50);

/// The sending end.
pub(super) struct Sending {
    shared: Arc<Shared>,
    counters: Arc<Counters>,
    writer: Writer,
    frame_bytes_max: usize,
    pace: Pace,
    /// Bytes of the last frame that came by a claim, as all have that compiled code writes.
    frame_bytes: u64,
    /// The last claim has found no room, or nobody is left: there is something to be looked at.
    needs_look: bool,
    /// Bytes of the last claim, if it found no room.
    wanted: usize,
    changes: u64,
    lost: Vec<u32>,
    all_lost: Option<Loss>,
    waiting: Waiting,
}

/// What the pump sees of it.
pub(super) struct Shared {
    link: Mutex<Link>,
    /// The sending thread wanted the link and the pump had it.
    again: AtomicBool,
    /// How often receivers came or went. Written by whoever has the link.
    changes: AtomicU64,
    bell: Bell,
}

impl Shared {
    pub(super) fn new(link: Link) -> Result<Shared, Error> {
        let bell = Bell::new().map_err(|error| Error::system("make a bell", error))?;
        Ok(Shared {
            link: Mutex::new(link),
            again: AtomicBool::new(false),
            changes: AtomicU64::new(0),
            bell,
        })
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The link, unless somebody has it.
    fn free_link(&self) -> Option<MutexGuard<'_, Link>> {
        match self.link.try_lock() {
            Ok(link) => Some(link),
            Err(TryLockError::Poisoned(link)) => Some(link.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The link, unless the pump has it. Then the pump has another turn, which sees everything that
    /// was committed before.
    fn try_link(&self) -> Option<MutexGuard<'_, Link>> {
        for _ in 0..2 {
            if let Some(link) = self.free_link() {
                return Some(link);
            }
            // Tried once more: the pump may have looked at this just before.
            self.again.store(true, Ordering::SeqCst);
        }
        None
    }
}

impl Attended for Shared {
    fn turn(&self, now: Instant) -> Next {
        loop {
            let (next, wakes) = {
                // The sending thread is not to be held up by waking whoever waits for it.
                let Some(mut link) = self.free_link() else {
                    return Next::At(now + AGAIN);
                };
                let turn = link.turn(now);
                self.changes.store(link.changes(), Ordering::Relaxed);
                turn
            };
            if wakes {
                self.bell.ring();
            }
            if !self.again.swap(false, Ordering::SeqCst) {
                return next;
            }
        }
    }
}

impl Sending {
    pub(super) fn new(
        shared: Arc<Shared>,
        counters: Arc<Counters>,
        writer: Writer,
        batch: Batching,
        (receivers, frame_bytes_max): (u32, usize),
    ) -> Sending {
        let batch_bytes = batch.bytes_max.min(writer.frame_bytes_max() / 2);
        let waiting = Waiting::new(shared.bell.clone(), receivers);
        Sending {
            shared,
            counters,
            writer,
            frame_bytes_max,
            pace: Pace::new(batch_bytes),
            frame_bytes: 0,
            needs_look: false,
            wanted: 0,
            changes: 0,
            lost: Vec::with_capacity(receivers as usize),
            all_lost: None,
            waiting,
        }
    }

    /// The last frame, of so many bytes, has brought the batch to where it is looked at, or the pump
    /// wants to know of it.
    #[cold]
    fn attend(&mut self, bytes: u64) {
        if self.pace.is_full(self.writer.committed(), bytes) {
            self.send(bytes);
        } else {
            self.look(bytes);
        }
        let left = self.pace.bytes_left(self.writer.committed());
        self.writer.cap_grant(left);
    }

    /// A batch is full: it goes out.
    fn send(&mut self, bytes: u64) {
        self.count();
        let head = self.writer.committed();
        let Some(mut link) = self.shared.try_link() else {
            return self.pace.look_again(head, true);
        };
        let (sent_at, left) = link.send_full(self.pace.then());
        drop(link);
        self.pace.begin_after_full(head, bytes, left, sent_at);
    }

    /// The batch may have waited long enough, or the receiver may be idle.
    fn look(&mut self, bytes: u64) {
        let head = self.writer.committed();
        let Some(mut link) = self.shared.try_link() else {
            // Nobody has promised to look after the next frame.
            return self.pace.look_again(head, false);
        };
        let left = link.look(Instant::now());
        drop(link);
        match left {
            Some(left) => self.pace.go_on(head, bytes, left),
            None => {
                self.pace.begin(head);
                self.count();
            }
        }
    }

    fn count(&self) {
        let bytes = &self.counters.bytes;
        bytes.store(self.writer.committed(), Ordering::Relaxed);
    }

    /// A claim after one that found no room, or after receivers came or went.
    #[cold]
    #[inline(never)]
    fn claim_after_look(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        self.make_room();
        self.check_lost()?;
        if self.writer.claim(len).is_some() {
            self.needs_look = false;
            self.wanted = 0;
            self.counters.unblock();
        }
        self.claim_now(len)
    }

    #[inline(always)]
    fn claim_now(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if len > self.frame_bytes_max {
            return Err(oversized(len, self.frame_bytes_max));
        }
        match self.writer.claim(len) {
            Some(room) => Ok(Some(room)),
            None => {
                self.needs_look = true;
                self.wanted = len;
                self.counters.block();
                Ok(None)
            }
        }
    }

    /// Out of line, so that the way by counting is short.
    #[inline(never)]
    fn put_by_claim(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        room[..payload.len()].copy_from_slice(payload);
        self.commit(kind, flags, payload.len());
        Ok(true)
    }

    /// Gets room back, and what is committed out.
    fn make_room(&mut self) {
        let Some(mut link) = self.shared.try_link() else {
            return;
        };
        link.hear();
        link.send(Which::All);
        self.changes = link.changes();
        link.list_lost(&mut self.lost);
        self.all_lost = link.all_lost();
        drop(link);
        self.needs_look = self.all_lost.is_some();
    }

    /// Fails if there is no receiver left, again and again.
    fn check_lost(&self) -> Result<(), Error> {
        match &self.all_lost {
            None => Ok(()),
            Some(loss) => Err(Error::Lost(loss.clone())),
        }
    }

    fn has_changed(&self) -> bool {
        self.shared.changes.load(Ordering::Relaxed) != self.changes
    }
}

#[cold]
fn oversized(len: usize, most: usize) -> Error {
    Error::Refused(format!(
        "a claim of {len} bytes: a frame has at most {most}"
    ))
}

impl Outbound for Sending {
    fn frame_bytes_max(&self) -> usize {
        self.frame_bytes_max
    }

    #[inline]
    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if self.needs_look || self.has_changed() {
            return self.claim_after_look(len);
        }
        self.claim_now(len)
    }

    #[inline]
    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        let (before, bytes) = (self.writer.committed(), frame_bytes(len) as u64);
        self.writer.commit(kind, flags, len);
        self.frame_bytes = bytes;
        let head = self.writer.committed();
        if head - before != bytes {
            self.pad(before);
        }
        let left = self.pace.bytes_left(head);
        if left == 0 || self.writer.sleeping_readers() != 0 {
            return self.attend(bytes);
        }
        self.writer.cap_grant(left);
    }

    #[inline]
    fn put(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        if !self.writer.put(kind, flags, payload) {
            return self.put_by_claim(kind, flags, payload);
        }
        if self.writer.sleeping_readers() != 0 {
            self.attend(frame_bytes(payload.len()) as u64);
        }
        Ok(true)
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let mut link = self.shared.link();
        let is_out = link.send(Which::All);
        link.list_lost(&mut self.lost);
        drop(link);
        if is_out {
            self.pace.begin(self.writer.committed());
            self.writer.cap_grant(0);
        }
        self.count();
        Ok(is_out)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        let mut link = self.shared.link();
        link.send(Which::All);
        link.hear();
        link.list_lost(&mut self.lost);
        Ok(link.queued_bytes() == 0)
    }

    fn queued_bytes(&self) -> usize {
        let mut link = self.shared.link();
        link.hear();
        link.queued_bytes()
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
        if self.writer.sleeping_readers() != 0 {
            self.attend(self.frame_bytes);
        }
    }

    fn counters(&self) -> Option<Arc<Counters>> {
        Some(self.counters.clone())
    }
}

impl Sending {
    /// The ring's end was filled.
    #[cold]
    fn pad(&mut self, at: u64) {
        // If the pump has the link, it is sent: that is not wrong, only longer.
        if let Some(mut link) = self.shared.try_link() {
            link.set_pad(at);
        }
    }
}

impl Wait for Sending {
    fn arm(&mut self) -> Result<bool, Error> {
        self.waiting.silence();
        let mut link = self.shared.link();
        link.send(Which::All);
        link.hear();
        link.list_lost(&mut self.lost);
        self.all_lost = link.all_lost();
        // The next claim says that they are gone.
        self.needs_look |= self.all_lost.is_some();
        if self.all_lost.is_some() || self.writer.claim(self.wanted).is_some() {
            return Ok(false);
        }
        link.set_armed(true);
        self.waiting.begin(link.waited_for());
        Ok(true)
    }

    fn disarm(&mut self) {
        self.waiting.end();
        self.shared.link().set_armed(false);
    }

    fn sources<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        self.waiting.sources(readable, writable);
    }
}

impl Drop for Sending {
    /// The pump gets out what is left, for a while.
    fn drop(&mut self) {
        self.shared.link().leave();
    }
}
