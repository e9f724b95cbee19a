//! The sending end of rum: frames are built in a ring and sent from there, many at a time.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ring::Writer;
use ring::frame::frame_bytes;

use super::batch::HEAD_BYTES;
use super::link::{Link, Which};
use crate::media::tcp::pump::{Attended, Next};
use crate::{Batching, Bell, Counters, Error, Loss, Outbound, Wait};

/// A batch after a full one waits so long for more, even if the receiver is idle: the sending thread
/// is in a stream, and a lone frame would be in its way.
const SETTLE: Duration = Duration::from_micros(5);

/// Frames between two looks at the clock, at most.
const STRIDE_MAX: u64 = 256;

/// What the headers of Ethernet, IP and TCP leave of 64 KB: a batch of that size goes over loopback
/// in one segment, not in one and a scrap.
const SLACK_BYTES: u64 = 64;

/// The sending end.
pub(super) struct Sending {
    shared: Arc<Shared>,
    counters: Arc<Counters>,
    writer: Writer,
    frame_bytes_max: usize,
    time_min: Duration,
    /// Bytes of a full batch.
    batch_bytes: u64,
    /// The last claim has found no room, or nobody is left: there is something to be looked at.
    needs_look: bool,
    /// Bytes of the last claim, if it found no room.
    wanted: usize,
    /// Up to where frames are committed.
    head: u64,
    /// Where the batch is full.
    full_at: u64,
    /// Where the batch is looked at, at the latest when it is full.
    look_at: u64,
    /// Frames of the batch when it was looked at.
    batch_frames: u64,
    /// Whether the last batch was full.
    is_stream: bool,
    frames: u64,
    changes: u64,
    lost: Vec<u32>,
    all_lost: Option<Loss>,
    /// What an armed end waits for: credit, and room in sockets.
    credit: Vec<Arc<TcpStream>>,
    room: Vec<Arc<TcpStream>>,
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

    /// The link, unless the pump has it. Then the pump has another turn, which sees everything that
    /// was committed before.
    fn try_link(&self) -> Option<MutexGuard<'_, Link>> {
        for _ in 0..2 {
            match self.link.try_lock() {
                Ok(link) => return Some(link),
                Err(TryLockError::Poisoned(link)) => return Some(link.into_inner()),
                // Tried once more: the pump may have looked at this just before.
                Err(TryLockError::WouldBlock) => self.again.store(true, Ordering::SeqCst),
            }
        }
        None
    }
}

impl Attended for Shared {
    fn turn(&self, now: Instant) -> Next {
        loop {
            let (next, wakes) = {
                let mut link = self.link();
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
        let ring_bytes = writer.frame_bytes_max() as u64;
        let batch_bytes = (batch.bytes_max as u64).min(ring_bytes / 2);
        let batch_bytes = batch_bytes.saturating_sub(SLACK_BYTES + HEAD_BYTES as u64);
        Sending {
            shared,
            counters,
            writer,
            frame_bytes_max,
            time_min: batch.time_min,
            batch_bytes,
            needs_look: false,
            wanted: 0,
            head: 0,
            full_at: batch_bytes,
            look_at: 0,
            batch_frames: 0,
            is_stream: false,
            frames: 0,
            changes: 0,
            lost: Vec::with_capacity(receivers as usize),
            all_lost: None,
            credit: Vec::with_capacity(receivers as usize),
            room: Vec::with_capacity(receivers as usize),
        }
    }

    /// The last frame, of so many bytes, has brought the batch to where it is looked at.
    #[cold]
    fn attend(&mut self, bytes: u64) {
        if self.head + bytes > self.full_at {
            self.send();
        } else {
            self.look(bytes);
        }
    }

    /// A batch is full: it goes out.
    fn send(&mut self) {
        self.count();
        let Some(mut link) = self.shared.try_link() else {
            self.full_at = self.head + self.batch_bytes / 4;
            self.look_at = self.head;
            return;
        };
        let is_out = link.send(Which::All);
        if !is_out {
            link.look_after();
        }
        drop(link);
        self.begin_batch(true);
    }

    /// The batch may have waited long enough, or the receiver may be idle.
    fn look(&mut self, bytes: u64) {
        let Some(mut link) = self.shared.try_link() else {
            // Nobody has promised to look after the next frame.
            self.look_at = self.head;
            return;
        };
        let now = Instant::now();
        let opened = link.opened().unwrap_or(now);
        let waited = now.saturating_duration_since(opened);
        let is_settled = !self.is_stream || waited >= SETTLE;
        let is_out = link.look(now, is_settled);
        drop(link);
        if is_out {
            self.begin_batch(false);
            return self.count();
        }
        let until = match is_settled {
            true => self.time_min,
            false => SETTLE,
        };
        let stride = self.stride_until(waited, until);
        self.batch_frames += stride;
        let full_at = self.full_at.saturating_sub(bytes - 1);
        self.look_at = (self.head + stride * bytes).min(full_at);
    }

    /// Half of the frames that will come until the batch has waited long enough, as the last ones
    /// came.
    fn stride_until(&self, waited: Duration, until: Duration) -> u64 {
        let left = until.saturating_sub(waited).as_nanos() as u64;
        let frames = self.batch_frames + 1;
        match waited.as_nanos() as u64 {
            0 if self.is_stream => 8,
            0 => 1,
            waited => (frames * left / waited / 2).clamp(1, STRIDE_MAX),
        }
    }

    /// The next frame begins a batch.
    fn begin_batch(&mut self, is_stream: bool) {
        self.full_at = self.head + self.batch_bytes;
        self.look_at = self.head;
        self.batch_frames = 0;
        self.is_stream = is_stream;
    }

    fn count(&self) {
        self.counters.frames.store(self.frames, Ordering::Relaxed);
        self.counters.bytes.store(self.head, Ordering::Relaxed);
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
        let (before, bytes) = (self.head, frame_bytes(len) as u64);
        self.writer.commit(kind, flags, len);
        self.head = self.writer.committed();
        self.frames += 1;
        if self.head - before != bytes {
            self.pad(before);
        }
        if self.head >= self.look_at || self.writer.sleeping_readers() != 0 {
            self.attend(bytes);
        }
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let mut link = self.shared.link();
        let is_out = link.send(Which::All);
        link.list_lost(&mut self.lost);
        drop(link);
        if is_out {
            self.begin_batch(false);
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
        self.shared.bell.silence();
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
        link.waited_for(&mut self.credit, &mut self.room);
        Ok(true)
    }

    fn disarm(&mut self) {
        self.credit.clear();
        self.room.clear();
        self.shared.link().set_armed(false);
    }

    fn sources<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.shared.bell.as_fd());
        readable.extend(self.credit.iter().map(|stream| stream.as_fd()));
        writable.extend(self.room.iter().map(|stream| stream.as_fd()));
    }
}

impl Drop for Sending {
    /// The pump gets out what is left, for a while.
    fn drop(&mut self) {
        self.shared.link().leave();
    }
}
