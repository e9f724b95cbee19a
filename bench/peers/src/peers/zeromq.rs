//! ZeroMQ: a push socket and a pull socket, over a Unix domain socket or over TCP.
//!
//! # Settings
//! One I/O thread a side, which is what ZeroMQ's guide recommends below a gigabyte a second; it batches
//! by itself. High-water marks are 10,000 messages on both sides, ten times the default, so that the
//! I/O threads never run dry. A message is filled in a buffer and handed to `send`, which copies it
//! once (messages of up to 33 bytes aside, any other way allocates as well); the receiver reads in
//! place and uses one message again and again. Calls block, as in ZeroMQ's own `local_thr` and
//! `local_lat`: with two cores a loop that spins would take them away from the I/O threads. For the
//! same reason I/O threads are pinned nowhere, the threads that send and receive each to a core.

use std::fs;
use std::marker::PhantomData;
use std::path::PathBuf;

use zmq::{Context, Message, Socket, SocketType};

use crate::ends::{Receives, Sends, add_up, fill};
use crate::peer::Peer;
use crate::processes::{self, Meets, Way};
use crate::{Failure, Sink, Task, scratch};

/// Over a Unix domain socket.
pub const IPC: Peer = Peer {
    name: Ipc::NAME,
    path: suite::Path::Shm,
    version,
    settings: "push to pull over ipc://, marks at 10,000 messages, blocking calls",
    has_latency: true,
    run: processes::run::<Sockets<Ipc>>,
    serve: Some(processes::serve::<Sockets<Ipc>>),
};

/// Over TCP, loopback.
pub const TCP: Peer = Peer {
    name: Tcp::NAME,
    path: suite::Path::Rum,
    version,
    settings: "push to pull over tcp:// on loopback, marks at 10,000 messages, blocking calls",
    has_latency: true,
    run: processes::run::<Sockets<Tcp>>,
    serve: Some(processes::serve::<Sockets<Tcp>>),
};

fn version() -> String {
    let (major, minor, patch) = zmq::version();
    format!("{major}.{minor}.{patch}")
}

/// Messages that a side holds before it is full.
const MARK: i32 = 10_000;

/// Milliseconds after which a call gives up.
const PATIENCE_MS: i32 = 20_000;

/// Where the receiving socket of a way is bound.
trait Endpoint {
    /// The peer's name.
    const NAME: &'static str;

    /// As ZeroMQ writes it.
    fn of(task: &Task, way: Way) -> String;
}

struct Ipc;

impl Endpoint for Ipc {
    const NAME: &'static str = "zeromq-ipc";

    fn of(task: &Task, way: Way) -> String {
        let path = scratch::folder(&task.scratch).join(way.name());
        format!("ipc://{}", path.display())
    }
}

struct Tcp;

impl Endpoint for Tcp {
    const NAME: &'static str = "zeromq-tcp";

    fn of(_: &Task, _: Way) -> String {
        "tcp://127.0.0.1:*".to_owned()
    }
}

/// Sockets at such endpoints.
struct Sockets<E>(PhantomData<E>);

struct Sender {
    socket: Socket,
    buffer: Vec<u8>,
}

struct Receiver {
    socket: Socket,
    message: Message,
}

/// Where the receiver says how it is reached.
fn note(task: &Task, way: Way) -> PathBuf {
    scratch::folder(&task.scratch).join(format!("{}.endpoint", way.name()))
}

impl<E: Endpoint> Meets for Sockets<E> {
    const NAME: &'static str = E::NAME;
    type Sender = Sender;
    type Receiver = Receiver;

    fn receiver(task: &Task, way: Way) -> Result<Receiver, Failure> {
        let socket = Context::new().socket(SocketType::PULL)?;
        socket.set_rcvhwm(MARK)?;
        socket.set_rcvtimeo(PATIENCE_MS)?;
        socket.bind(&E::of(task, way))?;
        let bound = socket.get_last_endpoint()?;
        let bound = bound.map_err(|_| "an endpoint that is not text")?;
        fs::write(note(task, way), bound)?;
        let message = Message::new();
        Ok(Receiver { socket, message })
    }

    fn sender(task: &Task, way: Way) -> Result<Sender, Failure> {
        let socket = Context::new().socket(SocketType::PUSH)?;
        socket.set_sndhwm(MARK)?;
        socket.set_sndtimeo(PATIENCE_MS)?;
        socket.connect(&fs::read_to_string(note(task, way))?)?;
        let buffer = vec![0; task.bytes];
        Ok(Sender { socket, buffer })
    }
}

impl Sends for Sender {
    fn send(&mut self, next: u64, _: u64) -> Result<u64, Failure> {
        fill(&mut self.buffer, next);
        self.socket.send(&self.buffer[..], 0)?;
        Ok(1)
    }
}

impl Receives for Receiver {
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        self.socket.recv(&mut self.message, 0)?;
        sink.take(add_up(&self.message));
        Ok(())
    }
}
