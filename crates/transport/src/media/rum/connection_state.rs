//! The place of a receiver at its sender: awaited, connected, away, or gone.
//!
//! ```text
//!   Awaited --connects--> Up --its connection breaks--> Down --too long, or dead--> Gone
//!                         ^  \                           |                            ^
//!                         |   --------- leaves ----------|----------------------------+
//!                         +-------- connects again ------+
//! ```

use std::time::{Duration, Instant};

use super::batch_sender::BatchSender;
use super::liveness::LivenessProbe;
use super::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::io_thread::Registration;

/// A receiver's.
pub(super) enum RumConnectionState {
    /// It has not connected.
    Awaited,
    Connected(Box<BatchSender>),
    /// Its connection broke, and it may come back.
    Disconnected(Box<DisconnectedReceiver>),
    /// It is gone: why.
    Gone(String),
}

/// A receiver that is away.
pub(super) struct DisconnectedReceiver {
    peer: ReceiverIdentity,
    /// What it may want next lies between.
    pub(super) released: u64,
    sent: u64,
    /// How its connection ended.
    loss_reason: String,
    probe: LivenessProbe,
}

impl RumConnectionState {
    /// Whether nobody will come here any more.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, RumConnectionState::Gone(_))
    }

    /// How far its receiver has released; `None`: nobody is waited for.
    pub(super) fn released(&self) -> Option<u64> {
        match self {
            RumConnectionState::Awaited => Some(0),
            RumConnectionState::Connected(outlet) => Some(outlet.connection.released()),
            RumConnectionState::Disconnected(down) => Some(down.released),
            RumConnectionState::Gone(_) => None,
        }
    }

    /// Where a receiver that connects goes on.
    ///
    /// # Errors
    /// It cannot: why.
    pub(super) fn resume_position(&self, handshake: &Handshake) -> Result<u64, String> {
        let (number, position) = (handshake.receiver, handshake.position);
        let (instance, released, sent) = match self {
            RumConnectionState::Awaited => (handshake.instance, 0, 0),
            RumConnectionState::Connected(outlet) => (
                outlet.peer.instance,
                outlet.connection.released(),
                outlet.cursor(),
            ),
            RumConnectionState::Disconnected(down) => {
                (down.peer.instance, down.released, down.sent)
            }
            RumConnectionState::Gone(why) => {
                return Err(format!("receiver {number} is gone: {why}"));
            }
        };
        if instance != handshake.instance {
            return Err(format!("receiver {number} has connected already"));
        }
        if !(released..=sent).contains(&position) {
            return Err(format!(
                "receiver {number} wants to go on from position {position}; \
                 {released} to {sent} are kept"
            ));
        }
        Ok(position)
    }
}

impl DisconnectedReceiver {
    /// Its connection has ended: how.
    pub(super) fn new(outlet: &BatchSender, why: String) -> DisconnectedReceiver {
        DisconnectedReceiver {
            peer: outlet.peer,
            released: outlet.connection.released(),
            sent: outlet.cursor(),
            loss_reason: why,
            probe: LivenessProbe::new(
                outlet.peer.liveness_address,
                outlet.peer.instance,
                Instant::now(),
            ),
        }
    }

    /// Looks whether it is alive. Why it is gone, if it is.
    pub(super) fn check_gone(
        &mut self,
        registration: Registration,
        patience: Duration,
        now: Instant,
    ) -> Option<String> {
        let (why, address) = (&self.loss_reason, self.peer.address);
        if !self.probe.step(registration, now) {
            return Some(format!("{why}, and nobody lives at {address} any more"));
        }
        let is_over = self.probe.last_alive_at() + patience <= now;
        is_over.then(|| format!("{why}, and {address} has not connected again for {patience:?}"))
    }

    /// When to look again.
    pub(super) fn next_check_at(&self, patience: Duration) -> Instant {
        let until = self.probe.last_alive_at() + patience;
        self.probe
            .next_attempt_at()
            .map_or(until, |next| next.min(until))
    }
}
