//! The parts of a mode: what the ends of an edge over `rdma` ask of it.
//!
//! ```text
//!   sending thread   RdmaSender ---> ModeSender --lock--> ModeTargets <--lock-- IO thread
//!   receiving thread RdmaReceiver -> ModeReceiver
//! ```

use std::sync::{Arc, Mutex};

use fabric::RdmaNode;
use ring::frame::FrameBatch;

use crate::Error;

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
    /// look after some of it.
    fn commit(&mut self, kind: u8, flags: u8, len: usize) -> bool;

    /// Posts what waits, takes completions, credit, requests and losses. Returns whether all that
    /// is committed is written, so that it outlives this process.
    ///
    /// # Errors
    /// The provider has failed.
    fn progress(&mut self) -> Result<bool, Error>;

    /// Numbers of the receivers that were gone at the last call.
    fn lost_receivers(&self) -> &[u32];

    /// Whether every living receiver has released everything.
    fn is_drained(&self) -> bool;

    /// Bytes that the slowest living receiver has not released.
    fn queued_bytes(&self) -> usize;
}

/// The receivers of an edge as the IO thread attends to them.
pub(super) trait ModeTargets: Send {
    /// The node that reaches the receivers.
    type Node: RdmaNode;

    /// The node, to sleep on.
    fn node_mut(&mut self) -> &mut Self::Node;

    /// Posts what waits, takes completions, credit, requests and losses. Returns whether all that
    /// is committed is written, so that it outlives this process.
    ///
    /// # Errors
    /// The provider has failed.
    fn progress(&mut self) -> Result<bool, Error>;

    /// Whether a receiver is not connected yet, or has not been sent all that is committed: then
    /// the IO thread looks again soon.
    fn waits(&mut self) -> bool;

    /// Whether every living receiver has released all that is committed.
    fn is_done(&self) -> bool;

    /// Whether credit or a loss has come since the last call.
    fn take_news(&mut self) -> bool;
}

/// The receiver's side of a mode.
pub(super) trait ModeReceiver: Send {
    /// The node that reaches the sender.
    type Node: RdmaNode;

    /// The node, to sleep on.
    fn node(&self) -> &Self::Node;

    /// The node, to ask whether a thread may sleep.
    fn node_mut(&mut self) -> &mut Self::Node;

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
