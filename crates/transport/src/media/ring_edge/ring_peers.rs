//! The other ends of a ring: how to wake them, and how to notice that one has died.

use std::os::fd::BorrowedFd;

/// The other sides of a ring, by number: readers, or the writer as number 0. A set of them is a
/// word with a bit for each.
pub(in crate::media) trait RingPeers: Send {
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
pub(super) fn set_bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(number)
    })
}
