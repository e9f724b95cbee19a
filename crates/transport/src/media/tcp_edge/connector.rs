//! Dialling: a receiver makes its two connections, without waiting for them.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};

use super::acknowledge;
use super::handshake::{
    ConnectionPurpose, HANDSHAKE_BYTES, Handshake, HandshakeReply, HandshakeVerdict, REPLY_BYTES,
};
use super::receiver_connection::ConnectionPair;
use crate::{Error, PeerLoss};

/// So long the first connections may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections under way.
pub(crate) struct EdgeConnector {
    address: SocketAddr,
    handshake: Handshake,
    /// The connection under way; `None`: both are made.
    attempt: Option<ConnectionAttempt>,
    /// The first connection, once it is made.
    credit: Option<TcpStream>,
}

/// One connection under way.
struct ConnectionAttempt {
    stream: TcpStream,
    handshake: [u8; HANDSHAKE_BYTES],
    handshake_sent_bytes: usize,
    reply: [u8; REPLY_BYTES],
    reply_read_bytes: usize,
}

/// What came of it.
pub(crate) enum EdgeConnectOutcome {
    /// Frames follow.
    Connected(ConnectionPair, HandshakeReply),
    /// The sender does not want us: why.
    Refused(String),
}

impl EdgeConnector {
    /// Begins to connect.
    pub(crate) fn start(address: SocketAddr, handshake: Handshake) -> io::Result<EdgeConnector> {
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

    /// Goes on as far as it goes. `None`: there is more to wait for.
    ///
    /// # Errors
    /// A connection could not be made or has broken.
    pub(crate) fn step(&mut self) -> io::Result<Option<EdgeConnectOutcome>> {
        while let Some(call) = &mut self.attempt {
            let welcome = match call.step()? {
                None => return Ok(None),
                Some(HandshakeVerdict::Refused(why)) => {
                    return Ok(Some(EdgeConnectOutcome::Refused(why)));
                }
                Some(HandshakeVerdict::Accepted(welcome)) => welcome,
            };
            call.stream.set_nodelay(true)?;
            let made = self.attempt.take().map(|call| call.stream);
            match (self.credit.take(), made) {
                (Some(credit), Some(frames)) => {
                    acknowledge::disable_quickack(&frames);
                    return Ok(Some(EdgeConnectOutcome::Connected(
                        ConnectionPair { frames, credit },
                        welcome,
                    )));
                }
                (_, made) => self.credit = made,
            }
            let frames = Handshake {
                purpose: ConnectionPurpose::Frames,
                ..self.handshake
            };
            self.attempt = Some(ConnectionAttempt::start(self.address, frames)?);
        }
        Err(io::ErrorKind::NotConnected.into())
    }

    /// What it waits for, and whether for room to write.
    pub(crate) fn awaited_stream(&self) -> Option<(&TcpStream, bool)> {
        let call = self.attempt.as_ref()?;
        Some((&call.stream, call.handshake_sent_bytes < HANDSHAKE_BYTES))
    }

    /// Waits until it is made, for a while.
    fn finish(mut self, until: Instant) -> io::Result<EdgeConnectOutcome> {
        loop {
            if let Some(dialled) = self.step()? {
                return Ok(dialled);
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

/// Begins to connect.
pub(crate) fn begin_connect(address: SocketAddr) -> io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let kind = SocketType::STREAM;
    let socket = rustix::net::socket_with(family, kind, flags, Some(ipproto::TCP))?;
    // One that was interrupted goes on by itself.
    match retry_on_intr(|| rustix::net::connect(&socket, &address)) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::ALREADY | Errno::ISCONN) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

impl ConnectionAttempt {
    fn start(address: SocketAddr, handshake: Handshake) -> io::Result<ConnectionAttempt> {
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
            // Whoever gives no sensible answer is not the sender.
            Ok(()) => Ok(Some(
                HandshakeVerdict::from_bytes(&self.reply).unwrap_or_else(HandshakeVerdict::Refused),
            )),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write_handshake(&mut self) -> io::Result<()> {
        while self.handshake_sent_bytes < HANDSHAKE_BYTES {
            // A socket that is still connecting would block.
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

/// Connects for the first time, and waits until the sender has let us in.
///
/// # Errors
/// A connection could not be made or has broken.
pub(crate) fn connect_blocking(
    address: SocketAddr,
    handshake: Handshake,
) -> io::Result<EdgeConnectOutcome> {
    EdgeConnector::start(address, handshake)?.finish(Instant::now() + CONNECT_TIMEOUT)
}

/// What came of the first call.
///
/// # Errors
/// The sender is gone, cannot be reached, or refuses.
pub(crate) fn connect_result(
    name: &str,
    address: SocketAddr,
    called: io::Result<EdgeConnectOutcome>,
) -> Result<(ConnectionPair, HandshakeReply), Error> {
    let error = match called {
        Ok(EdgeConnectOutcome::Connected(pair, welcome)) => return Ok((pair, welcome)),
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
