//! The ports of a running PE: what an output port counts and feeds, and the input ports that it feeds.

use std::sync::atomic::{AtomicU8, Ordering};

use tuple::Punctuation;

use crate::abi::Counter;
use crate::counters::punctuation_counters::PunctuationCounters;

/// An output port.
#[derive(Debug, Default)]
pub(crate) struct OutputPortState {
    /// One of the states below. Written by whoever is in the operator, and after a shutdown by
    /// whoever interrupts; read by its own thread.
    pub state: AtomicU8,
    pub submitted: Counter,
    pub punctuation: PunctuationCounters,
    /// In order of connection.
    pub consumers: Box<[ConsumerPort]>,
}

/// Tuples pass.
pub(crate) const OPEN: u8 = 0;
/// The final marker has passed; nothing else does.
pub(crate) const CLOSED: u8 = 1;
/// The source submits on and on after a shutdown: submitting fails.
pub(crate) const INTERRUPTED: u8 = 2;

impl OutputPortState {
    /// Closes it; whether it was not closed before.
    pub fn close(&self) -> bool {
        self.state.swap(CLOSED, Ordering::Relaxed) != CLOSED
    }
}

/// An input port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConsumerPort {
    pub operator: u32,
    pub port: u32,
    /// The stream brings it no window markers: [`graph::InPort::unmarked`].
    pub skips_window_markers: bool,
}

impl ConsumerPort {
    /// A port that gets everything.
    pub fn new(node: u32, port: u32) -> ConsumerPort {
        ConsumerPort {
            operator: node,
            port,
            skips_window_markers: false,
        }
    }

    /// Whether a marker gets to it.
    pub fn accepts(&self, mark: Punctuation) -> bool {
        mark == Punctuation::Final || !self.skips_window_markers
    }
}

/// A stream with watermarks where it comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WatermarkEdge {
    pub consumer: ConsumerPort,
    /// Its number among those of the port.
    pub stream: u32,
}
