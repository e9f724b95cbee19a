//! The receivers of a sender whose frames wait for their batch: which of them get the batch now,
//! and which are probed because their connections are broken. A batch goes out as in `rum`: see
//! [`crate::media::rum::flush_deadline`].

use std::sync::atomic::Ordering;
use std::time::Instant;

use fabric::RdmaNode;

use super::batch_pacing::BatchPacing;
use super::mode::ModeTargets;
use super::write_target::{TargetState, WRITES_ON_WAY_MAX};
use super::write_targets::{Committed, WriteTargets};
use crate::Error;
use crate::media::rum::flush_deadline::{FlushScope, PendingFlush};

/// A receiver, as far as batches are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchReceiver {
    /// Whether the receiver is not lost.
    pub(super) is_living: bool,
    /// Whether frames can be posted to it.
    pub(super) is_connected: bool,
    /// Whether it was posted all that is committed.
    pub(super) has_all: bool,
    /// Whether there was no room for the last write to it.
    pub(super) is_blocked: bool,
    /// Whether it has released all that it was sent.
    pub(super) is_idle: bool,
    /// Whether it has released all but the last batch.
    pub(super) is_nearly_idle: bool,
}

impl BatchReceiver {
    /// Whether there is something to post, and there was room for the last write.
    fn is_waiting(&self) -> bool {
        self.is_connected && !self.has_all && !self.is_blocked
    }
}

/// The receivers of a sender whose frames may wait for their batch.
pub(super) trait BatchTargets: ModeTargets {
    /// When batches go out; `None`: frames wait for no batch.
    fn pacing(&mut self) -> Option<&mut BatchPacing>;

    /// Number of receivers, the lost ones too.
    fn receiver_count(&self) -> usize;

    /// The receiver with a number.
    fn batch_receiver(&self, at: usize) -> BatchReceiver;

    /// Lets everything before a position be posted.
    fn note_commit(&mut self, committed: Committed);

    /// Posts what is committed to a receiver, if it is connected. Returns the number of writes.
    fn post_to(&mut self, at: usize) -> u64;

    /// Takes completions and credit.
    ///
    /// # Errors
    /// The provider has failed.
    fn poll_providers(&mut self) -> Result<(), Error>;

    /// Whether many writes to a receiver wait for their completions.
    fn is_near_limit(&self) -> bool;

    /// Gives up receivers that were disconnected for too long, or are gone.
    fn check_disconnected(&mut self, now: Instant);

    /// Lets everything before a position be posted, and posts nothing. Returns whether the batch
    /// has to be looked at now, since the IO thread watches no batch.
    fn extend(&mut self, committed: Committed) -> bool {
        self.note_commit(committed);
        !self.pacing().is_some_and(|pacing| pacing.watchdog.is_on())
    }

    /// Whether the IO thread has to come for a batch, since the last call.
    fn takes_turn(&mut self) -> bool {
        let pacing = self.pacing();
        pacing.is_some_and(|pacing| std::mem::take(&mut pacing.needs_turn))
    }

    /// Posts a full batch of a thread that is likely to go on. Returns the time after it.
    fn post_full_batch(&mut self) -> Instant {
        if self.is_near_limit() {
            // The next claim or flush reports an error, if there is one.
            let _ = self.poll_providers();
        }
        self.post_scope(FlushScope::All);
        let Some(pacing) = self.pacing() else {
            return Instant::now();
        };
        let now = pacing.now();
        pacing.deadline.restart_after_full(now);
        pacing.request_flush();
        now
    }

    /// A look of the sending thread at a batch that is not full. `None`: all is posted that can be.
    fn look_at_batch(&mut self) -> Option<PendingFlush> {
        let pacing = self.pacing()?;
        let now = pacing.now();
        let scope = match pacing.deadline.scope_for_sender(now) {
            Ok(scope) => scope,
            Err(left) => {
                pacing.request_flush();
                return Some(left);
            }
        };
        let is_out = scope != FlushScope::Idle && self.post_scope(scope);
        if !is_out {
            let _ = self.poll_providers();
            self.post_scope(scope);
        }
        let is_blocked = self.batch_receivers().any(|target| target.is_blocked);
        let pacing = self.pacing()?;
        pacing.deadline.settle_after(now);
        if pacing.deadline.opened_at().is_some() || is_blocked {
            pacing.request_flush();
        }
        pacing.deadline.pending(now)
    }

    /// Posts batches that are due, and gives up receivers that are gone: at each turn of the IO
    /// thread, and whenever the sending thread makes progress.
    fn pace(&mut self) {
        let Some(now) = self.pacing().map(|pacing| pacing.now()) else {
            return;
        };
        let mut receivers = self.batch_receivers();
        let has_frames = receivers.any(|target| target.is_connected && !target.has_all);
        drop(receivers);
        let Some(pacing) = self.pacing() else {
            return;
        };
        if has_frames {
            let is_prompt = pacing.watchdog.is_prompt();
            let scope = pacing.deadline.scope_for_io_thread(now, is_prompt);
            pacing.watchdog.note_flush(scope == FlushScope::All);
            self.post_scope(scope);
        } else {
            pacing.deadline.close_batch();
        }
        self.check_disconnected(now);
    }

    /// Time at which the IO thread must come back for a batch.
    fn next_batch_at(&mut self, now: Instant) -> Option<Instant> {
        let is_waiting = self.batch_receivers().any(|target| target.is_waiting());
        let mut receivers = self.batch_receivers();
        let has_idle = receivers.any(|target| target.is_waiting() && target.is_idle);
        drop(receivers);
        let pacing = self.pacing()?;
        let opened = pacing.deadline.opened_at().filter(|_| is_waiting);
        let next = pacing.watchdog.next_check(opened, now);
        if next.is_none() && pacing.watchdog.is_on() {
            pacing.watchdog.turn_off();
        }
        let is_early = pacing.watchdog.is_prompt() && has_idle;
        let early = is_early.then(|| pacing.deadline.settled_at());
        next.into_iter().chain(early).min()
    }

    /// Posts to these receivers. Returns whether all living receivers were posted everything.
    fn post_scope(&mut self, scope: FlushScope) -> bool {
        let (mut is_out, mut is_waiting, mut writes) = (true, false, 0);
        for at in 0..self.receiver_count() {
            let target = self.batch_receiver(at);
            let is_chosen = match scope {
                FlushScope::Blocked => false,
                FlushScope::Idle => target.is_idle,
                FlushScope::Lone => target.is_nearly_idle,
                FlushScope::All => true,
            };
            if is_chosen || target.is_blocked {
                writes += self.post_to(at);
            }
            let target = self.batch_receiver(at);
            is_out &= target.is_connected && target.has_all || !target.is_living;
            is_waiting |= target.is_waiting();
        }
        if let Some(pacing) = self.pacing() {
            if writes > 0 {
                pacing.deadline.note_sent(pacing.now());
                let batches = &pacing.counters.batches;
                batches.fetch_add(writes, Ordering::Relaxed);
            }
            if !is_waiting {
                pacing.deadline.close_batch();
            }
        }
        is_out
    }

    /// The receivers, the lost ones too.
    fn batch_receivers(&self) -> impl Iterator<Item = BatchReceiver> + '_ {
        (0..self.receiver_count()).map(|at| self.batch_receiver(at))
    }
}

impl<N: RdmaNode> BatchTargets for WriteTargets<N> {
    fn pacing(&mut self) -> Option<&mut BatchPacing> {
        self.pacing.as_mut()
    }

    fn receiver_count(&self) -> usize {
        self.receivers.len()
    }

    fn batch_receiver(&self, at: usize) -> BatchReceiver {
        let target = &self.receivers[at];
        BatchReceiver {
            is_living: target.state != TargetState::Lost,
            is_connected: target.is_connected(),
            has_all: target.posted == self.committed.end,
            is_blocked: target.is_blocked,
            is_idle: target.is_idle(),
            is_nearly_idle: target.released >= target.last_from,
        }
    }

    fn note_commit(&mut self, committed: Committed) {
        self.committed = committed;
        self.was_flushed = std::mem::take(&mut self.is_flushed);
    }

    fn post_to(&mut self, at: usize) -> u64 {
        self.post_to_receiver(at)
    }

    fn is_near_limit(&self) -> bool {
        let many = WRITES_ON_WAY_MAX / 4;
        self.receivers
            .iter()
            .any(|target| target.on_way.len() >= many)
    }

    fn poll_providers(&mut self) -> Result<(), Error> {
        self.take_completions()?;
        self.read_credit();
        Ok(())
    }

    fn check_disconnected(&mut self, now: Instant) {
        let Some(pacing) = &self.pacing else {
            return;
        };
        let (registration, timeout) = (pacing.registration, pacing.reconnect_timeout);
        for at in 0..self.receivers.len() {
            let disconnected = self.receivers[at].disconnected.as_mut();
            let gone = disconnected.and_then(|peer| peer.check_gone(registration, timeout, now));
            if let Some(why) = gone {
                self.lose(at, why);
            }
        }
    }
}
