//! The receivers of a sender in mode `batch`: which of them get the batch now, and which are probed
//! because their connections are broken. A batch goes out as in `rum`: see
//! [`crate::media::rum::flush_deadline`].

use std::sync::atomic::Ordering;
use std::time::Instant;

use fabric::RdmaNode;

use super::batch_pacing::BatchPacing;
use super::write_target::{TargetState, WRITES_ON_WAY_MAX};
use super::write_targets::{Committed, WriteTargets};
use crate::Error;
use crate::media::rum::flush_deadline::{FlushScope, PendingFlush};

impl<N: RdmaNode> WriteTargets<N> {
    /// Lets everything before a position be posted, and posts nothing. Returns whether the batch
    /// has to be looked at now, since the IO thread watches no batch.
    pub(super) fn extend(&mut self, committed: Committed) -> bool {
        self.note_commit(committed);
        let is_watched = |pacing: &BatchPacing| pacing.watchdog.is_on();
        !self.pacing.as_ref().is_some_and(is_watched)
    }

    /// Whether the IO thread has to come for a batch, since the last call.
    pub(super) fn takes_turn(&mut self) -> bool {
        let pacing = self.pacing.as_mut();
        pacing.is_some_and(|pacing| std::mem::take(&mut pacing.needs_turn))
    }

    /// Posts a full batch of a thread that is likely to go on. Returns the time after it.
    pub(super) fn post_full_batch(&mut self) -> Instant {
        if self.is_near_limit() {
            // The next claim or flush reports an error, if there is one.
            let _ = self.poll_node();
        }
        self.post_scope(FlushScope::All);
        let Some(pacing) = &mut self.pacing else {
            return Instant::now();
        };
        let now = pacing.now();
        pacing.deadline.restart_after_full(now);
        pacing.request_flush();
        now
    }

    /// A look of the sending thread at a batch that is not full. `None`: all is posted that can be.
    pub(super) fn look_at_batch(&mut self) -> Option<PendingFlush> {
        let pacing = self.pacing.as_mut()?;
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
            let _ = self.poll_node();
            self.post_scope(scope);
        }
        let is_blocked = self.receivers.iter().any(|target| target.is_blocked);
        let pacing = self.pacing.as_mut()?;
        pacing.deadline.settle_after(now);
        if pacing.deadline.opened_at().is_some() || is_blocked {
            pacing.request_flush();
        }
        pacing.deadline.pending(now)
    }

    /// Posts batches that are due, and gives up receivers that are gone: at each turn of the IO
    /// thread, and whenever the sending thread makes progress.
    pub(super) fn pace(&mut self) {
        let Some(pacing) = &mut self.pacing else {
            return;
        };
        let (now, end) = (pacing.now(), self.committed.end);
        let has_frames =
            (self.receivers.iter()).any(|target| target.is_connected() && target.posted < end);
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
    pub(super) fn next_batch_at(&mut self, now: Instant) -> Option<Instant> {
        let end = self.committed.end;
        let is_waiting = self.receivers.iter().any(|target| target.is_waiting(end));
        let has_idle =
            (self.receivers.iter()).any(|target| target.is_waiting(end) && target.is_idle());
        let pacing = self.pacing.as_mut()?;
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
    pub(super) fn post_scope(&mut self, scope: FlushScope) -> bool {
        let end = self.committed.end;
        let (mut is_out, mut is_waiting, mut writes) = (true, false, 0);
        for at in 0..self.receivers.len() {
            let target = &self.receivers[at];
            let is_chosen = match scope {
                FlushScope::Blocked => false,
                FlushScope::Idle => target.is_idle(),
                FlushScope::Lone => target.released >= target.last_from,
                FlushScope::All => true,
            };
            if is_chosen || target.is_blocked {
                writes += self.post_to(at);
            }
            let target = &self.receivers[at];
            let is_posted = target.is_connected() && target.posted == end;
            is_out &= is_posted || target.state == TargetState::Lost;
            is_waiting |= target.is_waiting(end);
        }
        if let Some(pacing) = &mut self.pacing {
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

    /// Whether many writes to a receiver wait for their completions.
    fn is_near_limit(&self) -> bool {
        let many = WRITES_ON_WAY_MAX / 4;
        self.receivers
            .iter()
            .any(|target| target.on_way.len() >= many)
    }

    /// Takes completions and credit.
    fn poll_node(&mut self) -> Result<(), Error> {
        self.take_completions()?;
        self.read_credit();
        Ok(())
    }

    /// Gives up receivers that were disconnected for too long, or are gone.
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
