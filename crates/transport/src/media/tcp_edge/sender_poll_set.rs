//! Descriptors that the thread of a sending end sleeps on: credit, room in sockets, and a wakeup
//! that the IO thread uses for everything else.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::receiver_connection::ReceiverConnection;
use crate::Wakeup;

/// The poll set of one sending end.
pub(crate) struct SenderPollSet {
    wakeup: Wakeup,
    credit_sockets: Vec<Arc<TcpStream>>,
    frame_sockets: Vec<Arc<TcpStream>>,
}

impl SenderPollSet {
    /// A set for `receivers` receivers, with room reserved so that nothing is allocated later.
    pub(crate) fn new(wakeup: Wakeup, receivers: u32) -> SenderPollSet {
        SenderPollSet {
            wakeup,
            credit_sockets: Vec::with_capacity(receivers as usize),
            frame_sockets: Vec::with_capacity(receivers as usize),
        }
    }

    /// Clears the wakeup: the thread looks for work after this, before it sleeps.
    pub(crate) fn clear_wakeup(&self) {
        self.wakeup.clear();
    }

    /// Waits for these connections: for credit, and for room if their flag is `true`.
    pub(crate) fn add_connections<'a>(
        &mut self,
        connections: impl Iterator<Item = (&'a ReceiverConnection, bool)>,
    ) {
        for (connection, is_held_up) in connections {
            self.credit_sockets.push(connection.credit.clone());
            if is_held_up {
                self.frame_sockets.push(connection.frames.clone());
            }
        }
    }

    /// Waits for no connection.
    pub(crate) fn clear_connections(&mut self) {
        self.credit_sockets.clear();
        self.frame_sockets.clear();
    }

    /// Adds the descriptors to poll, like [`crate::Waitable::poll_fds`].
    pub(crate) fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.wakeup.as_fd());
        readable.extend(self.credit_sockets.iter().map(|stream| stream.as_fd()));
        writable.extend(self.frame_sockets.iter().map(|stream| stream.as_fd()));
    }
}
