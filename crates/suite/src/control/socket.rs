//! Bare sockets: what the system's TCP carries without us.
//!
//! *Writes*: a write a message, of as many bytes as a frame of ours has. *Blocks*: messages back to
//! back, a write for each 64 KB. The receiver reads as much as comes and adds up every message.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use super::payload::Payload;
use super::sink::Sink;

/// Bytes of a write in blocks.
const BLOCK_BYTES: usize = 64 << 10;

/// Bytes that a receiver asks for.
const READ_BYTES: usize = 256 << 10;

/// How messages lie in the stream of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    payload: Payload,
    /// Bytes before a message.
    head: usize,
    /// Bytes from one message to the next.
    stride: usize,
    /// Messages of a write.
    batch: usize,
}

impl Wire {
    /// A write a message, with room for the head of a frame.
    pub fn writes(payload: Payload) -> Wire {
        Wire {
            payload,
            head: ring::frame::HEADER_BYTES,
            stride: ring::frame::frame_bytes(payload.bytes()),
            batch: 1,
        }
    }

    /// Messages alone, in large writes.
    pub fn blocks(payload: Payload) -> Wire {
        let stride = payload.bytes();
        Wire {
            payload,
            head: 0,
            stride,
            batch: (BLOCK_BYTES / stride).max(1),
        }
    }

    /// Sends so many messages to each receiver.
    ///
    /// # Errors
    /// A connection breaks.
    pub fn send(self, receivers: &mut [TcpStream], messages: u64) -> io::Result<()> {
        let mut block = vec![0; self.stride * self.batch];
        let mut number = 0;
        while number < messages {
            let mut filled = 0;
            for room in block.chunks_exact_mut(self.stride) {
                if number == messages {
                    break;
                }
                let end = self.head + self.payload.bytes();
                self.payload.fill(number, &mut room[self.head..end]);
                number += 1;
                filled += self.stride;
            }
            for receiver in &mut *receivers {
                receiver.write_all(&block[..filled])?;
            }
        }
        Ok(())
    }

    /// Takes so many messages.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn receive(self, mut from: impl Read, messages: u64) -> io::Result<Sink> {
        let mut sink = Sink::default();
        let mut room = vec![0; READ_BYTES.max(2 * self.stride)];
        let mut there = 0;
        while sink.count < messages {
            let count = from.read(&mut room[there..])?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            there += count;
            let mut done = 0;
            for message in room[..there].chunks_exact(self.stride) {
                let payload = &message[self.head..self.head + self.payload.bytes()];
                sink.take(self.payload.sum(payload));
                done += self.stride;
            }
            room.copy_within(done..there, 0);
            there -= done;
        }
        Ok(sink)
    }
}

/// As many connections as there are receivers, without delay.
///
/// # Errors
/// The system refuses.
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
        for wire in [Wire::writes(Payload::of(22)), Wire::blocks(Payload::of(22))] {
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
