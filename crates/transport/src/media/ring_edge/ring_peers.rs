//! The other ends of a ring: how to wake them, and how to notice that one has died.

use std::os::fd::BorrowedFd;

/// The other sides of a ring, by number: the readers, or the writer as number 0. A set of them is a
/// word with a bit for each.
pub(in crate::media) trait RingPeers: Send {
    /// Wakes the peers of this set.
    fn wake(&self, sleepers: u64);

    /// Asks the system which peers have died and returns their set.
    fn dead_peers(&mut self) -> u64;

    /// Clears received wakeups, and returns the set of peers that have died.
    fn clear_wakeups(&mut self) -> u64;

    /// Forgets a peer that is gone.
    fn dismiss(&mut self, peer: u32);

    /// Adds the descriptors that become readable when a peer wakes this side, or dies.
    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>);
}

/// Numbers of the bits in a set, in ascending order.
pub(super) fn set_bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(number)
    })
}
