//! A running operator: its code, its state, and the state of its input ports.

use std::sync::Arc;

use graph::PortIndex;
use tuple::{Layout, TupleRef};

use super::built_operator::BuiltOperator;
use super::catch_policy::CatchPolicy;
use super::input_watermark::InputWatermark;
use super::tuple_history::TupleHistory;
use crate::abi::{
    CountedPanes, CountedSlices, CountedWindow, Counter, OperatorCode, StateCell, WatermarkLogic,
};
use crate::counters::punctuation_counters::PunctuationCounters;

/// A running operator: its code, state, history and counters. The calls on it are in
/// `operator_calls`; none is entered while another one runs.
pub(crate) struct OperatorInstance {
    /// Index of the operator in the program.
    pub index: u32,
    /// The logic clause of a built operator, or all code of a lowered one.
    pub code: OperatorCode,
    pub state: StateCell,
    pub built: Option<BuiltOperator>,
    /// The window of a lowered operator, if it has one.
    pub window: Option<CountedWindow>,
    /// The panes of a lowered operator, if it has some.
    pub panes: Option<CountedPanes>,
    /// The slices of panes of a lowered operator, if it has some.
    pub slices: Option<CountedSlices>,
    /// Variables of a lowered operator that tell its code of watermarks, if it has such code.
    pub on_watermark: Option<WatermarkLogic>,
    /// Number of tuples that were too late, as far as the metric counts them.
    pub late_recorded: u64,
    pub history: TupleHistory,
    pub ports: Vec<InputPortState>,
    /// By input port: counters of tuples, which the wiring shares.
    pub processed: Arc<[Counter]>,
    /// By input port: counters of markers, which the wiring shares.
    pub punctuation: Arc<[PunctuationCounters]>,
    pub flags: OperatorFlags,
    /// The input watermark; `None` if no stream brings watermarks.
    pub watermark: Option<Box<InputWatermark>>,
    /// Whether the operator takes no more input: its streams have ended, with or without final
    /// markers, its end was forced because no thread is left to feed it, or it is a lowered source
    /// that has returned.
    pub is_finished: bool,
}

/// State of an input port: which of its streams have ended, and what its tuples look like.
#[derive(Debug)]
pub(crate) struct InputPortState {
    /// Number of streams that have not ended.
    pub finals_left: u32,
    /// Whether one of the streams has ended without a final marker.
    pub is_abandoned: bool,
    pub is_control: bool,
    /// Layout of the tuples. Debug builds check each tuple against it, so that code which submits
    /// other memory is found where it does so.
    pub layout: Arc<Layout>,
    /// Output ports to which window markers of this port are forwarded.
    pub markers_forwarded_to: Vec<PortIndex>,
    /// Output port that ends when this port does.
    pub continued_at: Option<PortIndex>,
}

impl InputPortState {
    /// Checks in debug builds that the bytes are a tuple of the port's schema.
    #[inline]
    pub fn debug_check(&self, tuple: TupleRef<'_>) {
        if cfg!(debug_assertions)
            && let Err(error) = tuple::layout::check(&self.layout, tuple.bytes())
        {
            panic!("what came in is no {}: {error}", self.layout.schema);
        }
    }
}

/// Properties of an operator that the run time has to observe.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperatorFlags {
    /// Whether a thread of its own submits, forwards markers and ends the streams.
    pub own_thread: bool,
    /// Whether another thread waits for the operator's end.
    pub always_finishes: bool,
    /// Whether [`crate::Operator::has_room`] has to be asked before each tuple.
    pub is_bounded: bool,
    /// Whether [`crate::Operator::flush`] has to be called before the thread sleeps.
    pub needs_flush: bool,
    /// Whether the operator's timers submit nothing, and no thread of its own does meanwhile.
    pub has_silent_timers: bool,
    /// Whether it accepts owned tuples, and only its own code sees them.
    pub accepts_owned: bool,
    /// Whether the operator stands in a feedback loop.
    pub is_in_loop: bool,
    pub catch: CatchPolicy,
}

impl OperatorFlags {
    /// Whether a tuple can be delivered without a look at bounds, loops or `@catch`.
    pub fn needs_no_checks(&self) -> bool {
        !self.is_bounded && !self.is_in_loop && !self.catch.catches_any()
    }
}
