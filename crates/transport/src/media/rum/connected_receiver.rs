//! A connected receiver: batches go to it by one connection, or striped over rails.

use std::time::Instant;

use ring::RetainingReader;
use rustix::io::Result;

use super::batch_sender::{BatchSendCounts, BatchSender, BatchWriteMode, SendableFrames};
use super::rails::StripedSender;
use super::receiver_identity::ReceiverIdentity;
use crate::media::tcp_edge::credit::ConnectionEnd;
use crate::media::tcp_edge::receiver_connection::ReceiverConnection;

/// Sends batches to one connected receiver.
pub(super) enum ConnectedReceiver {
    /// Sends by one connection alone.
    Direct(Box<BatchSender>),
    /// Sends by one connection or more, each on a rail.
    Striped(Box<StripedSender>),
}

use ConnectedReceiver::{Direct, Striped};

impl ConnectedReceiver {
    /// The receiver as it introduced itself last.
    pub(super) fn peer(&self) -> ReceiverIdentity {
        match self {
            Direct(sender) => sender.peer,
            Striped(sender) => sender.last_peer(),
        }
    }

    /// The receiver as it introduced itself on each connection.
    pub(super) fn peers(&self) -> impl Iterator<Item = ReceiverIdentity> {
        let (direct, striped) = match self {
            Direct(sender) => (Some(sender.peer), None),
            Striped(sender) => (None, Some(sender.peers())),
        };
        direct.into_iter().chain(striped.into_iter().flatten())
    }

    /// Position that the receiver has released.
    pub(super) fn released(&self) -> u64 {
        match self {
            Direct(sender) => sender.connection.released(),
            Striped(sender) => sender.released(),
        }
    }

    /// Position up to which frames are sent.
    pub(super) fn cursor(&self) -> u64 {
        match self {
            Direct(sender) => sender.cursor(),
            Striped(sender) => sender.sent_to(),
        }
    }

    /// Whether frames were to be sent that no socket took.
    pub(super) fn is_blocked(&self) -> bool {
        match self {
            Direct(sender) => sender.is_blocked(),
            Striped(sender) => sender.is_blocked(),
        }
    }

    /// Bytes that wait until a write is worthwhile.
    pub(super) fn held_back_bytes(&self) -> usize {
        match self {
            Direct(sender) => sender.held_back_bytes(),
            Striped(_) => 0,
        }
    }

    /// Whether every frame up to an index is sent.
    pub(super) fn is_all_sent(&self, committed: u64) -> bool {
        match self {
            Direct(sender) => sender.is_all_sent(committed),
            Striped(sender) => sender.is_all_sent(committed),
        }
    }

    /// Whether a frame up to an index is unsent and may be taken.
    pub(super) fn has_sendable(&self, committed: u64) -> bool {
        !self.is_all_sent(committed) && !self.is_blocked()
    }

    /// Whether the receiver has released every frame that is sent.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Direct(sender) => sender.is_idle(),
            Striped(sender) => sender.is_idle(),
        }
    }

    /// Whether the receiver has released every frame before the last batch.
    pub(super) fn is_nearly_idle(&self) -> bool {
        match self {
            Direct(sender) => sender.is_nearly_idle(),
            Striped(sender) => sender.is_nearly_idle(),
        }
    }

    /// Whether the receiver was told that nothing follows.
    pub(super) fn has_sent_goodbye(&self) -> bool {
        match self {
            Direct(sender) => sender.has_sent_goodbye(),
            Striped(sender) => sender.has_sent_goodbye(),
        }
    }

    /// Reads the receiver's credit. `true`: it has released more.
    pub(super) fn read_credit(&mut self) -> std::result::Result<bool, ConnectionEnd> {
        match self {
            Direct(sender) => sender.read_credit(),
            Striped(sender) => sender.read_credit(),
        }
    }

    /// Checks that connections for frames still exist.
    pub(super) fn check_frames_sockets(&mut self) -> std::result::Result<(), ConnectionEnd> {
        match self {
            Direct(sender) => sender.connection.check_frames_socket(),
            Striped(sender) => sender.check_frames_sockets(),
        }
    }

    /// Sends committed frames, as far as sockets take them and the mode lets them.
    pub(super) fn send(
        &mut self,
        source: &SendableFrames<'_>,
        mode: BatchWriteMode,
    ) -> Result<BatchSendCounts> {
        match self {
            Direct(sender) => sender.send(source, mode),
            Striped(sender) => sender.send(source),
        }
    }

    /// Sends every committed frame, and then that nothing follows.
    pub(super) fn send_goodbye(&mut self, source: &SendableFrames<'_>) -> Result<()> {
        match self {
            Direct(sender) => sender.send_goodbye(source),
            Striped(sender) => sender.send_goodbye(source),
        }
    }

    /// Connections from which room may come: by credit, and, if `true`, by taking bytes that are
    /// held up.
    pub(super) fn awaited_connections(&self) -> impl Iterator<Item = (&ReceiverConnection, bool)> {
        let (direct, striped) = match self {
            Direct(sender) => (Some((&sender.connection, sender.is_blocked())), None),
            Striped(sender) => (None, Some(sender.awaited_connections())),
        };
        direct.into_iter().chain(striped.into_iter().flatten())
    }

    /// Notes that the sending thread sleeps until there is room.
    pub(super) fn note_armed(&mut self) {
        match self {
            Direct(_) => {}
            Striped(sender) => sender.note_armed(),
        }
    }

    /// Has the IO thread watch for room for frames, where the sending thread does not poll for it
    /// (`is_armed`: it sleeps), and for credit.
    pub(super) fn set_watched_events(&mut self, is_armed: bool, is_credit_wanted: bool) {
        match self {
            Direct(sender) => {
                let is_room_wanted = sender.is_blocked() && !is_armed;
                sender
                    .connection
                    .set_watched_events(is_room_wanted, is_credit_wanted);
            }
            Striped(sender) => sender.set_watched_events(is_armed, is_credit_wanted),
        }
    }

    /// Finds stalled rails. Returns the time of the next look; `None`: none is needed.
    pub(super) fn check_stalls(
        &mut self,
        reader: &RetainingReader,
        now: Instant,
    ) -> Option<Instant> {
        match self {
            Direct(_) => None,
            Striped(sender) => sender.check_stalls(reader, now),
        }
    }

    /// Whether rails came or went since the last call.
    pub(super) fn take_rail_changes(&mut self) -> bool {
        match self {
            Direct(_) => false,
            Striped(sender) => sender.take_rail_changes(),
        }
    }
}
