//! The connections between a sender and one receiver.

use std::io::IoSlice;
use std::net::TcpStream;
use std::sync::Arc;

use rustix::event::epoll::EventFlags;
use rustix::io::{Errno, Result};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};

use super::acknowledge;
use super::credit::{ConnectionEnd, CreditReader};
use super::io_thread::Registration;

/// Most bytes that are copied into one buffer for a write: copying them costs less than handing the
/// system several parts.
const SMALL_BYTES: usize = 256;

/// Events that the IO thread always watches, each reported once until it happens again: a busy
/// sending thread may keep the IO thread from looking at once.
const WATCHED_EVENTS: EventFlags = EventFlags::RDHUP.union(EventFlags::ET);

/// The two connections of a receiver.
pub(crate) struct ConnectionPair {
    /// Connection that carries frames to the receiver.
    pub(crate) frames: TcpStream,
    /// Connection that carries credit from the receiver.
    pub(crate) credit: TcpStream,
}

/// A connected receiver, as its sender sees it.
pub(crate) struct ReceiverConnection {
    pub(crate) frames: Arc<TcpStream>,
    pub(crate) credit: Arc<TcpStream>,
    credit_reader: CreditReader,
    registration: Registration,
    watched_events: (EventFlags, EventFlags),
}

impl ReceiverConnection {
    /// A receiver that has released everything up to the position `released`.
    pub(crate) fn new(
        pair: ConnectionPair,
        released: u64,
        registration: Registration,
    ) -> ReceiverConnection {
        let watched = (WATCHED_EVENTS, WATCHED_EVENTS);
        acknowledge::enable_quickack(&pair.credit);
        registration.change_watch(&pair.frames, watched.0);
        registration.change_watch(&pair.credit, watched.1);
        ReceiverConnection {
            frames: Arc::new(pair.frames),
            credit: Arc::new(pair.credit),
            credit_reader: CreditReader::new(released),
            registration,
            watched_events: watched,
        }
    }

    /// A rail of a receiver, like [`ReceiverConnection::new`].
    pub(crate) fn of_rail(
        pair: ConnectionPair,
        released: u64,
        registration: Registration,
    ) -> ReceiverConnection {
        let mut connection = ReceiverConnection::new(pair, released, registration);
        connection.credit_reader = CreditReader::of_rail(released);
        connection
    }

    /// Number of batches that the receiver has reported on this rail.
    pub(crate) fn received_batches(&self) -> u64 {
        self.credit_reader.batches()
    }

    /// Position that the receiver reported last.
    pub(crate) fn released(&self) -> u64 {
        self.credit_reader.released()
    }

    /// Reads the receiver's credit, of a stream that was sent up to position `sent`. `true`: it has
    /// released more.
    pub(crate) fn read_credit(&mut self, sent: u64) -> std::result::Result<bool, ConnectionEnd> {
        self.credit_reader.read_credit(&self.credit, sent)
    }

    /// Checks that the connection for frames still exists; its receiver sends nothing on it.
    ///
    /// # Errors
    /// The connection has ended, in the way that the error says.
    pub(crate) fn check_frames_socket(&self) -> std::result::Result<(), ConnectionEnd> {
        let why = match rustix::net::recv(&*self.frames, &mut [0; 8], RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => error.to_string().to_lowercase(),
            Ok((0, _)) => "its connection has ended".to_owned(),
            Ok(_) => "it has said something where frames go".to_owned(),
        };
        Err(ConnectionEnd::Broken(why))
    }

    /// The reason for a failed write: the receiver's last report says more than the system does.
    pub(crate) fn end_after_failed_write(&mut self, error: Errno, sent: u64) -> ConnectionEnd {
        let reported = self.read_credit(sent).err();
        reported.unwrap_or_else(|| ConnectionEnd::Broken(error.to_string().to_lowercase()))
    }

    /// Has the IO thread watch for room for frames and for credit, beside the end of the
    /// connections.
    pub(crate) fn set_watched_events(&mut self, is_room_wanted: bool, is_credit_wanted: bool) {
        let flags = |is_wanted, what| match is_wanted {
            true => WATCHED_EVENTS | what,
            false => WATCHED_EVENTS,
        };
        let wanted = (
            flags(is_room_wanted, EventFlags::OUT),
            flags(is_credit_wanted, EventFlags::IN),
        );
        if wanted.0 != self.watched_events.0 {
            self.registration.change_watch(&self.frames, wanted.0);
        }
        if wanted.1 != self.watched_events.1 {
            self.registration.change_watch(&self.credit, wanted.1);
        }
        self.watched_events = wanted;
    }
}

#[cfg(test)]
impl ReceiverConnection {
    /// Whether the IO thread watches for room for frames.
    pub(crate) fn is_room_watched(&self) -> bool {
        self.watched_events.0.contains(EventFlags::OUT)
    }
}

impl Drop for ReceiverConnection {
    /// The sending thread may still hold the sockets, so that closing them is not enough.
    fn drop(&mut self) {
        self.registration.unwatch_fd(&self.frames);
        self.registration.unwatch_fd(&self.credit);
    }
}

/// Writes what the socket takes of the parts, one after the other; 0: nothing now.
pub(crate) fn write_parts<const N: usize>(stream: &TcpStream, parts: [&[u8]; N]) -> Result<usize> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let bytes = parts.iter().map(|part| part.len()).sum();
    let mut small = [0; SMALL_BYTES];
    loop {
        let written = if let [bytes] = parts[..] {
            rustix::net::send(stream, bytes, flags)
        } else if let Some(small) = small.get_mut(..bytes) {
            copy_parts(small, &parts);
            rustix::net::send(stream, small, flags)
        } else {
            let parts = parts.map(IoSlice::new);
            rustix::net::sendmsg(stream, &parts, &mut SendAncillaryBuffer::default(), flags)
        };
        match written {
            Err(Errno::AGAIN) => return Ok(0),
            Err(Errno::INTR) => {}
            written => return written,
        }
    }
}

/// Copies the parts into `room`, one after the other.
fn copy_parts(mut room: &mut [u8], parts: &[&[u8]]) {
    for part in parts {
        let (here, rest) = room.split_at_mut(part.len());
        here.copy_from_slice(part);
        room = rest;
    }
}
