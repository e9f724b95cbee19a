//! What the thread of a sending end sleeps on: credit, room in sockets, and a bell that the pump rings
//! when there is something that neither of them tells.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::line::Line;
use crate::Bell;

/// A sending end's.
pub(crate) struct Waiting {
    bell: Bell,
    credit: Vec<Arc<TcpStream>>,
    room: Vec<Arc<TcpStream>>,
}

impl Waiting {
    /// For an end with so many receivers: so that nothing has to be allocated later.
    pub(crate) fn new(bell: Bell, receivers: u32) -> Waiting {
        Waiting {
            bell,
            credit: Vec::with_capacity(receivers as usize),
            room: Vec::with_capacity(receivers as usize),
        }
    }

    /// Forgets that the bell has rung: whoever is about to sleep looks for work after this.
    pub(crate) fn silence(&self) {
        self.bell.silence();
    }

    /// Waits for these lines: for credit, and for room if something is held up on them.
    pub(crate) fn begin<'a>(&mut self, lines: impl Iterator<Item = (&'a Line, bool)>) {
        for (line, is_held_up) in lines {
            self.credit.push(line.credit.clone());
            if is_held_up {
                self.room.push(line.frames.clone());
            }
        }
    }

    /// Waits for nothing.
    pub(crate) fn end(&mut self) {
        self.credit.clear();
        self.room.clear();
    }

    /// What to poll, as [`crate::Wait::sources`].
    pub(crate) fn sources<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.bell.as_fd());
        readable.extend(self.credit.iter().map(|stream| stream.as_fd()));
        writable.extend(self.room.iter().map(|stream| stream.as_fd()));
    }
}
