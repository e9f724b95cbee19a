//! Connecting: a receiver makes its two connections to a sender, without blocking.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};

use super::acknowledge;
use super::handshake::{
    ConnectionPurpose, HANDSHAKE_BYTES, Handshake, HandshakeReply, HandshakeVerdict, REPLY_BYTES,
};
use super::receiver_connection::ConnectionPair;
use super::sender_address::SenderAddress;
use crate::{Error, PeerLoss};

/// Most time that the first two connections may take: a sender under load may be slow to accept.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes the two connections of a receiver, one after the other.
pub(crate) struct EdgeConnector {
    address: SenderAddress,
    handshake: Handshake,
    /// The connection being made; `None`: both are made.
    attempt: Option<ConnectionAttempt>,
    /// The first connection, the one for credit, once it is made.
    credit: Option<TcpStream>,
}

/// One connection being made.
struct ConnectionAttempt {
    stream: TcpStream,
    handshake: [u8; HANDSHAKE_BYTES],
    handshake_sent_bytes: usize,
    reply: [u8; REPLY_BYTES],
    reply_read_bytes: usize,
}

/// Result of an attempt to connect.
pub(crate) enum EdgeConnectOutcome {
    /// Both connections are made, and frames follow.
    Connected(ConnectionPair, HandshakeReply),
    /// The sender has refused the receiver, for this reason.
    Refused(String),
}

impl EdgeConnector {
    /// Begins to connect to the sender.
    ///
    /// # Errors
    /// The system has no socket left, or the address cannot be reached.
    pub(crate) fn start(address: SenderAddress, handshake: Handshake) -> io::Result<EdgeConnector> {
        let credit = Handshake {
            purpose: ConnectionPurpose::Credit,
            ..handshake
        };
        Ok(EdgeConnector {
            address,
            handshake,
            attempt: Some(ConnectionAttempt::start(address, credit)?),
            credit: None,
        })
    }

    /// Goes on as far as possible without waiting. `None`: there is more to wait for.
    pub(crate) fn step(&mut self) -> io::Result<Option<EdgeConnectOutcome>> {
        while let Some(attempt) = &mut self.attempt {
            let reply = match attempt.step()? {
                None => return Ok(None),
                Some(HandshakeVerdict::Refused(why)) => {
                    return Ok(Some(EdgeConnectOutcome::Refused(why)));
                }
                Some(HandshakeVerdict::Accepted(reply)) => reply,
            };
            attempt.stream.set_nodelay(true)?;
            let stream = self.attempt.take().map(|attempt| attempt.stream);
            match (self.credit.take(), stream) {
                (Some(credit), Some(frames)) => {
                    acknowledge::disable_quickack(&frames);
                    return Ok(Some(EdgeConnectOutcome::Connected(
                        ConnectionPair { frames, credit },
                        reply,
                    )));
                }
                (_, stream) => self.credit = stream,
            }
            let frames = Handshake {
                purpose: ConnectionPurpose::Frames,
                ..self.handshake
            };
            self.attempt = Some(ConnectionAttempt::start(self.address, frames)?);
        }
        Err(io::ErrorKind::NotConnected.into())
    }

    /// The stream that it waits for; `true`: for room to write, else for bytes to read.
    pub(crate) fn awaited_stream(&self) -> Option<(&TcpStream, bool)> {
        let attempt = self.attempt.as_ref()?;
        Some((
            &attempt.stream,
            attempt.handshake_sent_bytes < HANDSHAKE_BYTES,
        ))
    }

    /// Blocks until both connections are made, at most until `until`.
    fn finish(mut self, until: Instant) -> io::Result<EdgeConnectOutcome> {
        loop {
            if let Some(outcome) = self.step()? {
                return Ok(outcome);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let Some((stream, writes)) = self.awaited_stream() else {
                continue;
            };
            let flags = match writes {
                true => PollFlags::OUT,
                false => PollFlags::IN,
            };
            let left = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(stream, flags)], left.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Begins to connect a non-blocking socket.
///
/// # Errors
/// The system has no socket left, or the address cannot be reached.
pub(crate) fn begin_connect(to: SenderAddress) -> io::Result<TcpStream> {
    let socket = to.socket()?;
    // An interrupted connect goes on by itself.
    match retry_on_intr(|| rustix::net::connect(&socket, &to.address)) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::ALREADY | Errno::ISCONN) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

impl ConnectionAttempt {
    fn start(address: SenderAddress, handshake: Handshake) -> io::Result<ConnectionAttempt> {
        Ok(ConnectionAttempt {
            stream: begin_connect(address)?,
            handshake: handshake.to_bytes(),
            handshake_sent_bytes: 0,
            reply: [0; REPLY_BYTES],
            reply_read_bytes: 0,
        })
    }

    fn step(&mut self) -> io::Result<Option<HandshakeVerdict>> {
        match self.write_handshake().and_then(|()| self.read_reply()) {
            // A process that gives no valid reply is not the sender.
            Ok(()) => Ok(Some(
                HandshakeVerdict::from_bytes(&self.reply).unwrap_or_else(HandshakeVerdict::Refused),
            )),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write_handshake(&mut self) -> io::Result<()> {
        while self.handshake_sent_bytes < HANDSHAKE_BYTES {
            // Writing to a socket that is still connecting would block.
            match self
                .stream
                .write(&self.handshake[self.handshake_sent_bytes..])
            {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => self.handshake_sent_bytes += written?,
            }
        }
        Ok(())
    }

    fn read_reply(&mut self) -> io::Result<()> {
        while self.reply_read_bytes < REPLY_BYTES {
            match self.stream.read(&mut self.reply[self.reply_read_bytes..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => self.reply_read_bytes += read?,
            }
        }
        Ok(())
    }
}

/// Connects for the first time, and blocks until the sender has accepted the receiver.
pub(crate) fn connect_blocking(
    address: SenderAddress,
    handshake: Handshake,
) -> io::Result<EdgeConnectOutcome> {
    connect_within(address, handshake, CONNECT_TIMEOUT)
}

/// Connects like [`connect_blocking`], within this time.
pub(crate) fn connect_within(
    address: SenderAddress,
    handshake: Handshake,
    timeout: Duration,
) -> io::Result<EdgeConnectOutcome> {
    EdgeConnector::start(address, handshake)?.finish(Instant::now() + timeout)
}

/// Turns the result of the first attempt into that of `accept`.
pub(crate) fn connect_result(
    name: &str,
    address: SocketAddr,
    result: io::Result<EdgeConnectOutcome>,
) -> Result<(ConnectionPair, HandshakeReply), Error> {
    let error = match result {
        Ok(EdgeConnectOutcome::Connected(pair, reply)) => return Ok((pair, reply)),
        Ok(EdgeConnectOutcome::Refused(why)) => {
            return Err(Error::Refused(format!("{name}: {why}")));
        }
        Err(error) => error,
    };
    let why = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("{name}: nobody listens on {address} any more")
        }
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => {
            format!("{name}: {address} went away before it had let us in")
        }
        _ => {
            let tried = format!("connect to the sender of {name} at {address}");
            return Err(Error::system(tried, error));
        }
    };
    let receiver = None;
    Err(Error::PeerLost(PeerLoss {
        receiver,
        reason: why,
    }))
}
