//! Edges over a ring, within a process or between processes: what [`ring`](super::ring) and
//! [`shm`](super::shm) share. They differ in how a side that sleeps is woken and in how it is
//! noticed that a side is gone: [`RingPeers`].
//!
//! ```text
//!   Sending  = Writer  + Peers (the receivers)
//!   Receiving = Reader + Peers (the sender)
//! ```
//! The ring itself says that an end was dropped, at once. That a process died without a word is
//! known to the system: an armed end polls for it and wakes at once, an end that spins asks now and
//! then, [`Watch`](watch::Watch).

mod liveness_timer;
mod receiver;
mod sender;

use std::os::fd::BorrowedFd;

pub(super) use receiver::RingReceiver;
pub(super) use sender::RingSender;

/// The other sides of a ring, by number: readers, or the writer as number 0. A set of them is a
/// word with a bit for each.
pub(super) trait RingPeers: Send {
    /// Wakes those.
    fn wake(&self, sleepers: u64);

    /// Which ones are known to have died; asks the system.
    fn dead_peers(&mut self) -> u64;

    /// Forgets that somebody woke us; which ones are known to have died.
    fn clear_wakeups(&mut self) -> u64;

    /// Somebody is gone and no longer asked for.
    fn dismiss(&mut self, peer: u32);

    /// What becomes readable when somebody wakes us, or dies.
    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>);
}

/// The numbers in a set.
fn set_bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(number)
    })
}
