//! A receiver without a connection, as its sender sees it: whether it is gone for good is decided
//! as in `rum`, by probes on each of its rails ([`crate::media::rum::liveness`]) and a limit of
//! time.

use std::time::{Duration, Instant};

use super::introduction::Introduction;
use crate::media::rum::liveness::LivenessProbe;
use crate::media::tcp_edge::io_thread::Registration;

/// A receiver whose only or last connection has broken.
pub(super) struct DisconnectedPeer {
    /// How the last connection has ended.
    why: String,
    /// Probes, one for each rail with an address; those are left out that have found it gone.
    probes: Vec<LivenessProbe>,
    /// Whether there was an address to probe.
    has_address: bool,
    last_alive_at: Instant,
}

impl DisconnectedPeer {
    /// A receiver whose last connection has just ended, as it introduced itself on its rails, if it
    /// did.
    pub(super) fn new(
        why: String,
        introductions: impl IntoIterator<Item = Introduction>,
        now: Instant,
    ) -> DisconnectedPeer {
        let probe = |known: Introduction| {
            let address = known.liveness?;
            Some(LivenessProbe::new(Some(address), known.instance, now))
        };
        let probes: Vec<_> = introductions.into_iter().filter_map(probe).collect();
        DisconnectedPeer {
            why,
            has_address: !probes.is_empty(),
            probes,
            last_alive_at: now,
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
        if let Some(registration) = registration {
            let probes = &mut self.probes;
            probes.retain_mut(|probe| probe.step(registration, now));
            if self.has_address && self.probes.is_empty() {
                return Some(format!("{why}, and nobody answers for it any more"));
            }
        }
        let alive = self.probes.iter().map(LivenessProbe::last_alive_at);
        self.last_alive_at = alive.fold(self.last_alive_at, Instant::max);
        let is_over = self.last_alive_at + timeout <= now;
        is_over.then(|| format!("{why}, and it has not connected again for {timeout:?}"))
    }
}
