//! Bare sockets over loopback, as iperf3 and netperf use them: not a peer, but the yardstick of
//! those on TCP.
//!
//! # Settings
//! `TCP_NODELAY`, buffers as the system sizes them, calls that do not block, both sides spinning on
//! a core of their own; the receiver asks for 256 KB at a time. *Blocks*: messages back to back, a
//! write for each 64 KB. *Writes*: a write a message.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;

use crate::peer::BuiltInPeer;
use crate::peer_ends::{PeerReceive, PeerSend, fill, sum_words_of_bytes};
use crate::peer_processes::{self, MessageDirection, TwoProcessPeer};
use crate::{BoxError, ControlSink, PeerTask, scratch_folder};

/// Bare sockets with many messages in a write of 64 KB.
pub const BLOCKS: BuiltInPeer = BuiltInPeer {
    name: BlockTcpPeer::NAME,
    path: suite::StreamPath::Rum,
    version,
    settings: "writes of 64 KB, reads of 256 KB, TCP_NODELAY, spinning",
    has_latency: false,
    run: peer_processes::run::<BlockTcpPeer>,
    serve_partner: Some(peer_processes::serve::<BlockTcpPeer>),
};

/// Bare sockets with one message in a write.
pub const WRITES: BuiltInPeer = BuiltInPeer {
    name: MessageTcpPeer::NAME,
    path: suite::StreamPath::Tcp,
    version,
    settings: "a write a message, reads of 256 KB, TCP_NODELAY, spinning",
    has_latency: true,
    run: peer_processes::run::<MessageTcpPeer>,
    serve_partner: Some(peer_processes::serve::<MessageTcpPeer>),
};

/// The version of the kernel, whose TCP it is.
fn version() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}

const BLOCK_BYTES: usize = 64 * 1024;

const READ_BYTES: usize = 256 * 1024;

/// Sockets with about `BYTES` bytes in a write, at least one message.
struct RawTcpPeer<const BYTES: usize>;

type BlockTcpPeer = RawTcpPeer<BLOCK_BYTES>;
type MessageTcpPeer = RawTcpPeer<1>;

struct RawTcpSender {
    stream: TcpStream,
    bytes: usize,
    block: Vec<u8>,
    /// Bytes of the block that are not written yet.
    unwritten: std::ops::Range<usize>,
}

struct RawTcpReceiver {
    listener: TcpListener,
    stream: Option<TcpStream>,
    bytes: usize,
    buffer: Vec<u8>,
    /// Bytes at the start of the buffer that belong to an incomplete message.
    buffered_bytes: usize,
}

/// The file in which the receiver leaves its address.
fn address_file(task: &PeerTask, way: MessageDirection) -> PathBuf {
    scratch_folder::folder(&task.scratch).join(format!("{}.address", way.name()))
}

impl<const BYTES: usize> TwoProcessPeer for RawTcpPeer<BYTES> {
    const NAME: &'static str = match BYTES {
        BLOCK_BYTES => "raw-tcp-64k",
        _ => "raw-tcp",
    };
    type Sender = RawTcpSender;
    type Receiver = RawTcpReceiver;

    fn receiver(task: &PeerTask, way: MessageDirection) -> Result<RawTcpReceiver, BoxError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        fs::write(address_file(task, way), listener.local_addr()?.to_string())?;
        Ok(RawTcpReceiver {
            listener,
            stream: None,
            bytes: task.bytes,
            buffer: vec![0; READ_BYTES.max(2 * task.bytes)],
            buffered_bytes: 0,
        })
    }

    fn sender(task: &PeerTask, way: MessageDirection) -> Result<RawTcpSender, BoxError> {
        let address: SocketAddr = fs::read_to_string(address_file(task, way))?.parse()?;
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let messages = (BYTES / task.bytes).max(1);
        Ok(RawTcpSender {
            stream,
            bytes: task.bytes,
            block: vec![0; messages * task.bytes],
            unwritten: 0..0,
        })
    }
}

impl PeerSend for RawTcpSender {
    fn send(&mut self, next: u64, end: u64) -> Result<u64, BoxError> {
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

    fn flush(&mut self) -> Result<bool, BoxError> {
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

impl PeerReceive for RawTcpReceiver {
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        let Some(stream) = &mut self.stream else {
            let (stream, _) = self.listener.accept()?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            self.stream = Some(stream);
            return Ok(());
        };
        self.buffered_bytes += match stream.read(&mut self.buffer[self.buffered_bytes..]) {
            Ok(0) => return Err("the sender has closed its connection".into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let messages = self.buffer[..self.buffered_bytes].chunks_exact(self.bytes);
        let rest = messages.remainder().len();
        messages.for_each(|message| sink.add(sum_words_of_bytes(message)));
        self.buffer
            .copy_within(self.buffered_bytes - rest..self.buffered_bytes, 0);
        self.buffered_bytes = rest;
        Ok(())
    }
}
