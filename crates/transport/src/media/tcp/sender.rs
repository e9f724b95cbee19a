//! The sending end of plain TCP: a frame is built in a buffer and written at once.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ring::frame::{FrameHeader, HEADER_BYTES, frame_bytes};

use super::sender_state::TcpSenderState;
use crate::media::tcp_edge::io_thread::{IoTask, NextTurn};
use crate::media::tcp_edge::sender_poll_set::SenderPollSet;
use crate::{EdgeCounters, Error, SendingEnd, Waitable, Wakeup};

/// Bytes of a payload from which it takes longer to copy it than to hand it to the system in parts.
const LARGE_BYTES: usize = 4096;

/// The sending end of an edge over plain TCP.
pub(super) struct TcpSender {
    task: Arc<TcpSenderTask>,
    counters: Arc<EdgeCounters>,
    payload_bytes_max: usize,
    /// The claimed frame, with its header.
    frame: Vec<u64>,
    claimed_bytes: Option<usize>,
    /// Payload bytes of the last claim that found no room.
    blocked_claim_bytes: usize,
    frames: u64,
    bytes: u64,
    lost: Vec<u32>,
    poll_set: SenderPollSet,
}

/// Part of a sending end that the IO thread attends to.
pub(super) struct TcpSenderTask {
    state: Mutex<TcpSenderState>,
    wakeup: Wakeup,
}

impl TcpSenderTask {
    pub(super) fn new(state: TcpSenderState) -> Result<TcpSenderTask, Error> {
        let wakeup =
            Wakeup::new().map_err(|error| Error::system("make an event descriptor", error))?;
        Ok(TcpSenderTask {
            state: Mutex::new(state),
            wakeup,
        })
    }

    fn lock_state(&self) -> MutexGuard<'_, TcpSenderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IoTask for TcpSenderTask {
    fn turn(&self, now: Instant) -> NextTurn {
        let (next, wakes) = self.lock_state().turn(now);
        if wakes {
            self.wakeup.wake();
        }
        next
    }
}

impl TcpSender {
    pub(super) fn new(
        task: Arc<TcpSenderTask>,
        counters: Arc<EdgeCounters>,
        payload_bytes_max: usize,
        receivers: u32,
    ) -> TcpSender {
        let poll_set = SenderPollSet::new(task.wakeup.clone(), receivers);
        TcpSender {
            task,
            counters,
            payload_bytes_max,
            frame: vec![0; frame_bytes(payload_bytes_max) / 8],
            claimed_bytes: None,
            blocked_claim_bytes: 0,
            frames: 0,
            bytes: 0,
            lost: Vec::with_capacity(receivers as usize),
            poll_set,
        }
    }
}

impl TcpSender {
    /// Counts a written frame of `bytes` bytes.
    fn count_frame(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
        self.counters.frames.store(self.frames, Ordering::Relaxed);
        self.counters.batches.store(self.frames, Ordering::Relaxed);
        self.counters.bytes.store(self.bytes, Ordering::Relaxed);
    }
}

impl SendingEnd for TcpSender {
    fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        self.claimed_bytes = None;
        if len > self.payload_bytes_max {
            return Err(Error::Refused(format!(
                "a claim of {len} bytes: a frame has at most {}",
                self.payload_bytes_max
            )));
        }
        let mut state = self.task.lock_state();
        let has_room = state.has_room(frame_bytes(len));
        state.list_lost(&mut self.lost);
        if !matches!(has_room, Ok(true)) {
            drop(state);
            self.blocked_claim_bytes = len;
            self.counters.block();
            return has_room.map(|_| None);
        }
        drop(state);
        self.blocked_claim_bytes = 0;
        self.counters.unblock();
        self.claimed_bytes = Some(len);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.frame);
        Ok(Some(&mut bytes[HEADER_BYTES..HEADER_BYTES + len]))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        let is_claimed = self
            .claimed_bytes
            .take()
            .is_some_and(|claimed| len <= claimed);
        assert!(is_claimed, "commit of {len} bytes that were not claimed");
        let header = FrameHeader {
            len: len as u32,
            kind,
            flags,
        };
        self.frame[0] = header.to_word();
        let bytes = frame_bytes(len);
        self.task.lock_state().write_frame(&mut self.frame, bytes);
        self.count_frame(bytes);
    }

    /// Writes a large payload without copying it first.
    fn try_write(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        if payload.len() < LARGE_BYTES {
            room.copy_from_slice(payload);
            self.commit(kind, flags, payload.len());
            return Ok(true);
        }
        self.claimed_bytes = None;
        let header = FrameHeader {
            len: payload.len() as u32,
            kind,
            flags,
        };
        self.task.lock_state().write_payload(header, payload);
        self.count_frame(frame_bytes(payload.len()));
        Ok(true)
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let mut state = self.task.lock_state();
        let is_out = state.continue_frame();
        state.list_lost(&mut self.lost);
        Ok(is_out)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        let mut state = self.task.lock_state();
        state.continue_frame();
        state.read_credit();
        state.list_lost(&mut self.lost);
        Ok(state.is_drained())
    }

    fn queued_bytes(&self) -> usize {
        let mut state = self.task.lock_state();
        state.read_credit();
        state.queued_bytes()
    }

    fn lost_receivers(&self) -> &[u32] {
        &self.lost
    }

    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        Some(self.counters.clone())
    }
}

impl Waitable for TcpSender {
    fn arm(&mut self) -> Result<bool, Error> {
        self.poll_set.clear_wakeup();
        let mut state = self.task.lock_state();
        // The next claim reports an error, if there is one.
        if state
            .has_room(frame_bytes(self.blocked_claim_bytes))
            .unwrap_or(true)
        {
            return Ok(false);
        }
        state.set_armed(true);
        self.poll_set.add_connections(state.awaited_connections());
        Ok(true)
    }

    fn disarm(&mut self) {
        self.poll_set.clear_connections();
        self.task.lock_state().set_armed(false);
    }

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        self.poll_set.poll_fds(readable, writable);
    }
}

impl Drop for TcpSender {
    /// Hands the rest to the IO thread, which goes on sending for
    /// [`LINGER_TIMEOUT`](crate::media::tcp_edge::stream_end::LINGER_TIMEOUT).
    fn drop(&mut self) {
        self.task.lock_state().close();
    }
}
