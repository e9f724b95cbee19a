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

/// So much is copied sooner than the system looks at several parts.
const SMALL_BYTES: usize = 256;

/// What the pump is told of whenever it happens, and not again until it happens again: a sending
/// thread at work may keep it from looking at once.
const WATCHED_EVENTS: EventFlags = EventFlags::RDHUP.union(EventFlags::ET);

/// What a receiver connects.
pub(crate) struct ConnectionPair {
    /// Where frames go to it.
    pub(crate) frames: TcpStream,
    /// Where credit comes from it.
    pub(crate) credit: TcpStream,
}

/// A receiver that is connected, as its sender sees it.
pub(crate) struct ReceiverConnection {
    pub(crate) frames: Arc<TcpStream>,
    pub(crate) credit: Arc<TcpStream>,
    credit_reader: CreditReader,
    registration: Registration,
    watched_events: (EventFlags, EventFlags),
}

impl ReceiverConnection {
    /// For a receiver that has released everything up to a position.
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

    /// How far the receiver had released when it was last heard.
    pub(crate) fn released(&self) -> u64 {
        self.credit_reader.released()
    }

    /// Hears how far it is, of a stream that was sent up to a position. `true`: further.
    ///
    /// # Errors
    /// The receiver or the connection is gone.
    pub(crate) fn read_credit(&mut self, sent: u64) -> std::result::Result<bool, ConnectionEnd> {
        self.credit_reader.read_credit(&self.credit, sent)
    }

    /// Whether the connection for frames is still there; its receiver says nothing on it.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn check_frames_socket(&self) -> std::result::Result<(), ConnectionEnd> {
        let why = match rustix::net::recv(&*self.frames, &mut [0; 8], RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => error.to_string().to_lowercase(),
            Ok((0, _)) => "its connection has ended".to_owned(),
            Ok(_) => "it has said something where frames go".to_owned(),
        };
        Err(ConnectionEnd::Broken(why))
    }

    /// Why a write has failed: the receiver's last word says more than the system does.
    pub(crate) fn end_after_failed_write(&mut self, error: Errno, sent: u64) -> ConnectionEnd {
        let said = self.read_credit(sent).err();
        said.unwrap_or_else(|| ConnectionEnd::Broken(error.to_string().to_lowercase()))
    }

    /// Tells the pump what to look out for, beside the end: room for frames, and credit.
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

/// The parts, one after the other.
fn copy_parts(mut room: &mut [u8], parts: &[&[u8]]) {
    for part in parts {
        let (here, rest) = room.split_at_mut(part.len());
        here.copy_from_slice(part);
        room = rest;
    }
}
