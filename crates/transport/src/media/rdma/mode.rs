//! The parts of a mode: what the ends of an edge over `rdma` ask of it.
//!
//! ```text
//!   sending thread   RdmaSender ---> ModeSender --lock--> ModeTargets <--lock-- IO thread
//!   receiving thread RdmaReceiver -> ModeReceiver
//! ```

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use ring::frame::FrameBatch;

use crate::media::tcp_edge::io_thread::Registration;
use crate::{EdgeCounters, Error};

/// Checks that a frame can have `len` bytes of payload.
///
/// # Errors
/// A frame has at most `len_max`.
pub(super) fn check_claim(len: usize, len_max: usize) -> Result<(), Error> {
    if len <= len_max {
        return Ok(());
    }
    let why = format!("a claim of {len} bytes: a frame has at most {len_max}");
    Err(Error::Refused(why))
}

/// The sending thread's side of a mode: builds frames in place.
pub(super) trait ModeSender: Send {
    /// The receivers of the edge, which the IO thread attends to as well.
    type Targets: ModeTargets;

    /// The receivers, for the IO thread.
    fn targets(&self) -> &Arc<Mutex<Self::Targets>>;

    /// Most bytes of a frame's payload.
    fn payload_bytes_max(&self) -> usize;

    /// Claims room for a payload, perhaps after some progress. Returns whether there is room: then
    /// [`ModeSender::claimed`] is it.
    ///
    /// # Errors
    /// See [`crate::SendingEnd::claim`].
    fn try_claim(&mut self, len: usize) -> Result<bool, Error>;

    /// The room that was claimed; empty if there is none.
    fn claimed(&mut self) -> &mut [u8];

    /// Forgets the claim, so that what it goes on with can be posted.
    fn forget_claim(&mut self);

    /// Commits the claim: see [`crate::SendingEnd::commit`]. Returns whether the IO thread has to
    /// come for a batch that it does not know of.
    fn commit(&mut self, kind: u8, flags: u8, len: usize) -> bool;

    /// Takes completions, credit, requests and losses, and posts what waits.
    ///
    /// # Errors
    /// The provider has failed.
    fn progress(&mut self) -> Result<(), Error>;

    /// Makes progress and gets out what is committed. Returns whether all of it is written, so that
    /// it outlives this process: what is posted may still wait in the provider.
    ///
    /// # Errors
    /// The provider has failed.
    fn flush(&mut self) -> Result<bool, Error>;

    /// Whether the thread may sleep until there is room for a payload of this length: on the
    /// node's descriptors, and on news that the IO thread takes from it.
    ///
    /// # Errors
    /// The provider has failed.
    fn may_sleep(&mut self, len: usize) -> Result<bool, Error> {
        self.forget_claim();
        lock(self.targets()).let_out();
        // The next claim reports an error, if there is one.
        let has_room = self.try_claim(len).unwrap_or(true);
        self.forget_claim();
        let mut targets = lock(self.targets());
        targets.take_news();
        Ok(!has_room && targets.may_sleep()?)
    }

    /// Numbers of the receivers that were gone at the last call.
    fn lost_receivers(&self) -> &[u32];

    /// Whether every living receiver has released everything.
    fn is_drained(&self) -> bool;

    /// Bytes that the slowest living receiver has not released.
    fn queued_bytes(&self) -> usize;
}

/// The receivers of an edge as the IO thread attends to them.
pub(super) trait ModeTargets: Send {
    /// Descriptors of each node that reaches receivers: of its completions, and of its events.
    ///
    /// # Errors
    /// The provider has no descriptors.
    fn wait_fds(&self) -> Result<Vec<[BorrowedFd<'_>; 2]>, Error>;

    /// Asks whether a thread may sleep on the descriptors. `false`: there is something to take now.
    ///
    /// # Errors
    /// The provider has failed.
    fn may_sleep(&mut self) -> Result<bool, Error>;

    /// Whether the node of these descriptors works: no thread sleeps on those of another.
    fn is_sound(&self, _node: usize) -> bool {
        true
    }

    /// Takes completions, credit, requests and losses, and posts what waits.
    ///
    /// # Errors
    /// The provider has failed.
    fn progress(&mut self) -> Result<(), Error>;

    /// A count that is another after each commit. A claim may lower it until its commit.
    fn committed(&self) -> u64;

    /// Whether a receiver is not connected yet, or has not been posted all that is committed.
    fn waits(&self) -> bool;

    /// Whether something that is posted to a living receiver may still wait in the provider, which
    /// sends it when it is called.
    fn is_on_way(&self) -> bool;

    /// Whether every living receiver has released all that is committed.
    fn is_done(&self) -> bool;

    /// Whether credit or a loss has come since the last call.
    fn take_news(&mut self) -> bool;

    /// Takes the number of its task at the IO thread.
    fn attach(&mut self, _to: Registration) {}

    /// Posts what waits for more frames or for its batch: the sending thread is about to sleep.
    fn let_out(&mut self) {}

    /// Time of the IO thread's next turn for what waits for its batch; called at each turn.
    fn next_turn_at(&mut self, _now: Instant) -> Option<Instant> {
        None
    }

    /// Whether frames may wait for their batch.
    fn is_batching(&self) -> bool {
        false
    }

    /// Number of the living receiver that has most to release, and its bytes; `None`: none is
    /// living.
    fn slowest(&self) -> Option<(u32, u64)>;

    /// Has refused requests counted, with the reason of each.
    fn count_refusals_in(&mut self, counters: Arc<EdgeCounters>);
}

/// The receiver's side of a mode.
pub(super) trait ModeReceiver: Send {
    /// Asks whether the thread may sleep on the descriptors. `false`: there is something to take
    /// now.
    ///
    /// # Errors
    /// The provider has failed.
    fn may_sleep(&mut self) -> Result<bool, Error>;

    /// Appends the descriptors that become readable when there is something to take, or a
    /// connection is to be made again.
    fn list_wait_fds<'a>(&'a self, fds: &mut Vec<BorrowedFd<'a>>);

    /// The next frames: see [`crate::ReceivingEnd::poll`].
    ///
    /// # Errors
    /// The sender is lost or has broken the rules of the mode.
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error>;

    /// Gives the room of all polled frames back: see [`crate::ReceivingEnd::release`].
    fn release(&mut self);

    /// Lets the provider work, and takes what has come.
    ///
    /// # Errors
    /// The provider has failed.
    fn progress(&mut self) -> Result<(), Error>;

    /// Whether the sender has neither accepted nor refused the connection yet.
    fn is_connecting(&self) -> bool;

    /// Whether the sender has to be told of released frames, and the provider has had no room for
    /// that.
    fn owes_credit(&self) -> bool;

    /// Whether a poll would find a frame or the loss of the sender.
    ///
    /// # Errors
    /// See [`ModeReceiver::poll`].
    fn has_news(&mut self) -> Result<bool, Error>;
}

/// Locks the receivers. A thread that panicked left them as they were before its call.
pub(super) fn lock<T>(targets: &Mutex<T>) -> MutexGuard<'_, T> {
    targets.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the receivers if no other thread has them now.
pub(super) fn try_lock<T>(targets: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match targets.try_lock() {
        Ok(locked) => Some(locked),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
