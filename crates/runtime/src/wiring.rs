//! The fixed part of a running PE: who is fed by which output port, what is shared by threads.
//!
//! All threads hold the same wiring; it never changes once the PE runs, but for flags and counters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use graph::{OriginId, Pos};
use tuple::{Punctuation, TupleBuf, Watermark};

use crate::abi::Counter;
use crate::crossing::{CrossingCounters, QueueCounters};
use crate::loop_lock::LoopLock;
use crate::operator_instance::OperatorInstance;
use crate::operator_services::OperatorServices;
use crate::pe_context::PeContext;
use crate::punctuation_counters::PunctuationCounters;
use crate::thread_waits::{LockHolder, PeThreadId, ThreadWaits};

/// Everything is indexed by operator.
pub(crate) struct Wiring {
    pub context: Arc<PeContext>,
    pub waits: Arc<ThreadWaits>,
    pub services: Vec<OperatorServices>,
    /// Counters of the links, in no order.
    pub crossing_counters: Vec<Arc<CrossingCounters>>,
    /// And of the queues.
    pub queue_counters: Vec<Arc<QueueCounters>>,
    /// What they give an order to by submitting by themselves; empty: nobody asks.
    pub operator_origins: Vec<Option<OriginId>>,
    /// What messages say of the operators.
    pub labels: Vec<OperatorLabel>,
    pub outs: Vec<Box<[OutputPortState]>>,
    /// By operator and output port: who gets its watermarks; empty: it sends none.
    pub watermark_edges: Vec<Box<[Box<[WatermarkEdge]>]>>,
    /// Tuples that came in, by input port.
    pub processed: Vec<Arc<[Counter]>>,
    /// And markers.
    pub punctuation: Vec<Arc<[PunctuationCounters]>>,
    /// Operators that several threads may enter.
    pub shared: Vec<Option<SharedOperator>>,
    /// Which threads may make room in it: those that enter it, and its own.
    pub threads: Vec<Box<[PeThreadId]>>,
    /// Operators that submit from a thread of their own, and the threads that feed them.
    pub fed_operators: Vec<(u32, Box<[PeThreadId]>)>,
    /// Locks of the feedback loops.
    pub loop_locks: Vec<LoopLock>,
}

/// What messages say of an operator, besides its name.
pub(crate) struct OperatorLabel {
    pub kind: Arc<str>,
    pub pos: Pos,
}

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

impl Wiring {
    /// Whether the order of anything in the PE counts.
    pub fn is_ordered(&self) -> bool {
        !self.operator_origins.is_empty()
    }

    /// What an operator gives an order to.
    pub fn origin_of(&self, node: u32) -> Option<OriginId> {
        self.operator_origins.get(node as usize).copied().flatten()
    }

    /// Who gets the watermarks of an output port.
    pub fn watermark_edges(&self, node: u32, port: u32) -> &[WatermarkEdge] {
        let ports = &self.watermark_edges[node as usize];
        ports.get(port as usize).map_or(&[], |lanes| lanes)
    }

    /// Makes an operator fail when it submits.
    pub fn interrupt(&self, source: u32) {
        for out in &self.outs[source as usize] {
            let (open, interrupted) = (OPEN, INTERRUPTED);
            let order = Ordering::Relaxed;
            // A closed port stays closed.
            let _ = out.state.compare_exchange(open, interrupted, order, order);
        }
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

/// An operator that several threads enter, one at a time.
pub(crate) struct SharedOperator {
    pub instance: Mutex<OperatorInstance>,
    /// Who has locked it.
    pub holder: Arc<LockHolder>,
    /// What came back to it through a loop while it was busy. Only operators in loops use it.
    pub pending: Mutex<VecDeque<PendingDelivery>>,
    /// The loop that it stands in: an index of [`Wiring::loop_locks`].
    pub loop_lock: Option<u32>,
    /// [`crate::Operator::flush`] is to be called before a thread sleeps.
    pub needs_flush: bool,
}

/// Something for an input port that is delivered later.
#[derive(Debug)]
pub(crate) enum PendingDelivery {
    Tuple(u32, TupleBuf),
    Punctuation(u32, Punctuation),
    /// With its lane.
    Watermark(u32, (u32, Watermark)),
    Abandon(u32),
}
