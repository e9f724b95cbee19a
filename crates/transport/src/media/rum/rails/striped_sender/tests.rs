//! A striped sender whose receiver reads nothing, so that its sockets are full soon.

use std::net::{TcpListener, TcpStream};

use ring::Writer;
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};

use super::*;
use crate::media::tcp_edge::handshake::{ConnectionPurpose, FramingProtocol, Handshake};
use crate::media::tcp_edge::loopback::loopback_pair;
use crate::media::tcp_edge::receiver_connection::ConnectionPair;

const RING_BYTES: usize = 1 << 20;

/// Bytes that the buffers of a socket have at most, about.
const SOCKET_BYTES: usize = 4096;

struct Ends {
    sender: StripedSender,
    writer: Writer,
    reader: RetainingReader,
    registration: Registration,
    /// The far ends of all connections.
    far: Vec<TcpStream>,
}

fn peer(frames: &TcpStream) -> ReceiverIdentity {
    ReceiverIdentity {
        instance: 0,
        address: frames.peer_addr().expect("an address"),
        liveness_address: None,
    }
}

fn key() -> BatchSealKey {
    BatchSealKey::from_handshake(&Handshake {
        protocol: FramingProtocol::RumRails,
        edge: 0,
        receiver: 0,
        token: [0; 16],
        instance: 0,
        position: 0,
        purpose: ConnectionPurpose::Frames,
        liveness_port: 0,
    })
}

/// A connection that takes few bytes, from its sending end on.
fn narrow_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
    set_socket_recv_buffer_size(&listener, SOCKET_BYTES).expect("set");
    let one = TcpStream::connect(listener.local_addr().expect("an address")).expect("connects");
    set_socket_send_buffer_size(&one, SOCKET_BYTES).expect("set");
    (one, listener.accept().expect("accepts").0)
}

impl Ends {
    fn new() -> Ends {
        let (writer, reader) = ring::retaining_ring(RING_BYTES).expect("memory");
        let registration = Registration::reserve().expect("an IO thread");
        let (frames, _far) = loopback_pair();
        let counters = Arc::new(EdgeCounters::with_rails(2));
        let ring_bytes = RING_BYTES as u64;
        Ends {
            sender: StripedSender::new(peer(&frames), counters, registration, (0, 0), ring_bytes),
            writer,
            reader,
            registration,
            far: Vec::new(),
        }
    }

    fn join(&mut self, rail: usize) {
        let ((frames, far_frames), (credit, far_credit)) = (narrow_pair(), loopback_pair());
        self.far.extend([far_frames, far_credit]);
        let peer = peer(&frames);
        let pair = ConnectionPair { frames, credit };
        let connection = ReceiverConnection::of_rail(pair, 0, self.registration);
        self.sender.join_rail(rail, connection, key(), peer);
    }

    fn send(&mut self) {
        let source = SendableFrames {
            retaining_reader: &self.reader,
            pad_at: u64::MAX,
        };
        self.sender.send(&source).expect("connections");
    }

    /// Whether the IO thread watches the socket of each rail for room.
    fn watched(&mut self, is_armed: bool) -> Vec<bool> {
        self.sender.set_watched_events(is_armed, false);
        let rails = self.sender.connections();
        rails
            .map(|rail| rail.connection.is_room_watched())
            .collect()
    }
}

/// The sending thread polls the sockets that were full when it went to sleep. What fills others
/// meanwhile, as bytes that a stalled rail had, is the IO thread's.
#[test]
fn a_socket_that_is_full_while_the_thread_sleeps_is_watched() {
    let mut ends = Ends::new();
    for _ in 0..20 {
        ends.writer.claim(RING_BYTES / 32).expect("room").fill(1);
        ends.writer.commit(1, 0, RING_BYTES / 32);
    }
    ends.join(0);
    ends.send();
    assert_eq!(ends.watched(false), [true], "it is full");
    ends.sender.note_armed();
    assert_eq!(ends.watched(true), [false], "the thread polls it");
    ends.join(1);
    ends.send();
    assert_eq!(ends.watched(true), [false, true]);
    assert_eq!(ends.watched(false), [true, true]);
}
