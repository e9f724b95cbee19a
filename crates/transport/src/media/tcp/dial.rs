//! Dialling: a receiver makes its two connections, without waiting for them.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};

use super::acknowledge;
use super::hello::{ANSWER_BYTES, Answer, HELLO_BYTES, Hello, Way, Welcome};
use super::line::Pair;
use crate::{Error, Loss};

/// So long the first connections may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connections under way.
pub(crate) struct Dial {
    address: SocketAddr,
    hello: Hello,
    /// The connection under way; `None`: both are made.
    call: Option<Call>,
    /// The first connection, once it is made.
    credit: Option<TcpStream>,
}

/// One connection under way.
struct Call {
    stream: TcpStream,
    hello: [u8; HELLO_BYTES],
    said: usize,
    answer: [u8; ANSWER_BYTES],
    heard: usize,
}

/// What came of it.
pub(crate) enum Dialled {
    /// Frames follow.
    Connected(Pair, Welcome),
    /// The sender does not want us: why.
    Refused(String),
}

impl Dial {
    /// Begins to connect.
    pub(crate) fn start(address: SocketAddr, hello: Hello) -> io::Result<Dial> {
        let credit = Hello {
            way: Way::Credit,
            ..hello
        };
        Ok(Dial {
            address,
            hello,
            call: Some(Call::start(address, credit)?),
            credit: None,
        })
    }

    /// Goes on as far as it goes. `None`: there is more to wait for.
    ///
    /// # Errors
    /// A connection could not be made or has broken.
    pub(crate) fn step(&mut self) -> io::Result<Option<Dialled>> {
        while let Some(call) = &mut self.call {
            let welcome = match call.step()? {
                None => return Ok(None),
                Some(Answer::Refused(why)) => return Ok(Some(Dialled::Refused(why))),
                Some(Answer::Welcome(welcome)) => welcome,
            };
            call.stream.set_nodelay(true)?;
            let made = self.call.take().map(|call| call.stream);
            match (self.credit.take(), made) {
                (Some(credit), Some(frames)) => {
                    acknowledge::later(&frames);
                    return Ok(Some(Dialled::Connected(Pair { frames, credit }, welcome)));
                }
                (_, made) => self.credit = made,
            }
            let frames = Hello {
                way: Way::Frames,
                ..self.hello
            };
            self.call = Some(Call::start(self.address, frames)?);
        }
        Err(io::ErrorKind::NotConnected.into())
    }

    /// What it waits for, and whether for room to write.
    pub(crate) fn waits_for(&self) -> Option<(&TcpStream, bool)> {
        let call = self.call.as_ref()?;
        Some((&call.stream, call.said < HELLO_BYTES))
    }

    /// Waits until it is made, for a while.
    fn finish(mut self, until: Instant) -> io::Result<Dialled> {
        loop {
            if let Some(dialled) = self.step()? {
                return Ok(dialled);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let Some((stream, writes)) = self.waits_for() else {
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
pub(crate) fn begin(address: SocketAddr) -> io::Result<TcpStream> {
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

impl Call {
    fn start(address: SocketAddr, hello: Hello) -> io::Result<Call> {
        Ok(Call {
            stream: begin(address)?,
            hello: hello.to_bytes(),
            said: 0,
            answer: [0; ANSWER_BYTES],
            heard: 0,
        })
    }

    fn step(&mut self) -> io::Result<Option<Answer>> {
        match self.say().and_then(|()| self.hear()) {
            // Whoever gives no sensible answer is not the sender.
            Ok(()) => Ok(Some(
                Answer::from_bytes(&self.answer).unwrap_or_else(Answer::Refused),
            )),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn say(&mut self) -> io::Result<()> {
        while self.said < HELLO_BYTES {
            // A socket that is still connecting would block.
            match self.stream.write(&self.hello[self.said..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => self.said += written?,
            }
        }
        Ok(())
    }

    fn hear(&mut self) -> io::Result<()> {
        while self.heard < ANSWER_BYTES {
            match self.stream.read(&mut self.answer[self.heard..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => self.heard += read?,
            }
        }
        Ok(())
    }
}

/// Connects for the first time, and waits until the sender has let us in.
///
/// # Errors
/// A connection could not be made or has broken.
pub(crate) fn call(address: SocketAddr, hello: Hello) -> io::Result<Dialled> {
    Dial::start(address, hello)?.finish(Instant::now() + PATIENCE)
}

/// What came of the first call.
///
/// # Errors
/// The sender is gone, cannot be reached, or refuses.
pub(crate) fn outcome(
    name: &str,
    address: SocketAddr,
    called: io::Result<Dialled>,
) -> Result<(Pair, Welcome), Error> {
    let error = match called {
        Ok(Dialled::Connected(pair, welcome)) => return Ok((pair, welcome)),
        Ok(Dialled::Refused(why)) => return Err(Error::Refused(format!("{name}: {why}"))),
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
    Err(Error::Lost(Loss { receiver, why }))
}
