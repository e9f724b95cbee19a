//! The sending end of rum: frames are built in a ring and sent from there, many at a time.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ring::Writer;
use ring::frame::frame_bytes;
use ring::grant::GrantAddresses;

use super::commit_budget::CommitBudget;
use super::flush_deadline::FlushScope;
use super::sender_state::RumSenderState;
use crate::media::tcp_edge::io_thread::{IoTask, NextTurn};
use crate::media::tcp_edge::sender_poll_set::SenderPollSet;
use crate::{Batching, EdgeCounters, Error, PeerLoss, SendingEnd, Waitable, Wakeup};

/// Pause after which the IO thread comes back when it has found the sending thread at work.
const BUSY_RETRY_PAUSE: Duration = Duration::from_micros(50);

/// The sending end of an edge over rum.
pub(super) struct RumSender {
    task: Arc<RumSenderTask>,
    counters: Arc<EdgeCounters>,
    writer: Writer,
    payload_bytes_max: usize,
    /// Whether each frame is a full batch.
    sends_each_frame: bool,
    commit_budget: CommitBudget,
    /// Bytes of the last frame that was committed by a claim; all frames that compiled code writes
    /// have that size.
    last_frame_bytes: u64,
    /// A look is needed before the next claim: there was no room, or no receiver is left.
    needs_check: bool,
    /// Payload bytes of the last claim, if it found no room.
    blocked_claim_bytes: usize,
    membership_changes: u64,
    lost: Vec<u32>,
    all_lost: Option<PeerLoss>,
    poll_set: SenderPollSet,
}

/// Part of a sending end that the IO thread attends to.
pub(super) struct RumSenderTask {
    state: Mutex<RumSenderState>,
    /// The sending thread wanted the lock while the IO thread had it.
    needs_turn: AtomicBool,
    /// Number of times that receivers came or went. Written by the thread that has the lock.
    membership_changes: AtomicU64,
    wakeup: Wakeup,
}

impl RumSenderTask {
    pub(super) fn new(state: RumSenderState) -> Result<RumSenderTask, Error> {
        let wakeup =
            Wakeup::new().map_err(|error| Error::system("make an event descriptor", error))?;
        Ok(RumSenderTask {
            state: Mutex::new(state),
            needs_turn: AtomicBool::new(false),
            membership_changes: AtomicU64::new(0),
            wakeup,
        })
    }

    fn lock_state(&self) -> MutexGuard<'_, RumSenderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, unless another thread has the lock.
    fn try_lock_state(&self) -> Option<MutexGuard<'_, RumSenderState>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The state, unless the IO thread has the lock. Then the IO thread takes another turn, which
    /// sees every frame committed before.
    fn lock_state_or_request_turn(&self) -> Option<MutexGuard<'_, RumSenderState>> {
        for _ in 0..2 {
            if let Some(state) = self.try_lock_state() {
                return Some(state);
            }
            // One more try: the IO thread may have looked at the flag just before.
            self.needs_turn.store(true, Ordering::SeqCst);
        }
        None
    }
}

impl IoTask for RumSenderTask {
    fn turn(&self, now: Instant) -> NextTurn {
        loop {
            let (next, wakes) = {
                // The lock is released first: waking a thread must not delay the sending thread.
                let Some(mut state) = self.try_lock_state() else {
                    return NextTurn::At(now + BUSY_RETRY_PAUSE);
                };
                let turn = state.turn(now);
                self.membership_changes
                    .store(state.membership_changes(), Ordering::Relaxed);
                turn
            };
            if wakes {
                self.wakeup.wake();
            }
            if !self.needs_turn.swap(false, Ordering::SeqCst) {
                return next;
            }
        }
    }
}

impl RumSender {
    pub(super) fn new(
        task: Arc<RumSenderTask>,
        counters: Arc<EdgeCounters>,
        writer: Writer,
        batch: Batching,
        (receivers, payload_bytes_max): (u32, usize),
    ) -> RumSender {
        let batch_bytes = batch.bytes_max.min(writer.payload_bytes_max() / 2);
        let poll_set = SenderPollSet::new(task.wakeup.clone(), receivers);
        RumSender {
            task,
            counters,
            writer,
            payload_bytes_max,
            sends_each_frame: batch_bytes == 1,
            commit_budget: CommitBudget::new(batch_bytes),
            last_frame_bytes: 0,
            needs_check: false,
            blocked_claim_bytes: 0,
            membership_changes: 0,
            lost: Vec::with_capacity(receivers as usize),
            all_lost: None,
            poll_set,
        }
    }

    /// Sends or checks the batch after a frame of `bytes` bytes that used up the budget, or that
    /// the IO thread wants to know of.
    #[cold]
    fn flush_or_check(&mut self, bytes: u64) {
        if self.commit_budget.is_full(self.writer.committed(), bytes) {
            self.send_full_batch(bytes);
        } else {
            self.check_batch(bytes);
        }
        let left = self.commit_budget.bytes_left(self.writer.committed());
        self.writer.cap_grant(left);
    }

    /// Sends a full batch.
    fn send_full_batch(&mut self, bytes: u64) {
        self.count_bytes();
        let head = self.writer.committed();
        let Some(mut state) = self.task.lock_state_or_request_turn() else {
            return self.commit_budget.check_next_frame(head, true);
        };
        if self.sends_each_frame {
            state.send_frame();
            return self.commit_budget.begin_batch(head);
        }
        let (sent_at, left) = state.send_full_batch(self.commit_budget.write_mode());
        drop(state);
        self.commit_budget
            .begin_after_full(head, bytes, left, sent_at);
    }

    /// Looks at a batch that is not full: it may have waited long enough, or the receiver may be
    /// idle.
    fn check_batch(&mut self, bytes: u64) {
        let head = self.writer.committed();
        let Some(mut state) = self.task.lock_state_or_request_turn() else {
            // The IO thread will look after this frame, but not after the next.
            return self.commit_budget.check_next_frame(head, false);
        };
        let left = state.flush_unfilled_batch(Instant::now());
        drop(state);
        match left {
            Some(left) => self.commit_budget.continue_batch(head, bytes, left),
            None => {
                self.commit_budget.begin_batch(head);
                self.count_bytes();
            }
        }
    }

    fn count_bytes(&self) {
        let bytes = &self.counters.bytes;
        bytes.store(self.writer.committed(), Ordering::Relaxed);
    }

    /// A claim after one that found no room, or after receivers came or went.
    #[cold]
    #[inline(never)]
    fn claim_after_check(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        self.make_room();
        self.check_lost()?;
        if self.writer.claim(len).is_some() {
            self.needs_check = false;
            self.blocked_claim_bytes = 0;
            self.counters.unblock();
        }
        self.claim_now(len)
    }

    #[inline(always)]
    fn claim_now(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if len > self.payload_bytes_max {
            return Err(oversized(len, self.payload_bytes_max));
        }
        match self.writer.claim(len) {
            Some(room) => Ok(Some(room)),
            None => {
                self.needs_check = true;
                self.blocked_claim_bytes = len;
                self.counters.block();
                Ok(None)
            }
        }
    }

    /// Not inlined, so that a frame written by counting takes few instructions.
    #[inline(never)]
    fn put_by_claim(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        room[..payload.len()].copy_from_slice(payload);
        self.commit(kind, flags, payload.len());
        Ok(true)
    }

    /// Reads credit to get room back, and sends committed frames.
    fn make_room(&mut self) {
        let Some(mut state) = self.task.lock_state_or_request_turn() else {
            return;
        };
        state.read_credit();
        state.send(FlushScope::All);
        self.membership_changes = state.membership_changes();
        state.list_lost(&mut self.lost);
        self.all_lost = state.all_lost();
        drop(state);
        self.needs_check = self.all_lost.is_some();
    }

    /// Fails, every time, if no receiver is left.
    fn check_lost(&self) -> Result<(), Error> {
        match &self.all_lost {
            None => Ok(()),
            Some(loss) => Err(Error::PeerLost(loss.clone())),
        }
    }

    fn has_changed(&self) -> bool {
        self.task.membership_changes.load(Ordering::Relaxed) != self.membership_changes
    }
}

#[cold]
fn oversized(len: usize, most: usize) -> Error {
    Error::Refused(format!(
        "a claim of {len} bytes: a frame has at most {most}"
    ))
}

impl SendingEnd for RumSender {
    fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    #[inline]
    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if self.needs_check || self.has_changed() {
            return self.claim_after_check(len);
        }
        self.claim_now(len)
    }

    #[inline]
    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        let (before, bytes) = (self.writer.committed(), frame_bytes(len) as u64);
        self.writer.commit(kind, flags, len);
        self.last_frame_bytes = bytes;
        let head = self.writer.committed();
        if head - before != bytes {
            self.set_pad(before);
        }
        let left = self.commit_budget.bytes_left(head);
        if left == 0 || self.writer.take_sleeping_readers() != 0 {
            return self.flush_or_check(bytes);
        }
        self.writer.cap_grant(left);
    }

    #[inline]
    fn try_write(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        if !self.writer.try_write(kind, flags, payload) {
            return self.put_by_claim(kind, flags, payload);
        }
        if self.writer.take_sleeping_readers() != 0 {
            self.flush_or_check(frame_bytes(payload.len()) as u64);
        }
        Ok(true)
    }

    fn flush(&mut self) -> Result<bool, Error> {
        let mut state = self.task.lock_state();
        let is_out = state.send(FlushScope::All);
        state.list_lost(&mut self.lost);
        drop(state);
        if is_out {
            self.commit_budget.begin_batch(self.writer.committed());
            self.writer.cap_grant(0);
        }
        self.count_bytes();
        Ok(is_out)
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        let mut state = self.task.lock_state();
        state.send(FlushScope::All);
        state.read_credit();
        state.list_lost(&mut self.lost);
        Ok(state.queued_bytes() == 0)
    }

    fn queued_bytes(&self) -> usize {
        let mut state = self.task.lock_state();
        state.read_credit();
        state.queued_bytes()
    }

    fn lost_receivers(&self) -> &[u32] {
        &self.lost
    }

    fn grant(&mut self) -> Option<GrantAddresses> {
        // Room is never granted if each frame goes out at once.
        match self.sends_each_frame {
            true => None,
            false => self.writer.grant(),
        }
    }

    fn limit_grant(&mut self, bytes: u64) {
        self.writer.cap_grant(bytes);
    }

    fn wake_receivers(&mut self) {
        if self.writer.take_sleeping_readers() != 0 {
            self.flush_or_check(self.last_frame_bytes);
        }
    }

    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        Some(self.counters.clone())
    }
}

impl RumSender {
    /// Notes the index of padding at the ring's end.
    #[cold]
    fn set_pad(&mut self, at: u64) {
        // If the IO thread has the lock, the padding is sent: that is longer, but not wrong.
        if let Some(mut state) = self.task.lock_state_or_request_turn() {
            state.set_pad(at);
        }
    }
}

impl Waitable for RumSender {
    fn arm(&mut self) -> Result<bool, Error> {
        self.poll_set.clear_wakeup();
        let mut state = self.task.lock_state();
        state.send(FlushScope::All);
        state.read_credit();
        state.list_lost(&mut self.lost);
        self.all_lost = state.all_lost();
        // The next claim reports that they are gone.
        self.needs_check |= self.all_lost.is_some();
        if self.all_lost.is_some() || self.writer.claim(self.blocked_claim_bytes).is_some() {
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

impl Drop for RumSender {
    /// Leaves unsent frames to the IO thread, which sends them for a while.
    fn drop(&mut self) {
        self.task.lock_state().close();
    }
}
