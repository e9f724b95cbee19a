//! Chains of lowered operators, as a backend sees them: one thread runs the operators, and compiled
//! code may pass their edges without the outlet.
//!
//! ```text
//!   chains.members[0] Beacon --port 0--> [1] Functor --port 0--> [2] Custom
//!                                              |        \-----> a queue: frames in its ring
//!                                              \------port 1--> a FileSink: the outlet
//! ```
//! A backend may inline a member's `on_tuple` body where another one submits to it, or call it
//! directly. The default of [`super::Backend::compile_chains`] does neither.
//!
//! # Invariants of the members of one thread's chains
//! 1. One thread runs all of them, no other one ever enters them, and no loop leads from one of
//!    them back to itself.
//! 2. An input port with an edge of a chain keeps no tuple history, and its operator has no
//!    `@catch`.
//! 3. These edges are for `on_tuple` and `on_process` bodies. An operator that may go on submitting
//!    after a final marker has none, so each tuple that is submitted over an edge counts.
//!    `on_punct` and `on_finish` bodies submit through the outlet.
//!
//! # Duties of code that inlines
//! For a tuple that is submitted to a [`ChainOutput`]: [`Counter::add`]`(1)` on the output port's
//! counter, then each edge in order, as [`ChainEdge`] says. Around each call through the outlet on
//! behalf of an inlined operator (submitting to a port without edges, services, library functions),
//! and before it returns one of that operator's faults, the code says with
//! [`super::CodeOutlet::act_as`] which operator the outlet acts for. After a fault that stays so,
//! and the report names the right operator.
//!
//! A source's code, and code for a batch, may keep counters and state of members in registers. It
//! stores them before each of these calls, and at its end; a counter also after some thousand
//! tuples, for threads that show it.

use eval::OperatorEventTime;
use graph::PortIndex;
use ring::grant::GrantAddresses;

use super::code::{CodeScope, RunBody, RunBodyOnBatch};
use super::counter::Counter;
use super::frame_form::FrameForm;
use super::lowered_logic::LoweredLogic;
use super::state_cell::StateAddress;
use super::tap_budget::TapBudget;

/// Lowered operators of one thread with the chains that they make, compiled together.
pub struct ThreadChains<'a> {
    /// The operators, upstream before downstream.
    pub members: Vec<ChainMember<'a>>,
    /// The flag that says whether a shutdown was asked for: one byte, 0 or 1, valid as long as the
    /// code may be called, read with a plain load.
    pub stop_flag: *const u8,
    /// Address of the word in which the thread says which operator it runs, valid as long as the
    /// code may be called; `None` if several threads may run the operators.
    pub running: Option<*const u32>,
}

/// A lowered operator of a thread.
pub struct ChainMember<'a> {
    /// The names that the bodies may use.
    pub scope: CodeScope<'a>,
    /// The bodies of the operator.
    pub logic: &'a LoweredLogic,
    /// Address of the operator's state, for code that inlines the operator.
    pub state: StateAddress,
    /// Event time of the operator, valid as long as the code may be called: code may advance the
    /// watermark by its words, as [`eval::OperatorWatermark`] says.
    pub event_time: &'a OperatorEventTime,
    /// By output port: all consumers, or `None` if the code has to submit through the outlet.
    pub chain_outputs: Vec<Option<ChainOutput<'a>>>,
    /// By input port: the form of tuples that come in batches, for which [`OperatorCode::on_batch`]
    /// is worth its bytes.
    pub batch_forms: Vec<Option<FrameForm>>,
}

/// An output port whose tuples the code itself takes to some consumers.
pub struct ChainOutput<'a> {
    /// Counts the tuples that are submitted to the output port.
    pub submitted: &'a Counter,
    /// Where code learns that somebody wants to see tuples of the port; `None`: nobody ever does.
    pub tap: Option<PortTap<'a>>,
    /// The way to each consumer, in order of delivery. If there are none, the tuple is dropped.
    pub edges: Vec<ChainEdge<'a>>,
    /// If no operator does anything for a window marker that is submitted to the port: the counters
    /// of this marker and of those that consumers pass on. Code may add 1 to each instead of
    /// submitting the marker through the outlet.
    pub window_counters: Option<Vec<&'a Counter>>,
}

/// Words that say whether the stream of an output port is tapped.
#[derive(Clone, Copy)]
pub struct PortTap<'a> {
    /// Not 0 while any stream of the PE is tapped: code looks here first.
    pub is_open: &'a TapBudget,
    /// Tuples of the port that are wanted: code hands each to [`super::CodeOutlet::tap`].
    pub budget: &'a TapBudget,
}

/// The way of a tuple to a consumer of an output port.
#[derive(Clone, Copy)]
pub enum ChainEdge<'a> {
    /// To a member: the code adds 1 to the edge's counter and runs the member's body.
    Member(MemberEdge<'a>),
    /// Into a ring: the code writes a frame.
    Frames(FrameEdge<'a>),
    /// To any other operator: [`super::CodeOutlet::submit_to`].
    Outlet,
}

/// A way to an input port of a member.
#[derive(Clone, Copy)]
pub struct MemberEdge<'a> {
    /// Index in [`ThreadChains::members`], greater than that of the submitter.
    pub member: u32,
    /// Input port of the member.
    pub port: PortIndex,
    /// Counts the tuples that come to the input port.
    pub processed: &'a Counter,
}

/// Room in a ring that an inserted operator offers to the code that submits to it.
#[derive(Clone, Copy, Debug)]
pub struct FrameGrant {
    /// Addresses of the room in the ring.
    pub grant: GrantAddresses,
    /// Kind of the frame of a tuple.
    pub kind: u8,
    /// Form of a tuple in its frame.
    pub form: FrameForm,
    /// Address of the counter of frames that compiled code wrote by itself.
    pub written_count: *const u64,
}

/// A way to a consumer that takes frames: a stream that leaves the PE, or goes into a queue.
/// Compiled code may write a tuple whose length is fixed in the grant's form
/// ([`FrameForm::payload_bytes`]) into the ring by itself, as [`ring::grant`] says, and add 1 to
/// both counters. Without room it takes the way of [`ChainEdge::Outlet`].
#[derive(Clone, Copy)]
pub struct FrameEdge<'a> {
    /// Room in the ring of the consumer.
    pub grant: FrameGrant,
    /// Counts the tuples that come to the consumer.
    pub processed: &'a Counter,
    /// Number of the operator that sends the frames.
    pub sender: u32,
}

/// Code for a batch of tuples.
pub struct BatchCode {
    /// Form of the tuples in their frames.
    pub form: FrameForm,
    /// The code that runs over a batch.
    pub body: Box<dyn RunBodyOnBatch>,
}

/// The code of a member: each body of its [`LoweredLogic`], as callable code.
#[derive(Default)]
pub struct OperatorCode {
    /// By input port: the code for a tuple.
    pub on_tuple: Vec<Option<Box<dyn RunBody>>>,
    /// By input port, or empty: the code for a batch of tuples. A backend need not make any.
    pub on_batch: Vec<Option<BatchCode>>,
    /// By output port of a receiver, or empty: the code for a batch of tuples that takes each to
    /// all consumers of the port, and counts it. No backend sets it.
    pub on_received: Vec<Option<BatchCode>>,
    /// By input port: the code for a marker.
    pub on_punct: Vec<Option<Box<dyn RunBody>>>,
    /// The code for the end of the operator's input.
    pub on_finish: Option<Box<dyn RunBody>>,
    /// The code for an advance of the watermark.
    pub on_watermark: Option<Box<dyn RunBody>>,
    /// The code that a timer runs.
    pub on_timer: Option<Box<dyn RunBody>>,
    /// The code that a source's thread runs.
    pub on_process: Option<Box<dyn RunBody>>,
}
