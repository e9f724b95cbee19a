//! Bare sockets: the rate of the system's TCP without a medium.
//!
//! With *writes*, each message is a write of as many bytes as a frame of Thalweg has. With
//! *blocks*, messages lie back to back in writes of 64 KB. The receiver reads as many bytes as
//! there are and adds up every message.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::payload::Payload;
use crate::sink::ControlSink;

/// Bytes of a write with blocks, at which a socket reaches its best rate.
const BLOCK_BYTES: usize = 64 << 10;

/// Bytes that the receiver asks for with one read.
const READ_BYTES: usize = 256 << 10;

/// The layout of messages in the stream of bytes.
#[derive(Clone, Copy, Debug)]
pub struct SocketLayout {
    payload: Payload,
    /// Bytes before each message, in place of the frame's header.
    head_bytes: usize,
    /// Bytes from one message to the next.
    stride_bytes: usize,
    /// Number of messages in a write.
    batch_messages: usize,
}

impl SocketLayout {
    /// One message per write, with room for the header of a frame.
    pub fn writes(payload: Payload) -> SocketLayout {
        SocketLayout {
            payload,
            head_bytes: ring::frame::HEADER_BYTES,
            stride_bytes: ring::frame::frame_bytes(payload.bytes()),
            batch_messages: 1,
        }
    }

    /// Messages without headers, in writes of up to 64 KB.
    pub fn blocks(payload: Payload) -> SocketLayout {
        let stride = payload.bytes();
        SocketLayout {
            payload,
            head_bytes: 0,
            stride_bytes: stride,
            batch_messages: (BLOCK_BYTES / stride).max(1),
        }
    }

    /// Sends `messages` messages to each receiver.
    ///
    /// # Errors
    /// A connection breaks.
    pub fn send(self, receivers: &mut [TcpStream], messages: u64) -> io::Result<()> {
        let mut block = vec![0; self.stride_bytes * self.batch_messages];
        let mut number = 0;
        while number < messages {
            let mut filled = 0;
            for room in block.chunks_exact_mut(self.stride_bytes) {
                if number == messages {
                    break;
                }
                let end = self.head_bytes + self.payload.bytes();
                self.payload.fill(number, &mut room[self.head_bytes..end]);
                number += 1;
                filled += self.stride_bytes;
            }
            for receiver in &mut *receivers {
                receiver.write_all(&block[..filled])?;
            }
        }
        Ok(())
    }

    /// Receives `messages` messages from a socket.
    ///
    /// # Errors
    /// The connection breaks or ends early.
    pub fn receive(self, mut from: impl Read, messages: u64) -> io::Result<ControlSink> {
        let mut sink = ControlSink::default();
        let mut room = vec![0; READ_BYTES.max(2 * self.stride_bytes)];
        let mut there = 0;
        while sink.count < messages {
            let count = from.read(&mut room[there..])?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            there += count;
            let mut done = 0;
            for message in room[..there].chunks_exact(self.stride_bytes) {
                let payload = &message[self.head_bytes..self.head_bytes + self.payload.bytes()];
                sink.add(self.payload.sum(payload));
                done += self.stride_bytes;
            }
            room.copy_within(done..there, 0);
            there -= done;
        }
        Ok(sink)
    }
}

/// Accepts one connection per receiver and sets TCP_NODELAY.
///
/// # Errors
/// The system refuses one of the calls.
pub fn accept(listener: &TcpListener, receivers: u32) -> io::Result<Vec<TcpStream>> {
    let accepted = (0..receivers).map(|_| {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(stream)
    });
    accepted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_get_through_in_any_pieces() {
        for wire in [
            SocketLayout::writes(Payload::with_bytes(22)),
            SocketLayout::blocks(Payload::with_bytes(22)),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let to = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let mut all = accept(&listener, 1).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| wire.send(&mut all, 10_000).unwrap());
                assert_eq!(wire.receive(&to, 10_000).unwrap().count, 10_000);
            });
        }
    }
}
