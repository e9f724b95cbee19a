//! The sending end of plain TCP: a frame is built in a buffer and written at once.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ring::frame::{HEADER_BYTES, Header, frame_bytes};

use super::lines::Lines;
use super::pump::{Attended, Next};
use super::waiting::Waiting;
use crate::{Bell, Counters, Error, Outbound, Wait};

/// Payloads that it takes longer to copy than to hand to the system in parts.
const LARGE_BYTES: usize = 4096;

/// The sending end.
pub(super) struct Sending {
    shared: Arc<Shared>,
    counters: Arc<Counters>,
    frame_bytes_max: usize,
    /// The claimed frame, header and all.
    frame: Vec<u64>,
    claimed: Option<usize>,
    /// Bytes of the last claim that found no room.
    wanted: usize,
    frames: u64,
    bytes: u64,
    lost: Vec<u32>,
    waiting: Waiting,
}

/// What the pump sees of it.
pub(super) struct Shared {
    lines: Mutex<Lines>,
    bell: Bell,
}

impl Shared {
    pub(super) fn new(lines: Lines) -> Result<Shared, Error> {
        let bell = Bell::new().map_err(|error| Error::system("make a bell", error))?;
        Ok(Shared {
            lines: Mutex::new(lines),
            bell,
        })
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attended for Shared {
    fn turn(&self, now: Instant) -> Next {
        let (next, wakes) = self.lines().turn(now);
        if wakes {
            self.bell.ring();
        }
        next
    }
}

impl Sending {
    pub(super) fn new(
        shared: Arc<Shared>,
        counters: Arc<Counters>,
        frame_bytes_max: usize,
        receivers: u32,
    ) -> Sending {
        let waiting = Waiting::new(shared.bell.clone(), receivers);
        Sending {
            shared,
            counters,
            frame_bytes_max,
            frame: vec![0; frame_bytes(frame_bytes_max) / 8],
            claimed: None,
            wanted: 0,
            frames: 0,
            bytes: 0,
            lost: Vec::with_capacity(receivers as usize),
            waiting,
        }
    }
}

impl Sending {
    /// A frame of so many bytes was written.
    fn count(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
        self.counters.frames.store(self.frames, Ordering::Relaxed);
        self.counters.batches.store(self.frames, Ordering::Relaxed);
        self.counters.bytes.store(self.bytes, Ordering::Relaxed);
    }
}

impl Outbound for Sending {
    fn frame_bytes_max(&self) -> usize {
        self.frame_bytes_max
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        self.claimed = None;
        if len > self.frame_bytes_max {
            return Err(Error::Refused(format!(
                "a claim of {len} bytes: a frame has at most {}",
                self.frame_bytes_max
            )));
        }
        let mut lines = self.shared.lines();
        let has_room = lines.has_room(frame_bytes(len));
        lines.list_lost(&mut self.lost);
        if !matches!(has_room, Ok(true)) {
            drop(lines);
            self.wanted = len;
            self.counters.block();
            return has_room.map(|_| None);
        }
        drop(lines);
        self.wanted = 0;
        self.counters.unblock();
        self.claimed = Some(len);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.frame);
        Ok(Some(&mut bytes[HEADER_BYTES..HEADER_BYTES + len]))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        let is_claimed = self.claimed.take().is_some_and(|claimed| len <= claimed);
        assert!(is_claimed, "commit of {len} bytes that were not claimed");
        let header = Header {
            len: len as u32,
            kind,
            flags,
        };
        self.frame[0] = header.to_word();
        let bytes = frame_bytes(len);
        self.shared.lines().write(&mut self.frame, bytes);
        self.count(bytes);
    }

    /// A large payload is written from where it lies.
    fn put(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        if payload.len() < LARGE_BYTES {
            room.copy_from_slice(payload);
            self.commit(kind, flags, payload.len());
            return Ok(true);
        }
        self.claimed = None;
        let header = Header {
            len: payload.len() as u32,
            kind,
            flags,
        };
        self.shared.lines().write_from(header, payload);
        self.count(frame_bytes(payload.len()));
        Ok(true)
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let mut lines = self.shared.lines();
        let is_out = lines.go_on();
        lines.list_lost(&mut self.lost);
        Ok(is_out)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        let mut lines = self.shared.lines();
        lines.go_on();
        lines.hear();
        lines.list_lost(&mut self.lost);
        Ok(lines.is_drained())
    }

    fn queued_bytes(&self) -> usize {
        let mut lines = self.shared.lines();
        lines.hear();
        lines.queued_bytes()
    }

    fn lost(&self) -> &[u32] {
        &self.lost
    }

    fn counters(&self) -> Option<Arc<Counters>> {
        Some(self.counters.clone())
    }
}

impl Wait for Sending {
    fn arm(&mut self) -> Result<bool, Error> {
        self.waiting.silence();
        let mut lines = self.shared.lines();
        // The next claim says what is wrong, if something is.
        if lines.has_room(frame_bytes(self.wanted)).unwrap_or(true) {
            return Ok(false);
        }
        lines.set_armed(true);
        self.waiting.begin(lines.waited_for());
        Ok(true)
    }

    fn disarm(&mut self) {
        self.waiting.end();
        self.shared.lines().set_armed(false);
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
    /// What is written arrives; the pump sees to what is not, for a while.
    fn drop(&mut self) {
        self.shared.lines().leave();
    }
}
