//! Ports of a running PE: the state of an output port, and the input ports that it feeds.

use std::sync::atomic::{AtomicU8, Ordering};

use graph::PortIndex;
use tuple::Punctuation;

use crate::abi::{Counter, TapBudget};
use crate::counters::punctuation_counters::PunctuationCounters;

/// State of an output port, its counters, and its consumers.
#[derive(Debug, Default)]
pub(crate) struct OutputPortState {
    /// [`OPEN`], [`CLOSED`], [`INTERRUPTED`] or [`ABANDONED`]. Written by the thread that is in the
    /// operator, and after a shutdown by the thread that interrupts; read by the operator's own
    /// thread.
    pub state: AtomicU8,
    pub submitted: Counter,
    /// Tuples that somebody wants to see.
    pub tap: TapBudget,
    pub punctuation: PunctuationCounters,
    /// Input ports that the port feeds, in order of connection.
    pub consumers: Box<[ConsumerPort]>,
}

/// State of a port that tuples pass.
pub(crate) const OPEN: u8 = 0;
/// State of a port that the final marker has passed: nothing else passes it.
pub(crate) const CLOSED: u8 = 1;
/// State of a port whose source goes on submitting after a shutdown: submitting fails.
pub(crate) const INTERRUPTED: u8 = 2;
/// State of a port whose operator has failed: nothing else passes it, and the next thread that
/// finds it so and may enter the consumers abandons the stream. The thread of the failure may not
/// enter them if it is that of silent timers.
pub(crate) const ABANDONED: u8 = 3;

impl OutputPortState {
    /// Closes the port. Returns the state that it had.
    pub fn close(&self) -> u8 {
        self.state.swap(CLOSED, Ordering::Relaxed)
    }

    /// Leaves it to another thread to abandon the stream, unless the port is closed.
    pub fn leave_abandoned(&self) {
        let order = Ordering::Relaxed;
        let is_left = |state| (state != CLOSED).then_some(ABANDONED);
        // A closed port stays closed.
        let _ = self.state.fetch_update(order, order, is_left);
    }
}

/// An input port that an output port feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConsumerPort {
    pub operator: u32,
    pub port: PortIndex,
    /// Whether the stream brings no window markers to the port:
    /// [`graph::InPort::sources_without_markers`].
    pub skips_window_markers: bool,
}

impl ConsumerPort {
    /// An input port that gets window markers too.
    pub fn new(operator: u32, port: PortIndex) -> ConsumerPort {
        ConsumerPort {
            operator,
            port,
            skips_window_markers: false,
        }
    }

    /// Whether a marker is delivered to the port.
    pub fn accepts(&self, mark: Punctuation) -> bool {
        mark == Punctuation::Final || !self.skips_window_markers
    }
}

/// A stream with watermarks, where it comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WatermarkEdge {
    pub consumer: ConsumerPort,
    /// Number of the stream among those of the port with watermarks.
    pub stream: u32,
}
