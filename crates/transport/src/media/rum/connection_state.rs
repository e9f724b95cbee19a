//! State of a receiver at its sender: awaited, connected, disconnected or gone.
//!
//! ```text
//!   Awaited --connects--> Connected --breaks--> Disconnected --too long, or dead--> Gone
//!                           ^   \                    |                               ^
//!                           |    ------- leaves -----|-------------------------------+
//!                           +---- connects again ----+
//! ```

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::connected_receiver::ConnectedReceiver;
use super::liveness::LivenessProbe;
use super::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::handshake::{FramingProtocol, Handshake};
use crate::media::tcp_edge::io_thread::Registration;

/// State of one receiver.
pub(super) enum RumConnectionState {
    /// The receiver has not connected yet.
    Awaited,
    Connected(ConnectedReceiver),
    /// The receiver's last connection broke, and it may come back.
    Disconnected(Box<DisconnectedReceiver>),
    /// The receiver is gone, for this reason.
    Gone(String),
}

/// A receiver whose connection broke.
pub(super) struct DisconnectedReceiver {
    /// Address of the connection that broke last, or of any rail.
    address: SocketAddr,
    instance: u64,
    /// Position that the receiver had released: it may go on from here up to `sent`.
    pub(super) released: u64,
    sent: u64,
    /// How the connection has ended.
    loss_reason: String,
    /// Probes of the receiver, one for each rail; those are left out that have found it gone.
    probes: Vec<LivenessProbe>,
    /// Time at which the receiver was last known to be alive.
    last_alive_at: Instant,
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
            RumConnectionState::Connected(connected) => Some(connected.released()),
            RumConnectionState::Disconnected(disconnected) => Some(disconnected.released),
            RumConnectionState::Gone(_) => None,
        }
    }

    /// Position up to which the receiver may have received.
    pub(super) fn sent(&self) -> u64 {
        match self {
            RumConnectionState::Awaited | RumConnectionState::Gone(_) => 0,
            RumConnectionState::Connected(connected) => connected.cursor(),
            RumConnectionState::Disconnected(disconnected) => disconnected.sent,
        }
    }

    /// Position at which a receiver that connects goes on.
    ///
    /// # Errors
    /// The reason why it is refused.
    pub(super) fn resume_position(&self, handshake: &Handshake) -> Result<u64, String> {
        let (number, position) = (handshake.receiver, handshake.position);
        let (sent, released) = (self.sent(), self.released().unwrap_or_default());
        let instance = match self {
            RumConnectionState::Awaited => handshake.instance,
            RumConnectionState::Connected(connected) => connected.peer().instance,
            RumConnectionState::Disconnected(disconnected) => disconnected.instance,
            RumConnectionState::Gone(why) => {
                return Err(format!("receiver {number} is gone: {why}"));
            }
        };
        if instance != handshake.instance {
            return Err(format!("receiver {number} has connected already"));
        }
        // A rail may have tried to connect since long: the others have brought more meanwhile.
        let position = match handshake.protocol {
            FramingProtocol::RumRails | FramingProtocol::TcpRails => position.max(released),
            FramingProtocol::Rum | FramingProtocol::Tcp => position,
        };
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
    /// A receiver whose last connection has just ended for this reason.
    pub(super) fn new(connected: &ConnectedReceiver, why: String) -> DisconnectedReceiver {
        let (peer, now) = (connected.peer(), Instant::now());
        let probe =
            |peer: ReceiverIdentity| LivenessProbe::new(peer.liveness_address, peer.instance, now);
        DisconnectedReceiver {
            address: peer.address,
            instance: peer.instance,
            released: connected.released(),
            sent: connected.cursor(),
            loss_reason: why,
            probes: connected.peers().map(probe).collect(),
            last_alive_at: now,
        }
    }

    /// Probes whether the receiver is alive. Returns the reason if it is gone.
    pub(super) fn check_gone(
        &mut self,
        registration: Registration,
        reconnect_timeout: Duration,
        now: Instant,
    ) -> Option<String> {
        let (why, address) = (&self.loss_reason, self.address);
        self.probes
            .retain_mut(|probe| probe.step(registration, now));
        if self.probes.is_empty() {
            return Some(format!("{why}, and nobody lives at {address} any more"));
        }
        let alive = self.probes.iter().map(LivenessProbe::last_alive_at);
        self.last_alive_at = alive.fold(self.last_alive_at, Instant::max);
        let is_over = self.last_alive_at + reconnect_timeout <= now;
        is_over.then(|| {
            format!("{why}, and {address} has not connected again for {reconnect_timeout:?}")
        })
    }

    /// Time of the next probe, or of giving up.
    pub(super) fn next_check_at(&self, reconnect_timeout: Duration) -> Instant {
        let probes = self
            .probes
            .iter()
            .filter_map(LivenessProbe::next_attempt_at);
        let until = self.last_alive_at + reconnect_timeout;
        probes.fold(until, Instant::min)
    }
}
