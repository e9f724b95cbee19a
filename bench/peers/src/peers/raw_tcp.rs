//! Bare sockets over loopback, as iperf3 and netperf use them: no peer, but the measure of those that
//! are on TCP.
//!
//! # Settings
//! `TCP_NODELAY`, buffers as the system sizes them, calls that do not block, both sides spinning on a
//! core of their own; the receiver asks for 256 KB at a time. *Blocks*: messages back to back, a write
//! for each 64 KB. *Writes*: a write a message.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;

use crate::ends::{Receives, Sends, add_up, fill};
use crate::peer::Peer;
use crate::processes::{self, Meets, Way};
use crate::{Failure, Sink, Task, scratch};

/// Many messages a write.
pub const BLOCKS: Peer = Peer {
    name: Blocks::NAME,
    path: suite::Path::Rum,
    version,
    settings: "writes of 64 KB, reads of 256 KB, TCP_NODELAY, spinning",
    has_latency: false,
    run: processes::run::<Blocks>,
    serve: Some(processes::serve::<Blocks>),
};

/// One message a write.
pub const WRITES: Peer = Peer {
    name: Writes::NAME,
    path: suite::Path::Tcp,
    version,
    settings: "a write a message, reads of 256 KB, TCP_NODELAY, spinning",
    has_latency: true,
    run: processes::run::<Writes>,
    serve: Some(processes::serve::<Writes>),
};

/// That of the system.
fn version() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}

const BLOCK_BYTES: usize = 64 * 1024;

const READ_BYTES: usize = 256 * 1024;

/// Sockets whose writes have about so many bytes, and one message at least.
struct Tcp<const BYTES: usize>;

type Blocks = Tcp<BLOCK_BYTES>;
type Writes = Tcp<1>;

struct Sender {
    stream: TcpStream,
    bytes: usize,
    block: Vec<u8>,
    /// What of the block is still to be written.
    unwritten: std::ops::Range<usize>,
}

struct Receiver {
    listener: TcpListener,
    stream: Option<TcpStream>,
    bytes: usize,
    room: Vec<u8>,
    /// Bytes at the beginning of the room that are the beginning of a message.
    there: usize,
}

/// Where the receiver says how it is reached.
fn note(task: &Task, way: Way) -> PathBuf {
    scratch::folder(&task.scratch).join(format!("{}.address", way.name()))
}

impl<const BYTES: usize> Meets for Tcp<BYTES> {
    const NAME: &'static str = match BYTES {
        BLOCK_BYTES => "raw-tcp-64k",
        _ => "raw-tcp",
    };
    type Sender = Sender;
    type Receiver = Receiver;

    fn receiver(task: &Task, way: Way) -> Result<Receiver, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        fs::write(note(task, way), listener.local_addr()?.to_string())?;
        Ok(Receiver {
            listener,
            stream: None,
            bytes: task.bytes,
            room: vec![0; READ_BYTES.max(2 * task.bytes)],
            there: 0,
        })
    }

    fn sender(task: &Task, way: Way) -> Result<Sender, Failure> {
        let address: SocketAddr = fs::read_to_string(note(task, way))?.parse()?;
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let messages = (BYTES / task.bytes).max(1);
        Ok(Sender {
            stream,
            bytes: task.bytes,
            block: vec![0; messages * task.bytes],
            unwritten: 0..0,
        })
    }
}

impl Sends for Sender {
    fn send(&mut self, next: u64, end: u64) -> Result<u64, Failure> {
        if !self.flush()? {
            return Ok(0);
        }
        let messages = self.block.chunks_exact_mut(self.bytes);
        let filled = messages
            .zip(next..end)
            .map(|(room, number)| fill(room, number));
        let count = filled.count();
        self.unwritten = 0..count * self.bytes;
        self.flush()?;
        Ok(count as u64)
    }

    fn flush(&mut self) -> Result<bool, Failure> {
        if !self.unwritten.is_empty() {
            match self.stream.write(&self.block[self.unwritten.clone()]) {
                Ok(written) => self.unwritten.start += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.unwritten.is_empty())
    }
}

impl Receives for Receiver {
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        let Some(stream) = &mut self.stream else {
            let (stream, _) = self.listener.accept()?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            self.stream = Some(stream);
            return Ok(());
        };
        self.there += match stream.read(&mut self.room[self.there..]) {
            Ok(0) => return Err("the sender has closed its connection".into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let messages = self.room[..self.there].chunks_exact(self.bytes);
        let rest = messages.remainder().len();
        messages.for_each(|message| sink.take(add_up(message)));
        self.room.copy_within(self.there - rest..self.there, 0);
        self.there = rest;
        Ok(())
    }
}
