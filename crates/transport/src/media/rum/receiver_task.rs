//! The part of a receiving end that the IO thread attends to: credit to the sender, connecting
//! again, and liveness.
//!
//! ```text
//!   receiving end                       IO thread
//!     release --- position ----------->   reports it to the sender, a little later
//!     broken  --- position to resume ->   connects, again and again
//!             <-- connection, wakeup ---  or the reason why it has given up
//!                                         answers liveness probes
//! ```

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::liveness::LivenessListener;
use super::reconnect::{Reconnect, ReconnectLimit};
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::io_thread::{IoTask, NextTurn, Registration};
use crate::media::tcp_edge::keepalive;
use crate::media::tcp_edge::release_progress::{CreditReporter, ReleaseProgress};
use crate::media::tcp_edge::sender_address::SenderAddress;
use crate::{Error, Wakeup};

/// State that a receiving end and the IO thread share.
pub(super) struct RumReceiverTask {
    state: Mutex<RumReceiverState>,
    release_progress: ReleaseProgress,
    registration: Registration,
    wakeup: Wakeup,
    address: SenderAddress,
    reconnect_timeout: Duration,
    /// Whether there is an outcome of reconnecting.
    has_outcome: AtomicBool,
}

struct RumReceiverState {
    credit: Option<TcpStream>,
    credit_reporter: CreditReporter,
    reconnect: Option<Reconnect>,
    outcome: Option<ReconnectOutcome>,
    /// Answers probes; `None`: the receiving end is dropped, or the stream is over.
    liveness: Option<LivenessListener>,
}

/// Outcome of connecting to the sender again.
pub(super) enum ReconnectOutcome {
    /// Frames come on this connection.
    Connected(TcpStream),
    /// The sender is lost, for this reason.
    Lost(String),
}

/// Address and terms of the sender, for connecting again.
pub(super) struct SenderEndpoint {
    pub(super) address: SenderAddress,
    pub(super) reconnect_timeout: Duration,
    pub(super) ring_bytes: u64,
}

impl RumReceiverTask {
    /// Begins with a connection for credit; `None`: it is still to be made.
    pub(super) fn new(
        credit: Option<TcpStream>,
        liveness: LivenessListener,
        sender: &SenderEndpoint,
    ) -> Result<Arc<RumReceiverTask>, Error> {
        let failed = |error| Error::system("attend to a TCP edge", error);
        let registration = Registration::reserve()?;
        liveness.register(registration).map_err(failed)?;
        let task = Arc::new(RumReceiverTask {
            state: Mutex::new(RumReceiverState {
                credit,
                credit_reporter: CreditReporter::default(),
                reconnect: None,
                outcome: None,
                liveness: Some(liveness),
            }),
            release_progress: ReleaseProgress::new(registration, sender.ring_bytes / 4),
            registration,
            wakeup: Wakeup::new().map_err(failed)?,
            address: sender.address,
            reconnect_timeout: sender.reconnect_timeout,
            has_outcome: AtomicBool::new(false),
        });
        registration.add_task(task.clone());
        Ok(task)
    }

    fn lock_state(&self) -> MutexGuard<'_, RumReceiverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that everything up to a position is released.
    pub(super) fn release(&self, position: u64) {
        if self.release_progress.release(position) {
            self.report();
        }
    }

    /// Reports progress to the sender, with a position that may have been released by another
    /// rail's task.
    pub(super) fn report_position(&self, position: u64) {
        self.release_progress.set_released(position);
        self.report();
    }

    /// Whether a released position was not reported yet.
    pub(super) fn has_unreported(&self) -> bool {
        self.release_progress.has_unreported()
    }

    /// Notes the number of batches received by this rail's connection.
    pub(super) fn set_batches(&self, batches: u64) {
        self.release_progress.set_batches(batches);
    }

    /// Number of batches received by this rail and not reported yet.
    pub(super) fn unreported_batches(&self) -> u64 {
        self.release_progress.unreported_batches()
    }

    /// Reports the released position, because there is nothing to receive, unless the sender knows
    /// it.
    pub(super) fn report_if_idle(&self) {
        if self.release_progress.has_unreported() {
            self.report();
        }
    }

    /// Reports progress to the sender, if there is any.
    pub(super) fn report(&self) {
        if let RumReceiverState {
            credit: Some(credit),
            credit_reporter: reporter,
            ..
        } = &mut *self.lock_state()
        {
            self.release_progress.report(reporter, credit);
        }
    }

    /// Has the IO thread connect again, to go on at the position in the handshake.
    pub(super) fn reconnect(&self, handshake: Handshake, why: String) {
        let limit = ReconnectLimit::GiveUpAfter(self.reconnect_timeout);
        self.reconnect_within(handshake, why, limit);
    }

    /// Has the IO thread connect up to a limit, like [`RumReceiverTask::reconnect`].
    pub(super) fn reconnect_within(
        &self,
        handshake: Handshake,
        why: String,
        limit: ReconnectLimit,
    ) {
        let mut state = self.lock_state();
        // The outcome of an earlier try is not wanted any more.
        if state.outcome.take().is_some() {
            self.has_outcome.store(false, Ordering::Relaxed);
            self.wakeup.clear();
        }
        state.credit = None;
        state.reconnect = Some(Reconnect::new(self.address, handshake, why, limit));
        self.registration.request_turn();
    }

    /// Takes the outcome of reconnecting, once there is one.
    pub(super) fn take_outcome(&self) -> Option<ReconnectOutcome> {
        if !self.has_outcome.load(Ordering::Acquire) {
            return None;
        }
        self.has_outcome.store(false, Ordering::Relaxed);
        self.wakeup.clear();
        self.lock_state().outcome.take()
    }

    /// Descriptor that becomes readable when there is an outcome.
    pub(super) fn wakeup_fd(&self) -> BorrowedFd<'_> {
        self.wakeup.as_fd()
    }

    /// Notes that the receiving end is dropped or the stream is over, and says goodbye to the
    /// sender.
    pub(super) fn close(&self) {
        let mut state = self.lock_state();
        // Dropping it has the system refuse probes from now on.
        if state.liveness.take().is_none() {
            return;
        }
        state.reconnect = None;
        if let RumReceiverState {
            credit: Some(credit),
            credit_reporter: reporter,
            ..
        } = &mut *state
        {
            self.release_progress.close(reporter, credit);
        }
        self.registration.request_turn();
    }

    /// Goes on reconnecting. Returns the time of the next turn, if nothing happens before.
    fn advance_reconnect(&self, state: &mut RumReceiverState, now: Instant) -> Option<Instant> {
        let reconnect = state.reconnect.as_mut()?;
        let outcome = match reconnect.step(self.registration, now) {
            Ok(None) => return Some(reconnect.next_turn_at()),
            Ok(Some(pair)) => {
                self.release_progress.restart(&mut state.credit_reporter);
                self.release_progress
                    .report(&mut state.credit_reporter, &pair.credit);
                state.credit = Some(pair.credit);
                keepalive::set_timeout(&pair.frames, self.reconnect_timeout);
                ReconnectOutcome::Connected(pair.frames)
            }
            Err(why) => ReconnectOutcome::Lost(why),
        };
        state.reconnect = None;
        state.outcome = Some(outcome);
        self.has_outcome.store(true, Ordering::Release);
        self.wakeup.wake();
        None
    }
}

impl IoTask for RumReceiverTask {
    fn turn(&self, now: Instant) -> NextTurn {
        let mut state = self.lock_state();
        match &state.liveness {
            None => return NextTurn::Unregister,
            Some(liveness) => liveness.answer_probes(),
        }
        let connect_at = self.advance_reconnect(&mut state, now);
        let report_at = match &mut *state {
            RumReceiverState {
                credit: Some(credit),
                credit_reporter: reporter,
                ..
            } => self
                .release_progress
                .report_periodically(reporter, credit, now),
            _ => None,
        };
        NextTurn::OnEvent.or_at(connect_at).or_at(report_at)
    }
}
