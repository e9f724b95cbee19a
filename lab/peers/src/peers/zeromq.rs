//! ZeroMQ: a push socket and a pull socket, over a Unix domain socket or over TCP.
//!
//! # Settings
//! One I/O thread a side, which is what ZeroMQ's guide recommends below a gigabyte a second; it
//! batches by itself. High-water marks are 10,000 messages on both sides, ten times the default, so
//! that the I/O threads never run dry. A message is filled in a buffer and handed to `send`, which
//! copies it once (messages of up to 33 bytes aside, any other way allocates as well); the receiver
//! reads in place and uses one message again and again. Calls block, as in ZeroMQ's own `local_thr`
//! and `local_lat`: with two cores a loop that spins would take them away from the I/O threads. For
//! the same reason I/O threads are pinned nowhere, the threads that send and receive each to a
//! core.

use std::fs;
use std::marker::PhantomData;
use std::path::PathBuf;

use zmq::{Context, Message, Socket, SocketType};

use crate::peer::BuiltInPeer;
use crate::peer_ends::{PeerReceive, PeerSend, fill, sum_words_of_bytes};
use crate::peer_processes::{self, MessageDirection, TwoProcessPeer};
use crate::{BoxError, ControlSink, PeerTask, scratch_folder};

/// ZeroMQ over a Unix domain socket.
pub const IPC: BuiltInPeer = BuiltInPeer {
    name: ZmqIpc::NAME,
    path: suite::StreamPath::Shm,
    version,
    settings: "push to pull over ipc://, marks at 10,000 messages, blocking calls",
    has_latency: true,
    run: peer_processes::run::<ZmqPeer<ZmqIpc>>,
    serve_partner: Some(peer_processes::serve::<ZmqPeer<ZmqIpc>>),
};

/// ZeroMQ over TCP on loopback.
pub const TCP: BuiltInPeer = BuiltInPeer {
    name: ZmqTcp::NAME,
    path: suite::StreamPath::Rum,
    version,
    settings: "push to pull over tcp:// on loopback, marks at 10,000 messages, blocking calls",
    has_latency: true,
    run: peer_processes::run::<ZmqPeer<ZmqTcp>>,
    serve_partner: Some(peer_processes::serve::<ZmqPeer<ZmqTcp>>),
};

fn version() -> String {
    let (major, minor, patch) = zmq::version();
    format!("{major}.{minor}.{patch}")
}

/// Messages that a side queues before it is full.
const HIGH_WATER_MARK: i32 = 10_000;

/// Milliseconds after which a call gives up.
const CALL_TIMEOUT_MS: i32 = 20_000;

/// The address that the receiving socket binds to.
trait ZmqEndpoint {
    /// Name of the peer in options and tables.
    const NAME: &'static str;

    /// The endpoint as ZeroMQ writes it.
    fn address(task: &PeerTask, way: MessageDirection) -> String;
}

struct ZmqIpc;

impl ZmqEndpoint for ZmqIpc {
    const NAME: &'static str = "zeromq-ipc";

    fn address(task: &PeerTask, way: MessageDirection) -> String {
        let path = scratch_folder::folder(&task.scratch).join(way.name());
        format!("ipc://{}", path.display())
    }
}

struct ZmqTcp;

impl ZmqEndpoint for ZmqTcp {
    const NAME: &'static str = "zeromq-tcp";

    fn address(_: &PeerTask, _: MessageDirection) -> String {
        "tcp://127.0.0.1:*".to_owned()
    }
}

/// A peer with sockets at endpoints of one kind.
struct ZmqPeer<E>(PhantomData<E>);

struct ZmqSender {
    socket: Socket,
    buffer: Vec<u8>,
}

struct ZmqReceiver {
    socket: Socket,
    message: Message,
}

/// The file in which the receiver leaves its endpoint.
fn address_file(task: &PeerTask, way: MessageDirection) -> PathBuf {
    scratch_folder::folder(&task.scratch).join(format!("{}.endpoint", way.name()))
}

impl<E: ZmqEndpoint> TwoProcessPeer for ZmqPeer<E> {
    const NAME: &'static str = E::NAME;
    type Sender = ZmqSender;
    type Receiver = ZmqReceiver;

    fn receiver(task: &PeerTask, way: MessageDirection) -> Result<ZmqReceiver, BoxError> {
        let socket = Context::new().socket(SocketType::PULL)?;
        socket.set_rcvhwm(HIGH_WATER_MARK)?;
        socket.set_rcvtimeo(CALL_TIMEOUT_MS)?;
        socket.bind(&E::address(task, way))?;
        let bound = socket.get_last_endpoint()?;
        let bound = bound.map_err(|_| "an endpoint that is not text")?;
        fs::write(address_file(task, way), bound)?;
        let message = Message::new();
        Ok(ZmqReceiver { socket, message })
    }

    fn sender(task: &PeerTask, way: MessageDirection) -> Result<ZmqSender, BoxError> {
        let socket = Context::new().socket(SocketType::PUSH)?;
        socket.set_sndhwm(HIGH_WATER_MARK)?;
        socket.set_sndtimeo(CALL_TIMEOUT_MS)?;
        socket.connect(&fs::read_to_string(address_file(task, way))?)?;
        let buffer = vec![0; task.bytes];
        Ok(ZmqSender { socket, buffer })
    }
}

impl PeerSend for ZmqSender {
    fn send(&mut self, next: u64, _: u64) -> Result<u64, BoxError> {
        fill(&mut self.buffer, next);
        self.socket.send(&self.buffer[..], 0)?;
        Ok(1)
    }
}

impl PeerReceive for ZmqReceiver {
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        self.socket.recv(&mut self.message, 0)?;
        sink.add(sum_words_of_bytes(&self.message));
        Ok(())
    }
}
