//! Framed messages over a stream socket; over a Unix socket they carry descriptors.
//!
//! ```text
//!   0         4         8
//!   +---------+---------+----------------- ... -+
//!   | len u32 | fds u32 | len bytes of JSON     |
//!   +---------+---------+----------------- ... -+
//! ```
//! Both sides are the same binary on machines of one kind, so numbers have native byte order. The
//! descriptors travel with the first bytes of their message: they arrive no later than the message
//! and in its order.
//!
//! # Invariants
//! A message has at most [`MESSAGE_BYTES_MAX`] bytes and carries at most [`MESSAGE_FDS_MAX`]
//! descriptors. The receive buffer grows with the bytes that have arrived, not with the length in a
//! header.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, recvmsg, sendmsg, shutdown,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of the longest message: a bundle with the sources of a very large program.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Number of descriptors that a message carries at most; a medium needs a few.
pub const MESSAGE_FDS_MAX: usize = 16;

const HEADER_BYTES: usize = 8;

/// Bytes that one read of the socket takes at most; a longer message takes several reads.
const READ_BYTES: usize = 64 << 10;

/// An encoded message; several connections can send the same one.
pub type EncodedMessage = Arc<[u8]>;

/// The receiving half of a control connection.
pub struct ControlReceiver {
    socket: Arc<OwnedFd>,
    /// Bytes received and not yet decoded; they begin with a header.
    bytes: Vec<u8>,
    fds: VecDeque<OwnedFd>,
}

/// The sending half of a control connection.
pub struct ControlSender {
    socket: Arc<OwnedFd>,
    queue: VecDeque<OutgoingMessage>,
    /// When the kernel first had no memory for the next message; `None` while it has.
    starved_since: Option<Instant>,
    is_closed: bool,
}

struct OutgoingMessage {
    bytes: EncodedMessage,
    /// Number of bytes already sent.
    sent_bytes: usize,
    /// Descriptors, sent with the first byte; empty once sent.
    fds: Vec<OwnedFd>,
}

/// Result of one read from the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlReadResult {
    /// The read added at least one byte.
    Received,
    /// No bytes are available now.
    WouldBlock,
    /// The other side has closed the connection, and all its bytes are read.
    Closed,
}

/// Splits a control connection into its two halves.
pub fn split_connection(socket: impl Into<OwnedFd>) -> (ControlReceiver, ControlSender) {
    let socket = Arc::new(socket.into());
    let receiver = ControlReceiver {
        socket: socket.clone(),
        bytes: Vec::new(),
        fds: VecDeque::new(),
    };
    let sender = ControlSender {
        socket,
        queue: VecDeque::new(),
        starved_since: None,
        is_closed: false,
    };
    (receiver, sender)
}

/// Encodes a message that will carry `fds` descriptors.
///
/// # Errors
/// The message or the number of descriptors exceeds its bound.
pub fn encode_message(message: &impl Serialize, fds: usize) -> io::Result<EncodedMessage> {
    let mut bytes = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut bytes, message)?;
    let len = bytes.len() - HEADER_BYTES;
    if len > MESSAGE_BYTES_MAX || fds > MESSAGE_FDS_MAX {
        let what = format!("a message of {len} bytes and {fds} descriptors is too large");
        return Err(io::Error::new(ErrorKind::InvalidInput, what));
    }
    bytes[..4].copy_from_slice(&(len as u32).to_ne_bytes());
    bytes[4..8].copy_from_slice(&(fds as u32).to_ne_bytes());
    Ok(bytes.into())
}

impl ControlReceiver {
    /// Decodes the next message and its descriptors; `None` if it has not arrived whole.
    ///
    /// # Errors
    /// The bytes are no message of type `M`, or exceed a bound.
    pub fn try_recv<M: DeserializeOwned>(&mut self) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
        let Some((header, rest)) = self.bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| header[at + i])) as usize;
        let (len, count) = (word(0), word(4));
        if len > MESSAGE_BYTES_MAX || count > MESSAGE_FDS_MAX {
            return Err(protocol_error(format!(
                "a message of {len} bytes and {count} descriptors: too large"
            )));
        }
        let Some(body) = rest.get(..len) else {
            return Ok(None);
        };
        if self.fds.len() < count {
            return Err(protocol_error(
                "a message without its descriptors".to_owned(),
            ));
        }
        let message = serde_json::from_slice(body)
            .map_err(|error| protocol_error(format!("what is no message: {error}")))?;
        self.bytes.drain(..HEADER_BYTES + len);
        Ok(Some((message, self.fds.drain(..count).collect())))
    }

    /// Reads from the socket once, into the receive buffer.
    ///
    /// # Errors
    /// The read fails, or descriptors were lost because this process has too many open.
    pub fn fill_buffer(&mut self) -> io::Result<ControlReadResult> {
        let start = self.bytes.len();
        self.bytes.resize(start + READ_BYTES, 0);
        let received = self.read_socket(start);
        let count = *received.as_ref().unwrap_or(&0);
        self.bytes.truncate(start + count);
        match received {
            Ok(0) => Ok(ControlReadResult::Closed),
            Ok(_) => Ok(ControlReadResult::Received),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => Ok(ControlReadResult::WouldBlock),
                _ => Err(error),
            },
        }
    }

    /// Waits for the next message, on a blocking socket; `None` if the other side has closed the
    /// connection.
    ///
    /// # Errors
    /// The socket cannot be read, or the other side sent something that is no message: see
    /// [`ControlReceiver::try_recv`] and [`ControlReceiver::fill_buffer`].
    pub fn recv<M: DeserializeOwned>(&mut self) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
        loop {
            if let Some(message) = self.try_recv()? {
                return Ok(Some(message));
            }
            if self.fill_buffer()? == ControlReadResult::Closed {
                return Ok(None);
            }
        }
    }

    fn read_socket(&mut self, start: usize) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_FDS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut buffer = [IoSliceMut::new(&mut self.bytes[start..])];
        let received = with_retries(|| {
            recvmsg(
                &*self.socket,
                &mut buffer,
                &mut control,
                RecvFlags::CMSG_CLOEXEC,
            )
        })?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.fds.extend(fds);
            }
        }
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(io::Error::other("descriptors were lost: too many are open"));
        }
        Ok(received.bytes)
    }
}

impl ControlSender {
    /// Encodes a message and appends it to the send queue.
    ///
    /// # Errors
    /// The message exceeds a bound of this module.
    pub fn push(&mut self, message: &impl Serialize, fds: Vec<OwnedFd>) -> io::Result<()> {
        let bytes = encode_message(message, fds.len())?;
        self.push_encoded(bytes, fds);
        Ok(())
    }

    /// Appends an encoded message to the send queue; `fds` has as many descriptors as it was
    /// encoded with.
    pub fn push_encoded(&mut self, bytes: EncodedMessage, fds: Vec<OwnedFd>) {
        if !self.is_closed {
            self.queue.push_back(OutgoingMessage {
                bytes,
                sent_bytes: 0,
                fds,
            });
        }
    }

    /// Sends as much of the queue as the socket takes, without waiting; returns whether the queue
    /// is empty.
    ///
    /// # Errors
    /// The other side has closed its end, the send fails, or the kernel had no memory for
    /// [`RETRY_TIMEOUT`].
    pub fn flush(&mut self) -> io::Result<bool> {
        while let Some(message) = self.queue.front_mut() {
            let sent = message.send(self.socket.as_fd());
            if is_starved(&mut self.starved_since, &sent) {
                return Ok(false);
            }
            match sent {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            if message.sent_bytes == message.bytes.len() {
                self.queue.pop_front();
            }
        }
        Ok(true)
    }

    /// Closes the connection and drops unsent messages: the other side finds the end of the
    /// connection rather than a gap.
    pub fn close(&mut self) {
        self.queue.clear();
        self.starved_since = None;
        self.is_closed = true;
        // The other side may have closed the socket already.
        let _ = shutdown(&*self.socket, Shutdown::Both);
    }

    /// Whether the send queue has messages left.
    pub fn has_unsent(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Time after which to flush again, whether or not the socket is writable; `Some` while the
    /// kernel has no memory for the next message.
    pub fn retry_after(&self) -> Option<Duration> {
        self.starved_since.map(|_| RETRY_INTERVAL)
    }

    /// Sends a message and waits until the socket has taken it, on a blocking socket.
    ///
    /// # Errors
    /// The message is too long, or the socket cannot be written: see [`ControlSender::push`] and
    /// [`ControlSender::flush`].
    pub fn send(&mut self, message: &impl Serialize, fds: Vec<OwnedFd>) -> io::Result<()> {
        self.push(message, fds)?;
        while !self.flush()? {
            std::thread::sleep(RETRY_INTERVAL);
        }
        Ok(())
    }
}

impl AsFd for ControlReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl OutgoingMessage {
    fn send(&mut self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_FDS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = self.fds.iter().map(AsFd::as_fd).collect();
        if !fds.is_empty() {
            let fits = control.push(SendAncillaryMessage::ScmRights(&fds));
            debug_assert!(fits, "no more than MESSAGE_FDS_MAX");
        }
        let bytes = [IoSlice::new(&self.bytes[self.sent_bytes..])];
        let send = || sendmsg(socket, &bytes, &mut control, SendFlags::NOSIGNAL);
        self.sent_bytes += retry_on_intr(send)?;
        self.fds.clear();
        Ok(())
    }
}

/// How long a call is retried while the kernel has no memory for it; a longer shortage fails the
/// call.
const RETRY_TIMEOUT: Duration = Duration::from_secs(1);

/// Pause between two tries of a call for which the kernel had no memory.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// Whether to retry a call for which the kernel had no memory: until [`RETRY_TIMEOUT`] is over.
fn is_starved<T>(since: &mut Option<Instant>, called: &Result<T, Errno>) -> bool {
    match called {
        Err(Errno::NOBUFS | Errno::NOMEM) => {
            since.get_or_insert_with(Instant::now).elapsed() < RETRY_TIMEOUT
        }
        _ => {
            *since = None;
            false
        }
    }
}

/// Makes a call, and makes it again if a signal interrupted it or the kernel had no memory for it:
/// neither is an error of the connection.
///
/// # Errors
/// Every other error of the call.
pub fn with_retries<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut since = None;
    loop {
        let called = retry_on_intr(&mut call);
        if !is_starved(&mut since, &called) {
            return called;
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

fn protocol_error(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (
        (ControlReceiver, ControlSender),
        (ControlReceiver, ControlSender),
    ) {
        let (one, other) = UnixStream::pair().unwrap();
        (split_connection(one), split_connection(other))
    }

    fn file(text: &str) -> OwnedFd {
        let fd = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = std::fs::File::from(fd);
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        file.into()
    }

    fn text(fd: OwnedFd) -> String {
        let mut text = String::new();
        std::fs::File::from(fd).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn messages_come_whole_in_order_with_their_descriptors() {
        let ((_in, mut out), (mut inbox, _out)) = pair();
        let long = "x".repeat(3 * READ_BYTES);
        let sent = long.clone();
        let sender = std::thread::spawn(move || {
            out.send(&"one", vec![file("a"), file("b")]).unwrap();
            out.send(&sent, Vec::new()).unwrap();
            out.send(&"three", vec![file("c")]).unwrap();
        });
        let (message, fds) = inbox.recv::<String>().unwrap().unwrap();
        assert_eq!(message, "one");
        assert_eq!(fds.into_iter().map(text).collect::<Vec<_>>(), ["a", "b"]);
        let (message, fds) = inbox.recv::<String>().unwrap().unwrap();
        assert!(message == long && fds.is_empty());
        let (message, fds) = inbox.recv::<String>().unwrap().unwrap();
        assert_eq!((message.as_str(), fds.len()), ("three", 1));
        sender.join().unwrap();
        drop(_in);
        assert!(inbox.recv::<String>().unwrap().is_none());
    }

    #[test]
    fn a_socket_that_does_not_block_takes_what_it_can() {
        let ((_in, mut out), (mut inbox, _out)) = pair();
        rustix::io::ioctl_fionbio(&*out.socket, true).unwrap();
        rustix::io::ioctl_fionbio(&*inbox.socket, true).unwrap();
        assert_eq!(inbox.fill_buffer().unwrap(), ControlReadResult::WouldBlock);
        let long = "y".repeat(4 << 20);
        out.push(&long, vec![file("z")]).unwrap();
        let mut turns = 0;
        while !out.flush().unwrap() {
            turns += 1;
            while inbox.fill_buffer().unwrap() == ControlReadResult::Received {}
        }
        while inbox.fill_buffer().unwrap() == ControlReadResult::Received {}
        assert!(turns > 0 && !out.has_unsent());
        let (message, fds) = inbox.try_recv::<String>().unwrap().unwrap();
        assert!(message == long);
        assert_eq!(fds.into_iter().map(text).collect::<String>(), "z");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [
            &[0xff; 8][..],
            &[0, 0, 0, 0, 17, 0, 0, 0],
            &[2, 0, 0, 0, 0, 0, 0, 0, b'{', b'{'],
            &[2, 0, 0, 0, 1, 0, 0, 0, b'"', b'"'],
        ] {
            let (one, mut other) = UnixStream::pair().unwrap();
            let (mut inbox, _out) = split_connection(one);
            other.write_all(bytes).unwrap();
            let error = inbox.recv::<String>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
        }
    }

    #[test]
    fn what_says_nothing_of_the_other_side_is_tried_again() {
        for error in [Errno::INTR, Errno::NOBUFS, Errno::NOMEM] {
            let mut calls = [Err(error), Ok(7)].into_iter();
            assert_eq!(with_retries(|| calls.next().unwrap()), Ok(7), "{error}");
        }
        let mut calls = [Err::<(), _>(Errno::PIPE), Ok(())].into_iter();
        assert_eq!(with_retries(|| calls.next().unwrap()), Err(Errno::PIPE));
    }

    #[test]
    fn without_memory_a_call_is_made_again_for_a_while() {
        for error in [Errno::NOBUFS, Errno::NOMEM] {
            let mut since = None;
            assert!(is_starved::<()>(&mut since, &Err(error)));
            let long_ago = Instant::now().checked_sub(RETRY_TIMEOUT);
            assert!(since > long_ago && long_ago.is_some());
            assert!(!is_starved::<()>(&mut { long_ago }, &Err(error)));
            assert!(!is_starved(&mut since, &Ok(())) && since.is_none());
        }
        let ((_in, mut out), _other) = pair();
        out.push(&"", Vec::new()).unwrap();
        assert_eq!(out.retry_after(), None);
        out.starved_since = Some(Instant::now());
        assert_eq!(out.retry_after(), Some(RETRY_INTERVAL));
        assert!(out.flush().unwrap() && out.retry_after().is_none());
        out.starved_since = Some(Instant::now());
        out.close();
        assert_eq!(out.retry_after(), None, "nobody waits for that");
    }

    #[test]
    fn a_message_that_is_too_large_is_not_sent() {
        let fds = (0..=MESSAGE_FDS_MAX).map(|_| file("")).collect();
        let ((_in, mut out), _other) = pair();
        let error = out.send(&"", fds).unwrap_err();
        assert!(error.to_string().contains("17 descriptors"), "{error}");
        assert!(!out.has_unsent());
    }
}
