//! Edges over a ring, within a process or between processes: what [`ring`](super::ring) and
//! [`shm`](super::shm) share. They differ in how a side that sleeps is woken and in how it is noticed
//! that a side is gone: [`Peers`].
//!
//! ```text
//!   Sending  = Writer  + Peers (the receivers)
//!   Receiving = Reader + Peers (the sender)
//! ```
//! The ring itself says that an end was dropped, at once. That a process died without a word is known
//! to the system: an armed end polls for it and wakes at once, an end that spins asks now and then,
//! [`Watch`](watch::Watch).

mod receiving;
mod sending;
mod watch;

use std::os::fd::BorrowedFd;

pub(super) use receiving::Receiving;
pub(super) use sending::Sending;

/// The other sides of a ring, by number: readers, or the writer as number 0. A set of them is a word
/// with a bit for each.
pub(super) trait Peers: Send {
    /// Wakes those.
    fn wake(&self, sleepers: u64);

    /// Which ones are known to have died; asks the system.
    fn dead(&mut self) -> u64;

    /// Forgets that somebody woke us; which ones are known to have died.
    fn silence(&mut self) -> u64;

    /// Somebody is gone and no longer asked for.
    fn dismiss(&mut self, peer: u32);

    /// What becomes readable when somebody wakes us, or dies.
    fn sources<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>);
}

/// The numbers in a set.
fn numbers(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(number)
    })
}
