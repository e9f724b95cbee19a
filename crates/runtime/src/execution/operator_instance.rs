//! One running operator: its code, its state, and the duties that the run time has to it.

use std::sync::Arc;

use tuple::{Layout, TupleRef};

use super::catch_policy::CatchPolicy;
use super::input_watermark::InputWatermark;
use super::tuple_history::TupleHistory;
use crate::Operator;
use crate::abi::{CountedWindow, Counter, OperatorCode, StateCell};
use crate::counters::punctuation_counters::PunctuationCounters;

/// A running operator. Every method is a call on the operator; none is entered twice.
pub(crate) struct OperatorInstance {
    /// Its index in the program.
    pub index: u32,
    /// The logic clause of a built operator, or all that a lowered one does.
    pub code: OperatorCode,
    pub state: StateCell,
    pub built: Option<Box<dyn Operator>>,
    /// The window of a lowered operator.
    pub window: Option<CountedWindow>,
    pub history: TupleHistory,
    pub ports: Vec<InputPortState>,
    /// See [`crate::execution::wiring::Wiring::processed`].
    pub processed: Arc<[Counter]>,
    /// See [`crate::execution::wiring::Wiring::marks`].
    pub punctuation: Arc<[PunctuationCounters]>,
    pub flags: OperatorFlags,
    /// `None`: no stream brings it watermarks.
    pub watermark: Option<Box<InputWatermark>>,
    /// [`Operator::finish`] was called, or it failed: nothing comes in any more.
    pub is_finished: bool,
}

/// An input port's part in the end of the stream.
#[derive(Debug)]
pub(crate) struct InputPortState {
    /// Streams that have not ended yet.
    pub finals_left: u32,
    /// One of its streams has ended without a final marker.
    pub is_abandoned: bool,
    pub is_control: bool,
    /// What its tuples look like. Debug builds check each one that comes in: code that hands on
    /// memory that is not the tuple is found where it does so.
    pub layout: Arc<Layout>,
    /// Where its window markers are forwarded to.
    pub preserved_by: Vec<u32>,
}

impl InputPortState {
    /// In debug builds: that the bytes are a tuple of the port's schema.
    pub fn debug_check(&self, tuple: TupleRef<'_>) {
        if cfg!(debug_assertions)
            && let Err(error) = tuple::layout::check(&self.layout, tuple.bytes())
        {
            panic!("what came in is no {}: {error}", self.layout.schema);
        }
    }
}

/// What is particular about an operator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperatorFlags {
    /// Its thread submits, forwards markers and ends the streams.
    pub own_thread: bool,
    /// Another thread waits for its end.
    pub always_finishes: bool,
    /// [`Operator::has_room`] has to be asked.
    pub is_bounded: bool,
    /// [`Operator::flush`] is to be called before its thread sleeps.
    pub needs_flush: bool,
    /// It takes tuples with their buffers, and nothing but its own code sees them.
    pub accepts_owned: bool,
    /// It stands in a feedback loop.
    pub is_in_loop: bool,
    pub catch: CatchPolicy,
}

impl OperatorFlags {
    /// Nothing that delivering a tuple has to look at.
    pub fn needs_no_checks(&self) -> bool {
        !self.is_bounded && !self.is_in_loop && !self.catch.catches_any()
    }
}
