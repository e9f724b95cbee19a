//! What the backend is told about lowered operators that are joined by fused edges.
//!
//! ```text
//!   view.members[0] Beacon --port 0--> [1] Functor --port 0--> [2] Custom
//!                                           \------port 1--> not a member: Outlet::submit
//! ```
//! A backend may inline a member's `on_tuple` body where another one submits to it, or call it
//! directly; the default ([`super::Backend::fused`]) does neither.
//!
//! # What holds of the members of one view
//! 1. One thread runs all of them, no other one ever enters them, and no loop leads from one of
//!    them back to itself.
//! 2. A linked input port keeps no tuple history, and its operator has no `@catch`.
//! 3. Links are for `on_tuple` and `on_process` bodies, and an operator that may go on submitting
//!    after a final marker has none: what is submitted over a link always counts. `on_punct` bodies
//!    submit through the outlet.
//!
//! # What inlining has to do
//! For a tuple over a [`FusedEdge`]: [`Counter::add`]`(1)` on the output port's and on the link's
//! counter, then the body of the target for that input port, once for each link of the port and in
//! order. Around anything that goes through the outlet on behalf of an inlined operator
//! (submitting to a port without links, services, library functions), and before returning one of
//! its faults, [`crate::Outlet::act_as`] says whom the outlet now acts for. After a fault it stays
//! so: that is how the report names the right operator.

use ring::grant::GrantAddresses;

use super::code::{OperatorScope, RunBody, RunBodyOnBatch};
use super::counter::Counter;
use super::lowered_logic::LoweredLogic;
use super::state_cell::StateAddress;

/// Lowered operators of one thread.
pub struct FusedView<'a> {
    /// The operators, upstream before downstream.
    pub members: Vec<FusedMember<'a>>,
    /// The flag that says whether a shutdown was asked for: one byte, 0 or 1, valid as long as the
    /// code may be called, read with a plain load.
    pub stop_flag: *const u8,
}

/// A lowered operator of a view.
pub struct FusedMember<'a> {
    /// What its bodies are compiled against.
    pub scope: OperatorScope<'a>,
    /// Its bodies.
    pub logic: &'a LoweredLogic,
    /// Its state, for code that inlines it.
    pub state: StateAddress,
    /// By output port: all its consumers; or `None`: submit through the outlet.
    pub fused_outputs: Vec<Option<FusedOutput<'a>>>,
    /// By output port, or empty: the frames that it may write itself.
    pub frame_edges: Vec<Option<FrameEdge<'a>>>,
    /// By input port: tuples come in batches, so that [`OperatorCode::on_batch`] is worth its
    /// bytes.
    pub has_batched_input: Vec<bool>,
}

/// An output port all of whose consumers are members.
pub struct FusedOutput<'a> {
    /// Counts what is submitted to the port.
    pub submitted: &'a Counter,
    /// The consumers, in order of delivery. May be empty: the tuple is dropped.
    pub edges: Vec<FusedEdge<'a>>,
}

/// An edge to a member.
#[derive(Clone, Copy)]
pub struct FusedEdge<'a> {
    /// Index in [`FusedView::members`], greater than that of the submitter.
    pub member: u32,
    /// Its input port.
    pub port: u32,
    /// Counts the port's tuples.
    pub processed: &'a Counter,
}

/// Room for frames that an operator offers to whoever submits to it: see
/// [`crate::Operator::grant`].
#[derive(Clone, Copy, Debug)]
pub struct FrameGrant {
    /// Room in the ring.
    pub grant: GrantAddresses,
    /// The kind of a tuple's frame.
    pub kind: u8,
    /// Where frames that are written this way are counted.
    pub written_count: *const u64,
}

/// An output port whose only consumer takes frames: it leaves the PE, or goes into a queue.
/// Compiled code may write a tuple of fixed length into the ring by itself, as [`ring::grant`]
/// says, and add 1 to all three counters; else [`crate::Outlet::submit`] does what is to be done.
#[derive(Clone, Copy)]
pub struct FrameEdge<'a> {
    /// Room in the ring.
    pub grant: FrameGrant,
    /// Counts what is submitted to the port.
    pub submitted: &'a Counter,
    /// Counts the consumer's tuples.
    pub processed: &'a Counter,
}

/// The code of a member: what its [`LoweredLogic`] says, as callable code.
#[derive(Default)]
pub struct OperatorCode {
    /// By input port.
    pub on_tuple: Vec<Option<Box<dyn RunBody>>>,
    /// By input port, or empty: `on_tuple` for a batch. A backend need not make any.
    pub on_batch: Vec<Option<Box<dyn RunBodyOnBatch>>>,
    /// By input port.
    pub on_punct: Vec<Option<Box<dyn RunBody>>>,
    /// A source's thread.
    pub on_process: Option<Box<dyn RunBody>>,
}
