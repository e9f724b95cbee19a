//! The listener of a sender: accepts connections, reads their handshakes, and refuses unexpected
//! ones.
//!
//! A connection is pending until it has sent a whole [`Handshake`], and half until its receiver has
//! made both connections. There is room for all receivers, which may well come at once, and for a
//! few other connections, and little time: a connection that sends nothing delays no other. Nothing
//! is allocated for a pending connection, and a refused one is told why.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use super::handshake::{
    ConnectionPurpose, HANDSHAKE_BYTES, Handshake, HandshakeReply, HandshakeTerms, HandshakeVerdict,
};
use super::io_thread::Registration;
use super::receiver_connection::ConnectionPair;
use super::sender_address::{SenderAddress, check_mptcp};
use crate::{EdgeCounters, EdgeSpec, Error};

/// Most pending connections beyond the number of receivers; the oldest makes room for the next.
const EXTRA_PENDING_MAX: usize = 16;

/// Most time that a pending connection may take for its handshake. A receiver sends it at once, but
/// on a machine with more processes than cores it may have to wait for a core.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause without accepting after an error of the system, such as no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections that may wait to be accepted, as many as of other listeners.
const BACKLOG: i32 = 128;

/// Most connections accepted in one turn.
const ACCEPTS_PER_TURN_MAX: usize = 32;

/// A listening socket with its pending and half connections.
pub(crate) struct Listener {
    socket: TcpListener,
    terms: HandshakeTerms,
    pending: Vec<PendingConnection>,
    /// Most pending connections, and most half connections.
    pending_max: usize,
    /// Connections for credit whose receivers have not made the one for frames yet.
    half_connections: Vec<HalfConnection>,
    /// Time at which to accept again; `None`: now.
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

/// State of a pending connection's handshake.
enum HandshakeProgress {
    /// More bytes must come.
    Incomplete,
    /// The connection has ended, in this way.
    Disconnected(String),
    /// The handshake does not match, for this reason.
    Rejected(String),
    /// The handshake matches the edge.
    Complete(Handshake),
}

impl Listener {
    /// Listens on a free port of the first address that the edge's description gives.
    pub(crate) fn bind(
        spec: &EdgeSpec,
        terms: HandshakeTerms,
        registration: Registration,
        counters: Arc<EdgeCounters>,
    ) -> Result<Listener, Error> {
        Listener::bind_at(spec.listen.first(), spec, terms, registration, counters)
    }

    /// Listens on a free port of one of the edge's addresses.
    pub(crate) fn bind_at(
        address: IpAddr,
        spec: &EdgeSpec,
        terms: HandshakeTerms,
        registration: Registration,
        counters: Arc<EdgeCounters>,
    ) -> Result<Listener, Error> {
        check_mptcp(spec)?;
        let tried = || format!("listen on {address} for {}", spec.name);
        let listener = bind_socket(address, spec).and_then(|listener| {
            listener.set_nonblocking(true)?;
            registration.watch_fd(&listener, EventFlags::IN)?;
            Ok(listener)
        });
        let pending_max = spec.receiver_count as usize + EXTRA_PENDING_MAX;
        Ok(Listener {
            socket: listener.map_err(|error| Error::system(tried(), error))?,
            terms,
            pending: Vec::with_capacity(pending_max),
            pending_max,
            half_connections: Vec::with_capacity(pending_max),
            paused_until: None,
            registration,
            counters,
        })
    }

    /// Address at which receivers reach the listener.
    ///
    /// # Errors
    /// The system does not know it.
    pub(crate) fn address(&self) -> Result<SocketAddr, Error> {
        let address = self.socket.local_addr();
        address.map_err(|error| Error::system("find out the port of an edge", error))
    }

    /// Returns the next receiver that has made both connections, if there is one now. The caller
    /// accepts or refuses it, and calls again until there is none.
    pub(crate) fn next_receiver(&mut self, now: Instant) -> Option<(Handshake, ConnectionPair)> {
        self.accept_connections(now);
        self.half_connections.retain(|half| half.deadline > now);
        while let Some((handshake, stream)) = self.next_handshake(now) {
            match handshake.purpose {
                ConnectionPurpose::Credit => self.keep_credit_connection(handshake, stream, now),
                ConnectionPurpose::Frames => {
                    if let Some(pair) = self.complete_pair(&handshake, stream) {
                        return Some((handshake, pair));
                    }
                }
            }
        }
        None
    }

    /// The next pending connection whose handshake is complete.
    fn next_handshake(&mut self, now: Instant) -> Option<(Handshake, TcpStream)> {
        let mut at = 0;
        while at < self.pending.len() {
            let progress = self.pending[at].read_handshake(now, &self.terms);
            if let HandshakeProgress::Incomplete = progress {
                at += 1;
                continue;
            }
            let stream = self.pending.remove(at).stream;
            match progress {
                HandshakeProgress::Complete(handshake) => return Some((handshake, stream)),
                HandshakeProgress::Rejected(why) => self.refuse(stream, &why),
                HandshakeProgress::Disconnected(why) => self.count_refusal(&stream, &why),
                HandshakeProgress::Incomplete => {}
            }
        }
        None
    }

    fn keep_credit_connection(&mut self, handshake: Handshake, credit: TcpStream, now: Instant) {
        // The reply on the other connection has the numbers that matter.
        let reply = HandshakeReply {
            position: handshake.position,
            payload_bytes_max: 0,
            ring_bytes: 0,
        };
        self.registration.change_watch(&credit, EventFlags::empty());
        if !self.send_reply(&credit, reply) {
            return;
        }
        // An earlier connection of the receiver is over, whether that was noticed or not.
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

    /// Time of the next deadline; `None`: there is none.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let pending = self.pending.iter().map(|connection| connection.deadline);
        let halves = self.half_connections.iter().map(|half| half.deadline);
        pending.chain(halves).chain(self.paused_until).min()
    }

    /// Accepts a connection. `false`: it is gone.
    pub(crate) fn send_reply(&self, mut stream: &TcpStream, reply: HandshakeReply) -> bool {
        let bytes = HandshakeVerdict::Accepted(reply).to_bytes();
        // A new connection has room for that many bytes.
        let is_sent = stream.write_all(&bytes).is_ok();
        is_sent && stream.set_nodelay(true).is_ok()
    }

    /// Refuses a receiver that has made both connections, and tells it why.
    pub(crate) fn refuse_pair(&self, pair: ConnectionPair, why: &str) {
        self.refuse(pair.frames, why);
    }

    /// Refuses a connection, and tells it why.
    fn refuse(&self, mut stream: TcpStream, why: &str) {
        self.count_refusal(&stream, why);
        let reply = HandshakeVerdict::Refused(why.to_owned());
        let _ = stream.write_all(&reply.to_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        // Bytes that it had sent are read, or the system would reset the connection before the
        // reply is read.
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
                // The peer has given up before the connection was accepted.
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

/// A listening socket on a free port, of the protocol that the edge asks for.
fn bind_socket(address: IpAddr, spec: &EdgeSpec) -> io::Result<TcpListener> {
    let address = SocketAddr::new(address, 0);
    if !spec.listen.is_mptcp() {
        return TcpListener::bind(address);
    }
    let socket = SenderAddress::new(address, spec).socket()?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

impl HalfConnection {
    /// Whether the receiving end with this handshake has made it.
    fn is_from(&self, handshake: &Handshake) -> bool {
        (self.handshake.receiver, self.handshake.instance)
            == (handshake.receiver, handshake.instance)
    }
}

impl PendingConnection {
    /// Reads more of the handshake.
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
                Ok(Some(handshake)) => return HandshakeProgress::Complete(handshake),
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
