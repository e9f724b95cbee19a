//! The wiring of a running PE: which output port feeds which input ports, and what threads share.
//!
//! All threads hold the same wiring. Once the PE runs, its structure is fixed. What changes is
//! atomic or behind locks: flags, counters, shared operators and their pending items, loop locks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use graph::{OriginId, PeThreadId, PortIndex, Pos};
use sampling::CpuSamples;

use super::delivery::PendingDelivery;
use super::operator_instance::OperatorInstance;
use super::port_state::{INTERRUPTED, OPEN, OutputPortState, WatermarkEdge};
use crate::abi::Counter;
use crate::blocking::loop_lock::LoopLock;
use crate::blocking::thread_waits::{LockHolder, ThreadWaits};
use crate::counters::crossing_counters::CrossingCounters;
use crate::counters::punctuation_counters::PunctuationCounters;
use crate::counters::queue_counters::QueueCounters;
use crate::services::operator_services::OperatorServices;
use crate::services::pe_context::PeContext;

/// The part of a running PE that its threads share. Vectors are indexed by operator, unless said
/// otherwise.
pub(crate) struct Wiring {
    pub context: Arc<PeContext>,
    pub waits: Arc<ThreadWaits>,
    pub services: Vec<OperatorServices>,
    /// Counters of all crossings, in no order.
    pub crossing_counters: Vec<Arc<CrossingCounters>>,
    /// Counters of all queues, in no order.
    pub queue_counters: Vec<Arc<QueueCounters>>,
    /// By operator: the origin that it is, because it submits by itself. Empty if nothing is
    /// ordered.
    pub operator_origins: Vec<Option<OriginId>>,
    /// Kind and position of each operator, for messages.
    pub labels: Vec<OperatorLabel>,
    pub outs: Vec<Box<[OutputPortState]>>,
    /// By operator and output port: the consumers of its watermarks; empty if it sends none.
    pub watermark_edges: Vec<Box<[Box<[WatermarkEdge]>]>>,
    /// By operator and input port: tuples that came in.
    pub processed: Vec<Arc<[Counter]>>,
    /// By operator and input port: markers that came in.
    pub punctuation: Vec<Arc<[PunctuationCounters]>>,
    /// Operators that several threads may enter; `None` for the others.
    pub shared: Vec<Option<SharedOperator>>,
    /// Threads that may make room in the operator: those that enter it, and its own.
    pub threads: Vec<Box<[PeThreadId]>>,
    /// Operators whose end another thread waits for, with the threads that feed them; the thread of
    /// the timers is not among these.
    pub fed_operators: Vec<(u32, Box<[PeThreadId]>)>,
    /// Locks of the feedback loops, by loop.
    pub loop_locks: Vec<LoopLock>,
    /// By thread: what it says that it runs, and its samples. The last one is the thread's that
    /// closes the operators.
    pub thread_samples: Vec<Arc<CpuSamples>>,
    /// How often in a second of its processor time each thread is sampled; `None`: not at all.
    pub samples_per_second: Option<u32>,
}

/// Kind and position of an operator, for messages.
pub(crate) struct OperatorLabel {
    pub kind: Arc<str>,
    pub pos: Pos,
}

impl Wiring {
    /// Whether the order of any stream of the PE counts.
    pub fn is_ordered(&self) -> bool {
        !self.operator_origins.is_empty()
    }

    /// The origin that an operator is, if it is one.
    pub fn origin_of(&self, operator: u32) -> Option<OriginId> {
        self.operator_origins
            .get(operator as usize)
            .copied()
            .flatten()
    }

    /// Consumers of the watermarks of an output port.
    pub fn watermark_edges(&self, operator: u32, port: PortIndex) -> &[WatermarkEdge] {
        let ports = &self.watermark_edges[operator as usize];
        ports.get(port.index()).map_or(&[], |edges| edges)
    }

    /// Number of tuples and markers that an operator has submitted, on all its output ports.
    pub fn submitted_count(&self, operator: u32) -> u64 {
        let ports = self.outs[operator as usize].iter();
        let counts = ports.map(|out| {
            let markers = out.punctuation.get();
            out.submitted.get() + markers.windows + markers.finals
        });
        counts.sum()
    }

    /// Number of tuples that all operators have processed.
    pub fn processed_count(&self) -> u64 {
        let ports = self.processed.iter().flat_map(|ports| ports.iter());
        ports.map(Counter::get).sum()
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
    /// The thread that holds the lock of `instance`.
    pub holder: Arc<LockHolder>,
    /// Items that came back through a loop while the operator was busy. Only operators in loops use
    /// it.
    pub pending: Mutex<VecDeque<PendingDelivery>>,
    /// The loop that the operator stands in: an index of [`Wiring::loop_locks`].
    pub loop_lock: Option<u32>,
    /// Whether [`crate::Operator::flush`] has to be called before a thread sleeps.
    pub needs_flush: bool,
}
