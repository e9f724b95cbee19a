//! The receivers of a sender that has a ring: what the sending thread asks of them, whatever paths
//! lead there.
//!
//! [`WriteTargets`] has one path to each receiver; [`super::rails`] has several.

use fabric::RdmaNode;

use super::batch_targets::BatchTargets;
use super::mode::ModeTargets;
use super::write_targets::{Committed, WriteTargets};
use crate::Error;

/// The receivers of a sender that has a ring.
pub(super) trait RingTargets: BatchTargets {
    /// Lets everything before a position be posted, and posts it as far as there is room.
    fn commit(&mut self, committed: Committed);

    /// Posts what waits for completions, if they have come. The next claim or flush reports an
    /// error, if there is one.
    fn post_waiting(&mut self);

    /// Keeps everything behind a position from being posted.
    fn hold(&mut self, committed: Committed);

    /// Lowest position up to which a living receiver has released frames; `None`: none is living.
    fn released(&self) -> Option<u64>;

    /// Lowest position up to which the ring may be used again: no write of it is on its way any
    /// more; `None`: no receiver is living.
    fn reusable(&self) -> Option<u64> {
        self.released()
    }

    /// Whether no living receiver has been sent the record at a position, over any connection.
    fn is_unposted(&self, position: u64) -> bool;

    /// Appends the receivers that are gone to a list that had all of an earlier call.
    fn list_lost(&self, list: &mut Vec<u32>);

    /// Makes progress, and has the provider tell of the last writes. Returns whether all that is
    /// committed is written, so that it outlives this process: a write that is posted may still
    /// wait in the provider.
    ///
    /// # Errors
    /// The provider has failed.
    fn flush(&mut self) -> Result<bool, Error>;

    /// Checks that a receiver is left.
    ///
    /// # Errors
    /// The loss of the last receiver.
    fn check_receivers(&self) -> Result<(), Error>;
}

impl<N: RdmaNode> RingTargets for WriteTargets<N> {
    fn commit(&mut self, committed: Committed) {
        self.note_commit(committed);
        self.post_all();
    }

    fn post_waiting(&mut self) {
        let end = self.committed.end;
        if self.living().any(|target| target.posted < end) && self.take_completions().is_ok() {
            self.post_all();
        }
    }

    fn hold(&mut self, committed: Committed) {
        self.committed = committed;
    }

    fn released(&self) -> Option<u64> {
        self.living().map(|target| target.released).min()
    }

    fn is_unposted(&self, position: u64) -> bool {
        self.living().all(|target| target.sent <= position)
    }

    fn list_lost(&self, list: &mut Vec<u32>) {
        list.extend_from_slice(&self.lost[list.len()..]);
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.is_flushed = true;
        self.progress()?;
        self.let_out();
        let mut is_asked = false;
        for receiver in 0..self.receivers.len() {
            is_asked |= self.ask_for_completion(receiver);
        }
        if is_asked {
            // A provider over sockets has mostly told already.
            self.progress()?;
        }
        let end = self.committed.end;
        Ok(self.living().all(|target| target.is_written(end)))
    }

    fn check_receivers(&self) -> Result<(), Error> {
        if self.lost.len() < self.receivers.len() {
            return Ok(());
        }
        Err(Error::PeerLost(crate::PeerLoss {
            receiver: self.lost.last().copied(),
            reason: self.last_loss.clone(),
        }))
    }
}
