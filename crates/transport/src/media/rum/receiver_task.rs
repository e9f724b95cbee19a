//! What goes on behind a receiving end: credit to the sender, and connecting again.
//!
//! ```text
//!   receiving end                       pump
//!     release --- position ----------->   tells the sender, in a while
//!     broken  --- where to go on ----->   dials, again and again
//!             <-- new connection, bell-   or word that there is no hope
//!                                         answers whoever knocks at the lifeline
//! ```

use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::liveness::LivenessListener;
use super::reconnect::Reconnect;
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::io_thread::{IoTask, NextTurn, Registration};
use crate::media::tcp_edge::keepalive;
use crate::media::tcp_edge::release_progress::{CreditReporter, ReleaseProgress};
use crate::{Error, Wakeup};

/// Shared between a receiving end and the pump.
pub(super) struct RumReceiverTask {
    state: Mutex<RumReceiverState>,
    release_progress: ReleaseProgress,
    registration: Registration,
    wakeup: Wakeup,
    address: SocketAddr,
    reconnect_timeout: Duration,
    /// There is an outcome of dialling.
    has_outcome: AtomicBool,
}

struct RumReceiverState {
    credit: Option<TcpStream>,
    credit_reporter: CreditReporter,
    reconnect: Option<Reconnect>,
    outcome: Option<ReconnectOutcome>,
    /// `None`: the receiving end is dropped, or the stream is over.
    liveness: Option<LivenessListener>,
}

/// What came of dialling.
pub(super) enum ReconnectOutcome {
    /// Frames come on this connection.
    Connected(TcpStream),
    /// There is no hope: why.
    Lost(String),
}

/// The sender, as it has to be known to connect again.
pub(super) struct SenderEndpoint {
    pub(super) address: SocketAddr,
    pub(super) reconnect_timeout: Duration,
    pub(super) ring_bytes: u64,
}

impl RumReceiverTask {
    pub(super) fn new(
        credit: TcpStream,
        lifeline: LivenessListener,
        sender: &SenderEndpoint,
    ) -> Result<Arc<RumReceiverTask>, Error> {
        let failed = |error| Error::system("attend to a TCP edge", error);
        let registration = Registration::reserve()?;
        lifeline.register(registration).map_err(failed)?;
        let task = Arc::new(RumReceiverTask {
            state: Mutex::new(RumReceiverState {
                credit: Some(credit),
                credit_reporter: CreditReporter::default(),
                reconnect: None,
                outcome: None,
                liveness: Some(lifeline),
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

    /// Everything up to a position is released.
    pub(super) fn release(&self, position: u64) {
        if self.release_progress.release(position) {
            self.report();
        }
    }

    /// Whether the sender was told less than there is to tell.
    pub(super) fn has_unreported(&self) -> bool {
        self.release_progress.has_unreported()
    }

    /// There is nothing to receive: the sender is told so, if it does not know.
    pub(super) fn report_if_idle(&self) {
        if self.release_progress.has_unreported() {
            self.report();
        }
    }

    fn report(&self) {
        if let RumReceiverState {
            credit: Some(credit),
            credit_reporter: telling,
            ..
        } = &mut *self.lock_state()
        {
            self.release_progress.report(telling, credit);
        }
    }

    /// The connection broke: connects again, to go on where the hello says.
    pub(super) fn reconnect(&self, handshake: Handshake, why: String) {
        let mut state = self.lock_state();
        state.credit = None;
        state.reconnect = Some(Reconnect::new(
            self.address,
            handshake,
            why,
            self.reconnect_timeout,
        ));
        self.registration.request_turn();
    }

    /// What came of dialling, once something has.
    pub(super) fn take_outcome(&self) -> Option<ReconnectOutcome> {
        if !self.has_outcome.load(Ordering::Acquire) {
            return None;
        }
        self.has_outcome.store(false, Ordering::Relaxed);
        self.wakeup.clear();
        self.lock_state().outcome.take()
    }

    /// What rings when there is an outcome.
    pub(super) fn wakeup_fd(&self) -> BorrowedFd<'_> {
        self.wakeup.as_fd()
    }

    /// The receiving end is dropped, or the stream is over.
    pub(super) fn close(&self) {
        let mut state = self.lock_state();
        // Dropped: who knocks from now on is told by the system.
        if state.liveness.take().is_none() {
            return;
        }
        state.reconnect = None;
        if let RumReceiverState {
            credit: Some(credit),
            credit_reporter: telling,
            ..
        } = &mut *state
        {
            self.release_progress.close(telling, credit);
        }
        self.registration.request_turn();
    }

    /// Dials on. When to come back, if nothing happens before.
    fn advance_reconnect(&self, state: &mut RumReceiverState, now: Instant) -> Option<Instant> {
        let redial = state.reconnect.as_mut()?;
        let outcome = match redial.step(self.registration, now) {
            Ok(None) => return Some(redial.next_turn_at()),
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
            Some(lifeline) => lifeline.answer_probes(),
        }
        let dial = self.advance_reconnect(&mut state, now);
        let tell = match &mut *state {
            RumReceiverState {
                credit: Some(credit),
                credit_reporter: telling,
                ..
            } => self
                .release_progress
                .report_periodically(telling, credit, now),
            _ => None,
        };
        NextTurn::OnEvent.or_at(dial).or_at(tell)
    }
}
