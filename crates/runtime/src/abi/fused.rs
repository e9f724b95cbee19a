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
//! For a tuple over a [`Link`]: [`Counter::add`]`(1)` on the output port's and on the link's
//! counter, then the body of the target for that input port, once for each link of the port and in
//! order. Around anything that goes through the outlet on behalf of an inlined operator
//! (submitting to a port without links, services, library functions), and before returning one of
//! its faults, [`crate::Outlet::act_as`] says whom the outlet now acts for. After a fault it stays
//! so: that is how the report names the right operator.

use graph::{Body, Fault};
use ring::grant::GrantAddress;

use super::{Act, ActEach, Backend, Counter, Scope, StateAddress};
use crate::Logic;

/// Lowered operators of one thread.
pub struct FusedView<'a> {
    /// The operators, upstream before downstream.
    pub members: Vec<Member<'a>>,
    /// The flag that says whether a shutdown was asked for: one byte, 0 or 1, valid as long as the
    /// code may be called, read with a plain load.
    pub stop: *const u8,
}

/// A lowered operator of a view.
pub struct Member<'a> {
    /// What its bodies are compiled against.
    pub scope: Scope<'a>,
    /// Its bodies.
    pub logic: &'a Logic,
    /// Its state, for code that inlines it.
    pub state: StateAddress,
    /// By output port: all its consumers; or `None`: submit through the outlet.
    pub links: Vec<Option<Links<'a>>>,
    /// By output port, or empty: the frames that it may write itself.
    pub frames: Vec<Option<FrameLink<'a>>>,
    /// By input port: tuples come in batches, so that [`Code::on_each`] is worth its bytes.
    pub batched: Vec<bool>,
}

/// An output port all of whose consumers are members.
pub struct Links<'a> {
    /// Counts what is submitted to the port.
    pub submitted: &'a Counter,
    /// The consumers, in order of delivery. May be empty: the tuple is dropped.
    pub links: Vec<Link<'a>>,
}

/// An edge to a member.
#[derive(Clone, Copy)]
pub struct Link<'a> {
    /// Index in [`FusedView::members`], greater than that of the submitter.
    pub member: u32,
    /// Its input port.
    pub port: u32,
    /// Counts the port's tuples.
    pub processed: &'a Counter,
}

/// Room for frames that an operator offers to whoever submits to it: see [`crate::Operator::room`].
#[derive(Clone, Copy, Debug)]
pub struct FrameRoom {
    /// Room in the ring.
    pub grant: GrantAddress,
    /// The kind of a tuple's frame.
    pub kind: u8,
    /// Where frames that are written this way are counted.
    pub written: *const u64,
}

/// An output port whose only consumer takes frames: it leaves the PE, or goes into a queue. Compiled
/// code may write a tuple of fixed length into the ring by itself, as [`ring::grant`] says, and add 1
/// to all three counters; else [`crate::Outlet::submit`] does what is to be done.
#[derive(Clone, Copy)]
pub struct FrameLink<'a> {
    /// Room in the ring.
    pub room: FrameRoom,
    /// Counts what is submitted to the port.
    pub submitted: &'a Counter,
    /// Counts the consumer's tuples.
    pub processed: &'a Counter,
}

/// The code of a member: what its [`Logic`] says, as callable code.
#[derive(Default)]
pub struct Code {
    /// By input port.
    pub on_tuple: Vec<Option<Box<dyn Act>>>,
    /// By input port, or empty: `on_tuple` for a batch. A backend need not make any.
    pub on_each: Vec<Option<Box<dyn ActEach>>>,
    /// By input port.
    pub on_punct: Vec<Option<Box<dyn Act>>>,
    /// A source's thread.
    pub on_process: Option<Box<dyn Act>>,
}

/// Every body on its own: no inlining.
pub(super) fn each_body<B: Backend + ?Sized>(
    backend: &mut B,
    member: &Member<'_>,
) -> Result<Code, Fault> {
    let mut action = |body: &Body| backend.action(&member.scope, body);
    let logic = member.logic;
    let on_tuple = logic.on_tuple.iter().map(|body| action(body).map(Some));
    let on_tuple = on_tuple.collect::<Result<_, _>>()?;
    let on_punct = logic.on_punct.iter();
    let on_punct = on_punct.map(|body| body.as_ref().map(&mut action).transpose());
    let on_punct = on_punct.collect::<Result<_, _>>()?;
    let on_process = logic.on_process.as_ref().map(&mut action).transpose()?;
    Ok(Code {
        on_tuple,
        on_each: Vec::new(),
        on_punct,
        on_process,
    })
}
