//! The fixed part of a running PE: who is fed by which output port, what is shared by threads.
//!
//! All threads hold the same wiring; it never changes once the PE runs, but for flags and counters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use graph::{OriginId, Pos};

use super::delivery::PendingDelivery;
use super::operator_instance::OperatorInstance;
use super::port_state::{INTERRUPTED, OPEN, OutputPortState, WatermarkEdge};
use crate::abi::Counter;
use crate::blocking::loop_lock::LoopLock;
use crate::blocking::pe_thread::PeThreadId;
use crate::blocking::thread_waits::{LockHolder, ThreadWaits};
use crate::counters::crossing_counters::CrossingCounters;
use crate::counters::punctuation_counters::PunctuationCounters;
use crate::counters::queue_counters::QueueCounters;
use crate::services::operator_services::OperatorServices;
use crate::services::pe_context::PeContext;

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
