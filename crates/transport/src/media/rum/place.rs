//! The place of a receiver at its sender: awaited, connected, away, or gone.
//!
//! ```text
//!   Awaited --connects--> Up --its connection breaks--> Down --too long, or dead--> Gone
//!                         ^  \                           |                            ^
//!                         |   --------- leaves ----------|----------------------------+
//!                         +-------- connects again ------+
//! ```

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::lifeline::Knocks;
use super::outlet::Outlet;
use crate::media::tcp::hello::Hello;
use crate::media::tcp::pump::Seat;

/// A receiver's.
pub(super) enum Place {
    /// It has not connected.
    Awaited,
    Up(Box<Outlet>),
    /// Its connection broke, and it may come back.
    Down(Box<Down>),
    /// It is gone: why.
    Gone(String),
}

/// A receiver that is away.
pub(super) struct Down {
    peer: Peer,
    /// What it may want next lies between.
    pub(super) released: u64,
    sent: u64,
    /// How its connection ended.
    why: String,
    knocks: Knocks,
}

/// Which receiver it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// A ticket makes one receiving end, which may connect again.
    pub(super) instance: u64,
    /// Where it connected from.
    pub(super) address: SocketAddr,
    /// Where its lifeline is; `None`: it has none.
    pub(super) lifeline: Option<SocketAddr>,
}

impl Place {
    /// Whether nobody will come here any more.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Place::Gone(_))
    }

    /// How far its receiver has released; `None`: nobody is waited for.
    pub(super) fn released(&self) -> Option<u64> {
        match self {
            Place::Awaited => Some(0),
            Place::Up(outlet) => Some(outlet.line.released()),
            Place::Down(down) => Some(down.released),
            Place::Gone(_) => None,
        }
    }

    /// Where a receiver that connects goes on.
    ///
    /// # Errors
    /// It cannot: why.
    pub(super) fn resume(&self, hello: &Hello) -> Result<u64, String> {
        let (number, position) = (hello.receiver, hello.position);
        let (instance, released, sent) = match self {
            Place::Awaited => (hello.instance, 0, 0),
            Place::Up(outlet) => (
                outlet.peer.instance,
                outlet.line.released(),
                outlet.cursor(),
            ),
            Place::Down(down) => (down.peer.instance, down.released, down.sent),
            Place::Gone(why) => return Err(format!("receiver {number} is gone: {why}")),
        };
        if instance != hello.instance {
            return Err(format!("receiver {number} has connected already"));
        }
        if !(released..=sent).contains(&position) {
            return Err(format!(
                "receiver {number} wants to go on from position {position}; \
                 {released} to {sent} are kept"
            ));
        }
        Ok(position)
    }
}

impl Down {
    /// Its connection has ended: how.
    pub(super) fn new(outlet: &Outlet, why: String) -> Down {
        Down {
            peer: outlet.peer,
            released: outlet.line.released(),
            sent: outlet.cursor(),
            why,
            knocks: Knocks::new(outlet.peer.lifeline, outlet.peer.instance, Instant::now()),
        }
    }

    /// Looks whether it is alive. Why it is gone, if it is.
    pub(super) fn look(&mut self, seat: Seat, patience: Duration, now: Instant) -> Option<String> {
        let (why, address) = (&self.why, self.peer.address);
        if !self.knocks.step(seat, now) {
            return Some(format!("{why}, and nobody lives at {address} any more"));
        }
        let is_over = self.knocks.alive() + patience <= now;
        is_over.then(|| format!("{why}, and {address} has not connected again for {patience:?}"))
    }

    /// When to look again.
    pub(super) fn due(&self, patience: Duration) -> Instant {
        let until = self.knocks.alive() + patience;
        self.knocks.next().map_or(until, |next| next.min(until))
    }
}
