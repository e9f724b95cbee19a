//! A bare socket with one write per message. Calls do not block, so a thread may spin or sleep
//! while it waits.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use transport::Waitable;

use super::trip_stages::{SendMessage, TakeMessage};
use crate::Error;
use crate::backoff::Backoff;

/// The sending end of a connection.
pub struct TcpTripSender(TcpStream);

/// The receiving end of a connection.
pub struct TcpTripReceiver {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Bytes of the next message that have arrived.
    buffered_bytes: usize,
}

/// Both ends of a connection that one process has, for messages of `bytes` bytes.
///
/// # Errors
/// The system refuses an option, or a descriptor for the second end.
pub fn split_ends(
    stream: &TcpStream,
    bytes: usize,
) -> std::io::Result<(TcpTripSender, TcpTripReceiver)> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let receiver = TcpTripReceiver {
        stream: stream.try_clone()?,
        buffer: vec![0; bytes],
        buffered_bytes: 0,
    };
    Ok((TcpTripSender(stream.try_clone()?), receiver))
}

impl SendMessage for TcpTripSender {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let (mut rest, mut backoff) = (message, Backoff::default());
        while !rest.is_empty() {
            match self.0.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => backoff.wait(),
                Err(error) => return Err(Error::system("send by a bare socket", error)),
            }
        }
        Ok(())
    }
}

impl TakeMessage for TcpTripReceiver {
    fn try_take(&mut self, message: &mut [u8]) -> Result<bool, Error> {
        while self.buffered_bytes < self.buffer.len() {
            match self.stream.read(&mut self.buffer[self.buffered_bytes..]) {
                Ok(0) => return Err(Error::new("the other side of a bare socket has gone")),
                Ok(count) => self.buffered_bytes += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(Error::system("receive by a bare socket", error)),
            }
        }
        self.buffered_bytes = 0;
        message.copy_from_slice(&self.buffer);
        Ok(true)
    }
}

impl Waitable for TcpTripReceiver {
    fn arm(&mut self) -> Result<bool, transport::Error> {
        // Whatever has come since the last look makes it readable.
        Ok(true)
    }

    fn disarm(&mut self) {}

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        readable.push(self.stream.as_fd());
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use transport::IdleStrategy;

    use super::super::trip_stages::tests::gets_through;
    use super::*;

    #[test]
    fn messages_get_through_whoever_sleeps() {
        for idle in [
            IdleStrategy::Yield,
            IdleStrategy::Park,
            IdleStrategy::Adaptive,
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (far, _) = listener.accept().unwrap();
            let (there, back) = split_ends(&near, 30).unwrap();
            let (returned, forward) = split_ends(&far, 30).unwrap();
            gets_through(there, forward, idle);
            gets_through(returned, back, idle);
        }
    }

    #[test]
    fn who_has_gone_is_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_, mut back) = split_ends(&near, 8).unwrap();
        drop(listener.accept().unwrap());
        let mut message = [0; 8];
        let gone = loop {
            match back.try_take(&mut message) {
                Ok(_) => std::thread::yield_now(),
                Err(error) => break error.to_string(),
            }
        };
        assert!(gone.contains("has gone"), "{gone}");
    }
}
