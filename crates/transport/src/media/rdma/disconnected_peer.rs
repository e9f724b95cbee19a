//! A receiver whose connection is broken, as its sender sees it: whether it is gone for good is
//! decided as in `rum`, by probes ([`crate::media::rum::liveness`]) and a limit of time.

use std::time::{Duration, Instant};

use super::introduction::Introduction;
use crate::media::rum::liveness::LivenessProbe;
use crate::media::tcp_edge::io_thread::Registration;

/// A receiver whose connection is broken.
pub(super) struct DisconnectedPeer {
    /// How the connection has ended.
    why: String,
    probe: LivenessProbe,
    has_address: bool,
}

impl DisconnectedPeer {
    /// A receiver whose connection has just ended; `None`: it had not introduced itself.
    pub(super) fn new(
        why: String,
        introduction: Option<Introduction>,
        now: Instant,
    ) -> DisconnectedPeer {
        let address = introduction.and_then(|introduction| introduction.liveness);
        let instance = introduction.map_or(0, |introduction| introduction.instance);
        DisconnectedPeer {
            why,
            probe: LivenessProbe::new(address, instance, now),
            has_address: address.is_some(),
        }
    }

    /// Probes whether the receiver is alive. Returns the reason if it is gone.
    pub(super) fn check_gone(
        &mut self,
        registration: Option<Registration>,
        timeout: Duration,
        now: Instant,
    ) -> Option<String> {
        let why = &self.why;
        if let Some(registration) = registration.filter(|_| self.has_address)
            && !self.probe.step(registration, now)
        {
            return Some(format!("{why}, and nobody answers for it any more"));
        }
        let is_over = self.probe.last_alive_at() + timeout <= now;
        is_over.then(|| format!("{why}, and it has not connected again for {timeout:?}"))
    }
}
