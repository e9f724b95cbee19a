//! Task of the IO thread for an end in mode `batch`: it answers the probes of the other side,
//! however busy the end's thread is ([`crate::media::rum::liveness`]). For a receiver whose
//! connection is broken, it probes the sender too, and wakes the receiver when the sender is gone
//! or a connection is to be tried again.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::media::rum::liveness::{LivenessListener, LivenessProbe};
use crate::media::tcp_edge::io_thread::{IoTask, NextTurn, Registration};
use crate::{Error, Wakeup};

/// Where an end answers probes, and with which number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LivenessAddress {
    pub(super) address: SocketAddr,
    pub(super) instance: u64,
}

/// The IO thread's part of an end.
pub(super) struct PeerWatch {
    registration: Registration,
    wakeup: Wakeup,
    /// Where this end answers.
    own: LivenessAddress,
    /// Whether the other side was found to be gone.
    is_peer_gone: AtomicBool,
    state: Mutex<WatchState>,
}

/// A watch that answers no probe any more when it is dropped.
pub(super) struct WatchGuard(pub(super) Arc<PeerWatch>);

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

struct WatchState {
    /// Answers probes; `None`: the end is dropped, or its stream is over.
    liveness: Option<LivenessListener>,
    /// Probes the other side, while the connection is broken.
    probe: Option<LivenessProbe>,
    /// Time at which the end is to be woken.
    wake_at: Option<Instant>,
}

impl PeerWatch {
    /// Listens for probes of a receiving end, where its sender is reached.
    ///
    /// # Errors
    /// The system has no port or descriptor left.
    pub(super) fn of_receiver(sender: SocketAddr, instance: u64) -> Result<Arc<PeerWatch>, Error> {
        let liveness = LivenessListener::bind_facing(sender, instance);
        PeerWatch::start(liveness.map_err(no_listener)?, instance)
    }

    /// Listens for probes of a sending end, on an address of this host.
    ///
    /// # Errors
    /// The system has no port or descriptor left.
    pub(super) fn of_sender(at: IpAddr, instance: u64) -> Result<Arc<PeerWatch>, Error> {
        let liveness = LivenessListener::bind_at(at, instance);
        PeerWatch::start(liveness.map_err(no_listener)?, instance)
    }

    fn start(liveness: LivenessListener, instance: u64) -> Result<Arc<PeerWatch>, Error> {
        let registration = Registration::reserve()?;
        liveness.register(registration).map_err(no_listener)?;
        let own = LivenessAddress {
            address: liveness.address(),
            instance,
        };
        let watch = Arc::new(PeerWatch {
            registration,
            wakeup: Wakeup::new().map_err(no_listener)?,
            own,
            is_peer_gone: AtomicBool::new(false),
            state: Mutex::new(WatchState {
                liveness: Some(liveness),
                probe: None,
                wake_at: None,
            }),
        });
        registration.add_task(watch.clone());
        Ok(watch)
    }

    /// Where this end answers probes.
    pub(super) fn own(&self) -> LivenessAddress {
        self.own
    }

    /// Begins to probe the other side, whose connection has just broken.
    pub(super) fn begin_probes(&self, peer: LivenessAddress, now: Instant) {
        let probe = LivenessProbe::new(Some(peer.address), peer.instance, now);
        self.lock().probe = Some(probe);
        self.registration.request_turn();
    }

    /// Whether a probe has found that the other side is gone.
    pub(super) fn is_peer_gone(&self) -> bool {
        self.is_peer_gone.load(Ordering::Acquire)
    }

    /// Has the end woken at a time, and at no earlier one.
    pub(super) fn wake_at(&self, at: Instant) {
        self.wakeup.clear();
        self.lock().wake_at = Some(at);
        self.registration.request_turn();
    }

    /// Takes back that the end is to be woken, and ends the probes: the other side is there.
    pub(super) fn let_sleep(&self) {
        let mut state = self.lock();
        (state.wake_at, state.probe) = (None, None);
        self.is_peer_gone.store(false, Ordering::Release);
        drop(state);
        self.wakeup.clear();
    }

    /// Descriptor that becomes readable when the end is woken.
    pub(super) fn wakeup_fd(&self) -> BorrowedFd<'_> {
        self.wakeup.as_fd()
    }

    /// Answers no probe any more: the system refuses them, so the other side knows.
    pub(super) fn close(&self) {
        if self.lock().liveness.take().is_some() {
            self.registration.request_turn();
        }
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_listener(error: std::io::Error) -> Error {
    Error::system("listen for probes of the other side of an edge", error)
}

impl IoTask for PeerWatch {
    fn turn(&self, now: Instant) -> NextTurn {
        let mut state = self.lock();
        match &state.liveness {
            None => return NextTurn::Unregister,
            Some(liveness) => liveness.answer_probes(),
        }
        let probe = state.probe.as_mut();
        let is_gone = probe.is_some_and(|probe| !probe.step(self.registration, now));
        if is_gone {
            state.probe = None;
            self.is_peer_gone.store(true, Ordering::Release);
        }
        if is_gone || state.wake_at.is_some_and(|at| at <= now) {
            state.wake_at = None;
            self.wakeup.wake();
        }
        let probe_at = state
            .probe
            .as_ref()
            .and_then(LivenessProbe::next_attempt_at);
        NextTurn::OnEvent.or_at(state.wake_at).or_at(probe_at)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_end_that_is_connected_again_is_not_gone() {
        let localhost = IpAddr::from(Ipv4Addr::LOCALHOST);
        let watch = PeerWatch::of_sender(localhost, 1).unwrap();
        let gone = LivenessListener::bind_at(localhost, 2).unwrap();
        let peer = LivenessAddress {
            address: gone.address(),
            instance: 2,
        };
        drop(gone);
        watch.begin_probes(peer, Instant::now());
        let start = Instant::now();
        while !watch.is_peer_gone() {
            assert!(start.elapsed() < Duration::from_secs(60), "no refusal");
            std::thread::yield_now();
        }
        watch.let_sleep();
        assert!(!watch.is_peer_gone());
        watch.close();
    }
}
