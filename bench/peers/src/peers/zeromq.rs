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

use zmq::{Context, Message, Socket, SocketType};

use crate::ends::{Receives, Sends, add_up, fill};
use crate::peer::Peer;
use crate::processes::{self, Meets, Way};
use crate::{Failure, Sink, Task, scratch};

/// Over a Unix domain socket.
pub const IPC: Peer = Peer {
    name: "zeromq-ipc",
    path: suite::Path::Shm,
    version,
    settings: "push to pull over ipc://, marks at 10,000 messages, blocking calls",
    has_latency: true,
    run: |task| processes::run::<Ipc>("zeromq-ipc", task),
    serve: Some(processes::serve::<Ipc>),
};

/// Over TCP, loopback.
pub const TCP: Peer = Peer {
    name: "zeromq-tcp",
    path: suite::Path::Rum,
    version,
    settings: "push to pull over tcp:// on loopback, marks at 10,000 messages, blocking calls",
    has_latency: true,
    run: |task| processes::run::<Tcp>("zeromq-tcp", task),
    serve: Some(processes::serve::<Tcp>),
};

fn version() -> String {
    let (major, minor, patch) = zmq::version();
    format!("{major}.{minor}.{patch}")
}

/// Messages that a side holds before it is full.
const MARK: i32 = 10_000;

/// Milliseconds after which a call gives up.
const PATIENCE_MS: i32 = 20_000;

struct Ipc;

struct Tcp;

struct Sender {
    socket: Socket,
    buffer: Vec<u8>,
}

struct Receiver {
    socket: Socket,
    message: Message,
}

fn bind(socket: &Socket, task: &Task, way: Way, endpoint: &str) -> Result<(), Failure> {
    socket.bind(endpoint)?;
    let bound = socket.get_last_endpoint()?;
    let bound = bound.map_err(|_| "an endpoint that is not text")?;
    std::fs::write(note(task, way), bound)?;
    Ok(())
}

/// Where the receiver says how it is reached.
fn note(task: &Task, way: Way) -> std::path::PathBuf {
    scratch::folder(&task.scratch).join(format!("{}.endpoint", way.name()))
}

fn receiver(task: &Task, way: Way, endpoint: &str) -> Result<Receiver, Failure> {
    let socket = Context::new().socket(SocketType::PULL)?;
    socket.set_rcvhwm(MARK)?;
    socket.set_rcvtimeo(PATIENCE_MS)?;
    bind(&socket, task, way, endpoint)?;
    let message = Message::new();
    Ok(Receiver { socket, message })
}

fn sender(task: &Task, way: Way) -> Result<Sender, Failure> {
    let socket = Context::new().socket(SocketType::PUSH)?;
    socket.set_sndhwm(MARK)?;
    socket.set_sndtimeo(PATIENCE_MS)?;
    socket.connect(&std::fs::read_to_string(note(task, way))?)?;
    let buffer = vec![0; task.bytes];
    Ok(Sender { socket, buffer })
}

impl Meets for Ipc {
    type Host = ();
    type Sender = Sender;
    type Receiver = Receiver;

    fn host(_: &Task) -> Result<(), Failure> {
        Ok(())
    }

    fn receiver(task: &Task, way: Way) -> Result<Receiver, Failure> {
        let path = scratch::folder(&task.scratch).join(way.name());
        receiver(task, way, &format!("ipc://{}", path.display()))
    }

    fn sender(task: &Task, way: Way) -> Result<Sender, Failure> {
        sender(task, way)
    }
}

impl Meets for Tcp {
    type Host = ();
    type Sender = Sender;
    type Receiver = Receiver;

    fn host(_: &Task) -> Result<(), Failure> {
        Ok(())
    }

    fn receiver(task: &Task, way: Way) -> Result<Receiver, Failure> {
        receiver(task, way, "tcp://127.0.0.1:*")
    }

    fn sender(task: &Task, way: Way) -> Result<Sender, Failure> {
        sender(task, way)
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
