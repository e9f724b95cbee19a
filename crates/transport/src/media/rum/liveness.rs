//! Liveness: how a sender tells a receiver that is gone from one that cannot be reached.
//!
//! A connection ends in one way whether its network or its process failed. So a receiver listens on
//! a port of its own, which its handshake names, and a sender whose connection broke connects
//! there: the receiver's IO thread sends the number of the receiving end, however busy the receiver
//! is, and the system refuses once the receiver is gone. Another process may have the port by then,
//! hence the number.
//!
//! ```text
//!   receiver                                   sender
//!     listens <---------- connects ----------
//!             ----------- instance u64 ----->    it is alive and will come back
//!                                                refused, or another number: it is gone
//!                                                nothing: it is gone after the timeout
//! ```
//! Any other process that connects gets the number, too, and its bytes are not read.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use crate::media::tcp_edge::connector::begin_connect;
use crate::media::tcp_edge::io_thread::Registration;

/// Shortest pause between two probes, used at first.
const PROBE_PAUSE_MIN: Duration = Duration::from_millis(1);
const PROBE_PAUSE_MAX: Duration = Duration::from_millis(100);

/// Time after which the first probe without an answer is given up and the next one made: a system
/// may drop a probe that comes while the listener ends, and sends it again only after a second.
const PROBE_TIMEOUT_MIN: Duration = Duration::from_millis(32);
const PROBE_TIMEOUT_MAX: Duration = Duration::from_secs(1);

/// Most probes that are answered in one turn.
const PROBES_PER_TURN_MAX: usize = 32;

/// Answers liveness probes, on the receiver's side.
pub(in crate::media) struct LivenessListener {
    listener: TcpListener,
    address: SocketAddr,
    instance: u64,
}

impl LivenessListener {
    /// Listens for probes of a receiving end, on the address by which the sender is reached.
    pub(in crate::media) fn bind_facing(
        sender: SocketAddr,
        instance: u64,
    ) -> io::Result<LivenessListener> {
        let any = match sender {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        // Connecting a UDP socket sends nothing: the system only looks up the route.
        let route = UdpSocket::bind((any, 0))?;
        route.connect(sender)?;
        LivenessListener::bind_at(route.local_addr()?.ip(), instance)
    }

    /// Listens for probes of an end on an address of this host.
    pub(in crate::media) fn bind_at(ip: IpAddr, instance: u64) -> io::Result<LivenessListener> {
        let listener = TcpListener::bind((ip, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(LivenessListener {
            listener,
            address,
            instance,
        })
    }

    /// Port on which it listens.
    pub(in crate::media) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Address on which it listens.
    pub(in crate::media) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Has the IO thread request a turn whenever a probe comes.
    pub(in crate::media) fn register(&self, registration: Registration) -> io::Result<()> {
        registration.watch_fd(&self.listener, EventFlags::IN)
    }

    /// Answers the probes that have come.
    pub(in crate::media) fn answer_probes(&self) {
        for _ in 0..PROBES_PER_TURN_MAX {
            let Ok((mut stream, _)) = self.listener.accept() else {
                return;
            };
            // A new connection has room for that many bytes.
            let _ = stream.write_all(&self.instance.to_le_bytes());
        }
    }
}

/// Probes a receiver, on the sender's side, until it answers or is gone.
pub(in crate::media) struct LivenessProbe {
    /// Address to probe; `None`: the receiver gave none.
    address: Option<SocketAddr>,
    instance: u64,
    /// The probe under way, and the time at which it is given up.
    attempt: Option<(TcpStream, Instant)>,
    /// Time that the next probe has.
    attempt_timeout: Duration,
    pause: Duration,
    next_attempt_at: Instant,
    /// Time at which the receiver was last known to be alive.
    last_alive_at: Instant,
}

impl LivenessProbe {
    /// Probes a receiving end whose connection has just broken.
    pub(in crate::media) fn new(
        at: Option<SocketAddr>,
        instance: u64,
        now: Instant,
    ) -> LivenessProbe {
        LivenessProbe {
            address: at,
            instance,
            attempt: None,
            attempt_timeout: PROBE_TIMEOUT_MIN,
            pause: PROBE_PAUSE_MIN,
            next_attempt_at: now,
            last_alive_at: now,
        }
    }

    /// Time at which the receiver was last known to be alive.
    pub(in crate::media) fn last_alive_at(&self) -> Instant {
        self.last_alive_at
    }

    /// Time of the next probe, if nothing happens before; `None`: there is no address.
    pub(in crate::media) fn next_attempt_at(&self) -> Option<Instant> {
        self.address.map(|_| self.next_attempt_at)
    }

    /// Makes a probe, or looks for its answer. `false`: the receiver is gone.
    pub(in crate::media) fn step(&mut self, registration: Registration, now: Instant) -> bool {
        let answer = match (&self.attempt, self.address) {
            (Some((stream, until)), _) => match self.read_answer(stream) {
                None if *until <= now => Some(Err(io::ErrorKind::TimedOut.into())),
                answer => answer,
            },
            (None, Some(at)) if self.next_attempt_at <= now => {
                self.start_attempt(at, registration, now)
            }
            _ => None,
        };
        let Some(answer) = answer else {
            return true;
        };
        self.attempt = None;
        self.next_attempt_at = now + self.pause;
        self.pause = (self.pause * 2).min(PROBE_PAUSE_MAX);
        match answer {
            Ok(true) => {
                self.last_alive_at = now;
                true
            }
            Ok(false) => false,
            Err(error) => error.kind() != io::ErrorKind::ConnectionRefused,
        }
    }

    fn start_attempt(
        &mut self,
        at: SocketAddr,
        registration: Registration,
        now: Instant,
    ) -> Option<io::Result<bool>> {
        let stream = match begin_connect(at.into()) {
            Ok(stream) => stream,
            Err(error) => return Some(Err(error)),
        };
        let answer = self.read_answer(&stream);
        if answer.is_none() {
            // A probe that is not watched is looked at when it is given up.
            let _ = registration.watch_fd(&stream, EventFlags::IN);
            self.next_attempt_at = now + self.attempt_timeout;
            self.attempt = Some((stream, self.next_attempt_at));
            self.attempt_timeout = (self.attempt_timeout * 2).min(PROBE_TIMEOUT_MAX);
        }
        answer
    }

    /// The answer of a probe, if there is one. `Ok(true)`: the receiving end has answered.
    fn read_answer(&self, stream: &TcpStream) -> Option<io::Result<bool>> {
        let mut word = [0; size_of::<u64>()];
        match stream.peek(&mut word) {
            Ok(0) => Some(Ok(false)),
            Ok(count) if count == word.len() => Some(Ok(u64::from_le_bytes(word) == self.instance)),
            Err(error) if !is_underway(&error) => Some(Err(error)),
            _ => None,
        }
    }
}

/// Whether a connection is still being made, or has not got any bytes.
fn is_underway(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, NotConnected, WouldBlock};
    matches!(error.kind(), WouldBlock | NotConnected | Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    /// Probes until there is an answer. `true`: the receiver is alive.
    fn knock(knocks: &mut LivenessProbe, lifeline: &LivenessListener) -> bool {
        let (seat, before) = (
            Registration::reserve().expect("an IO thread"),
            knocks.last_alive_at(),
        );
        let start = Instant::now();
        while start.elapsed() < LONG {
            if !knocks.step(seat, Instant::now()) {
                return false;
            }
            lifeline.answer_probes();
            if knocks.last_alive_at() > before {
                return true;
            }
        }
        panic!("no answer within {LONG:?}");
    }

    /// A liveness listener and its address.
    fn lifeline(instance: u64) -> (LivenessListener, SocketAddr) {
        let sender = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
        let sender = sender.local_addr().expect("an address");
        let lifeline = LivenessListener::bind_facing(sender, instance).expect("listens");
        let at = SocketAddr::new(sender.ip(), lifeline.port());
        (lifeline, at)
    }

    #[test]
    fn the_living_are_told_from_the_dead() {
        let (lifeline, at) = lifeline(5);
        let mut knocks = LivenessProbe::new(Some(at), 5, Instant::now());
        for _ in 0..3 {
            assert!(knock(&mut knocks, &lifeline));
        }
        let (other, _) = self::lifeline(6);
        drop(lifeline);
        assert!(!knock(&mut knocks, &other));
    }

    #[test]
    fn somebody_else_at_the_same_port_is_not_taken_for_it() {
        let (lifeline, at) = lifeline(6);
        let mut knocks = LivenessProbe::new(Some(at), 5, Instant::now());
        assert!(!knock(&mut knocks, &lifeline));
    }

    #[test]
    fn a_knock_that_is_dropped_is_soon_made_again() {
        let (lifeline, at) = lifeline(5);
        // With one connection waiting there is no room for another: the system drops its packets.
        rustix::net::listen(&lifeline.listener, 0).expect("listens");
        let waiting = TcpStream::connect(at).expect("is the first");
        let (seat, now) = (
            Registration::reserve().expect("an IO thread"),
            Instant::now(),
        );
        let mut knocks = LivenessProbe::new(Some(at), 5, now);
        assert!(knocks.step(seat, now));
        let due = now + PROBE_TIMEOUT_MIN;
        assert_eq!(
            (knocks.next_attempt_at(), knocks.last_alive_at()),
            (Some(due), now)
        );
        drop((lifeline, waiting));
        assert!(knocks.step(seat, due), "it is given up");
        let due = due + PROBE_PAUSE_MIN;
        assert_eq!(
            (knocks.next_attempt_at(), knocks.last_alive_at()),
            (Some(due), now)
        );
        assert!(!knocks.step(seat, due), "nobody lives there");
    }

    #[test]
    fn whoever_has_no_lifeline_is_not_known_to_be_dead() {
        let now = Instant::now();
        let mut knocks = LivenessProbe::new(None, 5, now);
        let seat = Registration::reserve().expect("an IO thread");
        assert!(knocks.step(seat, now + LONG));
        assert_eq!(
            (knocks.next_attempt_at(), knocks.last_alive_at()),
            (None, now)
        );
    }
}
