//! State of a receiver at its sender: awaited, connected, disconnected or gone.
//!
//! ```text
//!   Awaited --connects--> Connected --breaks--> Disconnected --too long, or dead--> Gone
//!                           ^   \                    |                               ^
//!                           |    ------- leaves -----|-------------------------------+
//!                           +---- connects again ----+
//! ```

use std::time::{Duration, Instant};

use super::batch_sender::BatchSender;
use super::liveness::LivenessProbe;
use super::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::io_thread::Registration;

/// State of one receiver.
pub(super) enum RumConnectionState {
    /// The receiver has not connected yet.
    Awaited,
    Connected(Box<BatchSender>),
    /// The receiver's connection broke, and it may come back.
    Disconnected(Box<DisconnectedReceiver>),
    /// The receiver is gone, for this reason.
    Gone(String),
}

/// A receiver whose connection broke.
pub(super) struct DisconnectedReceiver {
    peer: ReceiverIdentity,
    /// Position that the receiver had released: it may go on from here up to `sent`.
    pub(super) released: u64,
    sent: u64,
    /// How the connection has ended.
    loss_reason: String,
    probe: LivenessProbe,
}

impl RumConnectionState {
    /// Whether the receiver is gone for good.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, RumConnectionState::Gone(_))
    }

    /// Position that the receiver has released; `None`: it is gone and not waited for.
    pub(super) fn released(&self) -> Option<u64> {
        match self {
            RumConnectionState::Awaited => Some(0),
            RumConnectionState::Connected(batch_sender) => Some(batch_sender.connection.released()),
            RumConnectionState::Disconnected(disconnected) => Some(disconnected.released),
            RumConnectionState::Gone(_) => None,
        }
    }

    /// Position at which a receiver that connects goes on.
    ///
    /// # Errors
    /// The reason why it is refused.
    pub(super) fn resume_position(&self, handshake: &Handshake) -> Result<u64, String> {
        let (number, position) = (handshake.receiver, handshake.position);
        let (instance, released, sent) = match self {
            RumConnectionState::Awaited => (handshake.instance, 0, 0),
            RumConnectionState::Connected(batch_sender) => (
                batch_sender.peer.instance,
                batch_sender.connection.released(),
                batch_sender.cursor(),
            ),
            RumConnectionState::Disconnected(disconnected) => (
                disconnected.peer.instance,
                disconnected.released,
                disconnected.sent,
            ),
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
    /// A receiver whose connection has just ended for this reason.
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

    /// Probes whether the receiver is alive. Returns the reason if it is gone.
    pub(super) fn check_gone(
        &mut self,
        registration: Registration,
        reconnect_timeout: Duration,
        now: Instant,
    ) -> Option<String> {
        let (why, address) = (&self.loss_reason, self.peer.address);
        if !self.probe.step(registration, now) {
            return Some(format!("{why}, and nobody lives at {address} any more"));
        }
        let is_over = self.probe.last_alive_at() + reconnect_timeout <= now;
        is_over.then(|| {
            format!("{why}, and {address} has not connected again for {reconnect_timeout:?}")
        })
    }

    /// Time of the next probe, or of giving up.
    pub(super) fn next_check_at(&self, reconnect_timeout: Duration) -> Instant {
        let until = self.probe.last_alive_at() + reconnect_timeout;
        self.probe
            .next_attempt_at()
            .map_or(until, |next| next.min(until))
    }
}
