//! What the thread of a sending end sleeps on: credit, room in sockets, and a bell that the pump
//! rings when there is something that neither of them tells.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::receiver_connection::ReceiverConnection;
use crate::Wakeup;

/// A sending end's.
pub(crate) struct SenderPollSet {
    wakeup: Wakeup,
    credit_sockets: Vec<Arc<TcpStream>>,
    frame_sockets: Vec<Arc<TcpStream>>,
}

impl SenderPollSet {
    /// For an end with so many receivers: so that nothing has to be allocated later.
    pub(crate) fn new(wakeup: Wakeup, receivers: u32) -> SenderPollSet {
        SenderPollSet {
            wakeup,
            credit_sockets: Vec::with_capacity(receivers as usize),
            frame_sockets: Vec::with_capacity(receivers as usize),
        }
    }

    /// Forgets that the bell has rung: whoever is about to sleep looks for work after this.
    pub(crate) fn clear_wakeup(&self) {
        self.wakeup.clear();
    }

    /// Waits for these lines: for credit, and for room if something is held up on them.
    pub(crate) fn add_connections<'a>(
        &mut self,
        lines: impl Iterator<Item = (&'a ReceiverConnection, bool)>,
    ) {
        for (line, is_held_up) in lines {
            self.credit_sockets.push(line.credit.clone());
            if is_held_up {
                self.frame_sockets.push(line.frames.clone());
            }
        }
    }

    /// Waits for nothing.
    pub(crate) fn clear_connections(&mut self) {
        self.credit_sockets.clear();
        self.frame_sockets.clear();
    }

    /// What to poll, as [`crate::Wait::poll_fds`].
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
