//! The door of a sender: listens, hears out whoever connects, and refuses whoever is not expected.
//!
//! Whoever connects is a guest until it has said a whole [`Handshake`], and a receiver until it has
//! made both of its connections. There are places for all receivers, which may well come at the
//! same moment, and for few others, and little time: somebody who connects and says nothing holds
//! nobody up. Nothing is allocated for a guest, and a refused one is told why.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use super::handshake::{
    ConnectionPurpose, HANDSHAKE_BYTES, Handshake, HandshakeReply, HandshakeTerms, HandshakeVerdict,
};
use super::io_thread::Registration;
use super::receiver_connection::ConnectionPair;
use crate::{EdgeCounters, EdgeSpec, Error};

/// Guests at a time beside the receivers; the one that has waited longest makes room for the next.
const EXTRA_PENDING_MAX: usize = 16;

/// So long a guest may take for its hello. A receiver says it at once, but on a machine with more
/// processes than cores it may be a while until it runs again.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// After an error of the system, such as no descriptor left, so long nobody is let in.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections taken in one turn.
const ACCEPTS_PER_TURN_MAX: usize = 32;

/// A listening socket and its guests.
pub(crate) struct Listener {
    socket: TcpListener,
    terms: HandshakeTerms,
    pending: Vec<PendingConnection>,
    /// Guests, and halves, at a time.
    pending_max: usize,
    /// Connections for credit whose receivers have yet to make the other one.
    half_connections: Vec<HalfConnection>,
    /// When to listen again.
    paused_until: Option<Instant>,
    registration: Registration,
    counters: Arc<EdgeCounters>,
}

struct PendingConnection {
    stream: TcpStream,
    bytes: [u8; HANDSHAKE_BYTES],
    filled: usize,
    deadline: Instant,
}

struct HalfConnection {
    handshake: Handshake,
    credit: TcpStream,
    deadline: Instant,
}

/// What a guest turns out to be.
enum HandshakeProgress {
    /// It has not said everything.
    Incomplete,
    /// It is gone.
    Disconnected(String),
    /// It is not let in.
    Rejected(String),
    /// It has the token.
    Complete(Handshake),
}

impl Listener {
    /// Listens on a free port.
    ///
    /// # Errors
    /// The address is not one of this host, or the system has no descriptor left.
    pub(crate) fn bind(
        spec: &EdgeSpec,
        terms: HandshakeTerms,
        registration: Registration,
        counters: Arc<EdgeCounters>,
    ) -> Result<Listener, Error> {
        let tried = || format!("listen on {} for {}", spec.listen, spec.name);
        let listener = TcpListener::bind((spec.listen, 0)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            registration.watch_fd(&listener, EventFlags::IN)?;
            Ok(listener)
        });
        let places = spec.receiver_count as usize + EXTRA_PENDING_MAX;
        Ok(Listener {
            socket: listener.map_err(|error| Error::system(tried(), error))?,
            terms,
            pending: Vec::with_capacity(places),
            pending_max: places,
            half_connections: Vec::with_capacity(places),
            paused_until: None,
            registration,
            counters,
        })
    }

    /// Where receivers reach it.
    ///
    /// # Errors
    /// The system does not say.
    pub(crate) fn address(&self) -> Result<SocketAddr, Error> {
        let address = self.socket.local_addr();
        address.map_err(|error| Error::system("find out the port of an edge", error))
    }

    /// The next receiver that has made both connections, if there is one now. Whoever calls
    /// welcomes or refuses it, and calls again until there is none.
    pub(crate) fn next_receiver(&mut self, now: Instant) -> Option<(Handshake, ConnectionPair)> {
        self.accept_connections(now);
        self.half_connections.retain(|half| half.deadline > now);
        while let Some((hello, stream)) = self.next_handshake(now) {
            match hello.purpose {
                ConnectionPurpose::Credit => self.keep_credit_connection(hello, stream, now),
                ConnectionPurpose::Frames => {
                    if let Some(pair) = self.complete_pair(&hello, stream) {
                        return Some((hello, pair));
                    }
                }
            }
        }
        None
    }

    /// The next guest that has shown the token.
    fn next_handshake(&mut self, now: Instant) -> Option<(Handshake, TcpStream)> {
        let mut at = 0;
        while at < self.pending.len() {
            let heard = self.pending[at].read_handshake(now, &self.terms);
            if let HandshakeProgress::Incomplete = heard {
                at += 1;
                continue;
            }
            let stream = self.pending.remove(at).stream;
            match heard {
                HandshakeProgress::Complete(hello) => return Some((hello, stream)),
                HandshakeProgress::Rejected(why) => self.refuse(stream, &why),
                HandshakeProgress::Disconnected(why) => self.count_refusal(&stream, &why),
                HandshakeProgress::Incomplete => {}
            }
        }
        None
    }

    fn keep_credit_connection(&mut self, handshake: Handshake, credit: TcpStream, now: Instant) {
        // What matters is said on the other connection.
        let welcome = HandshakeReply {
            position: handshake.position,
            frame_bytes_max: 0,
            ring_bytes: 0,
        };
        self.registration.change_watch(&credit, EventFlags::empty());
        if !self.send_reply(&credit, welcome) {
            return;
        }
        // One that it has made before is over, whether we have noticed or not.
        self.half_connections
            .retain(|half| !half.is_from(&handshake));
        if self.half_connections.len() == self.pending_max {
            self.half_connections.remove(0);
        }
        let until = now + HANDSHAKE_TIMEOUT;
        self.half_connections.push(HalfConnection {
            handshake,
            credit,
            deadline: until,
        });
    }

    fn complete_pair(
        &mut self,
        handshake: &Handshake,
        frames: TcpStream,
    ) -> Option<ConnectionPair> {
        let Some(at) = self
            .half_connections
            .iter()
            .position(|half| half.is_from(handshake))
        else {
            self.refuse(frames, "the connection for credit comes first");
            return None;
        };
        let credit = self.half_connections.remove(at).credit;
        Some(ConnectionPair { frames, credit })
    }

    /// When it has to look again, if nothing happens before.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let guests = self.pending.iter().map(|guest| guest.deadline);
        let halves = self.half_connections.iter().map(|half| half.deadline);
        guests.chain(halves).chain(self.paused_until).min()
    }

    /// Lets a guest in. `false`: it is gone.
    pub(crate) fn send_reply(&self, mut stream: &TcpStream, welcome: HandshakeReply) -> bool {
        let bytes = HandshakeVerdict::Accepted(welcome).to_bytes();
        // A new connection has room for so much.
        let is_said = stream.write_all(&bytes).is_ok();
        is_said && stream.set_nodelay(true).is_ok()
    }

    /// Tells a receiver why it is not let in.
    pub(crate) fn refuse_pair(&self, pair: ConnectionPair, why: &str) {
        self.refuse(pair.frames, why);
    }

    /// Tells a guest why it is not let in.
    fn refuse(&self, mut stream: TcpStream, why: &str) {
        self.count_refusal(&stream, why);
        let answer = HandshakeVerdict::Refused(why.to_owned());
        let _ = stream.write_all(&answer.to_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        // What it had sent is read, or the system would cut the connection before the answer is.
        let _ = stream.read(&mut [0; 1024]);
    }

    fn count_refusal(&self, stream: &TcpStream, why: &str) {
        self.registration.unwatch_fd(stream);
        let from = match stream.peer_addr() {
            Ok(address) => address.to_string(),
            Err(_) => "somebody".to_owned(),
        };
        self.counters
            .count_refusal(format!("{from} was refused: {why}"));
    }

    fn accept_connections(&mut self, now: Instant) {
        if self.paused_until.is_some_and(|until| until > now) {
            return;
        }
        if self.paused_until.take().is_some() {
            self.registration.change_watch(&self.socket, EventFlags::IN);
        }
        for _ in 0..ACCEPTS_PER_TURN_MAX {
            match self.socket.accept() {
                Ok((stream, _)) => self.add_pending(stream, now),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Given up before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.registration
                        .change_watch(&self.socket, EventFlags::empty());
                    self.paused_until = Some(now + ACCEPT_PAUSE);
                    return;
                }
            }
        }
    }

    fn add_pending(&mut self, stream: TcpStream, now: Instant) {
        let is_ready = stream.set_nonblocking(true).is_ok();
        let events = EventFlags::IN | EventFlags::RDHUP;
        if !is_ready || self.registration.watch_fd(&stream, events).is_err() {
            return;
        }
        if self.pending.len() == self.pending_max {
            let longest = self.pending.remove(0).stream;
            self.refuse(longest, "too many connect at a time");
        }
        self.pending.push(PendingConnection {
            stream,
            bytes: [0; HANDSHAKE_BYTES],
            filled: 0,
            deadline: now + HANDSHAKE_TIMEOUT,
        });
    }
}

impl HalfConnection {
    /// Whether the receiving end that says this has made it.
    fn is_from(&self, handshake: &Handshake) -> bool {
        (self.handshake.receiver, self.handshake.instance)
            == (handshake.receiver, handshake.instance)
    }
}

impl PendingConnection {
    /// Reads on.
    fn read_handshake(&mut self, now: Instant, terms: &HandshakeTerms) -> HandshakeProgress {
        loop {
            match self.stream.read(&mut self.bytes[self.filled..]) {
                Ok(0) => {
                    return HandshakeProgress::Disconnected(
                        "it left before it had said who it is".to_owned(),
                    );
                }
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return HandshakeProgress::Disconnected(error.to_string()),
            }
            match Handshake::parse(&self.bytes[..self.filled], terms) {
                Ok(Some(hello)) => return HandshakeProgress::Complete(hello),
                Ok(None) => {}
                Err(why) => return HandshakeProgress::Rejected(why),
            }
        }
        if self.deadline <= now {
            let why = format!("it did not say who it is within {HANDSHAKE_TIMEOUT:?}");
            return HandshakeProgress::Rejected(why);
        }
        HandshakeProgress::Incomplete
    }
}
