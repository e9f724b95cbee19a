//! Lifelines: how a sender tells a receiver that is gone from one that cannot be reached.
//!
//! A connection ends in the same way whether its network or its process did. So a receiver listens
//! on a port of its own, which it names when it connects, and a sender whose connection broke
//! knocks there: the receiver's pump says which receiving end it is, however busy the receiver, and
//! the system refuses once there is none. A port may be somebody else's by then, hence the word.
//!
//! ```text
//!   receiver                                   sender
//!     listens <---------- connects ----------
//!             ----------- instance u64 ----->    it is alive, it will come back
//!                                                refused, or another word: it is gone
//!                                                nothing: gone when it lasts too long
//! ```
//! Whoever else connects hears the word, too, and is not listened to.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use crate::media::tcp_edge::connector::begin_connect;
use crate::media::tcp_edge::io_thread::Registration;

/// Between two knocks: at first, and at most.
const PROBE_PAUSE_MIN: Duration = Duration::from_millis(1);
const PROBE_PAUSE_MAX: Duration = Duration::from_millis(100);

/// A knock without an answer is given up after so long, at first and at most, and the next one
/// made: a system may drop one that comes while the listener ends, and sends it again only after a
/// second.
const PROBE_TIMEOUT_MIN: Duration = Duration::from_millis(32);
const PROBE_TIMEOUT_MAX: Duration = Duration::from_secs(1);

/// Callers turned away in one turn.
const PROBES_PER_TURN_MAX: usize = 32;

/// The receiver's side.
pub(super) struct LivenessListener {
    listener: TcpListener,
    port: u16,
    instance: u64,
}

impl LivenessListener {
    /// Of a receiving end, on the address by which the sender is reached.
    ///
    /// # Errors
    /// The sender cannot be reached, or the system has no descriptor left.
    pub(super) fn bind_facing(sender: SocketAddr, instance: u64) -> io::Result<LivenessListener> {
        let any = match sender {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        // Sends nothing: the system only looks up the way.
        let way = UdpSocket::bind((any, 0))?;
        way.connect(sender)?;
        let listener = TcpListener::bind((way.local_addr()?.ip(), 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(LivenessListener {
            listener,
            port,
            instance,
        })
    }

    /// Where it listens.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Has the pump called whenever somebody knocks.
    pub(super) fn register(&self, registration: Registration) -> io::Result<()> {
        registration.watch_fd(&self.listener, EventFlags::IN)
    }

    /// Answers whoever has knocked.
    pub(super) fn answer_probes(&self) {
        for _ in 0..PROBES_PER_TURN_MAX {
            let Ok((mut caller, _)) = self.listener.accept() else {
                return;
            };
            // A new connection has room for so much.
            let _ = caller.write_all(&self.instance.to_le_bytes());
        }
    }
}

/// The sender's side: knocks until it is sure.
pub(super) struct LivenessProbe {
    /// Where; `None`: the receiver has no lifeline.
    address: Option<SocketAddr>,
    instance: u64,
    /// One that is under way, and when it is given up.
    attempt: Option<(TcpStream, Instant)>,
    /// So long the next one has.
    attempt_timeout: Duration,
    pause: Duration,
    next_attempt_at: Instant,
    /// When it was last known to be alive.
    last_alive_at: Instant,
}

impl LivenessProbe {
    /// At the lifeline of a receiving end whose connection has just broken.
    pub(super) fn new(at: Option<SocketAddr>, instance: u64, now: Instant) -> LivenessProbe {
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

    /// When it was last known to be alive.
    pub(super) fn last_alive_at(&self) -> Instant {
        self.last_alive_at
    }

    /// When to come back, if nothing happens before.
    pub(super) fn next_attempt_at(&self) -> Option<Instant> {
        self.address.map(|_| self.next_attempt_at)
    }

    /// Knocks, or looks what came of it. `false`: nobody lives there any more.
    pub(super) fn step(&mut self, registration: Registration, now: Instant) -> bool {
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
        let stream = match begin_connect(at) {
            Ok(stream) => stream,
            Err(error) => return Some(Err(error)),
        };
        let answer = self.read_answer(&stream);
        if answer.is_none() {
            // If it is not watched, it is looked at when it is given up.
            let _ = registration.watch_fd(&stream, EventFlags::IN);
            self.next_attempt_at = now + self.attempt_timeout;
            self.attempt = Some((stream, self.next_attempt_at));
            self.attempt_timeout = (self.attempt_timeout * 2).min(PROBE_TIMEOUT_MAX);
        }
        answer
    }

    /// What came of a knock, if anything has: whether it was the receiving end that answered.
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

/// Whether a connection is being made, or nothing has been said on it.
fn is_underway(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, NotConnected, WouldBlock};
    matches!(error.kind(), WouldBlock | NotConnected | Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    /// Knocks until there is an answer: whether it is alive.
    fn knock(knocks: &mut LivenessProbe, lifeline: &LivenessListener) -> bool {
        let (seat, before) = (
            Registration::reserve().expect("a seat"),
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

    /// A lifeline and where it is.
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
        // With one caller waiting there is no room for another: the system drops what he sends.
        rustix::net::listen(&lifeline.listener, 0).expect("listens");
        let waiting = TcpStream::connect(at).expect("is the first");
        let (seat, now) = (Registration::reserve().expect("a seat"), Instant::now());
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
        let seat = Registration::reserve().expect("a seat");
        assert!(knocks.step(seat, now + LONG));
        assert_eq!(
            (knocks.next_attempt_at(), knocks.last_alive_at()),
            (None, now)
        );
    }
}
