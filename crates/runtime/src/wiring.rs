//! The fixed part of a running PE: who is fed by which output port, what is shared by threads.
//!
//! All threads hold the same wiring; it never changes once the PE runs, but for flags and counters.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use graph::{Origin, Pos};
use tuple::{Punctuation, TupleBuf, Watermark};

use crate::abi::Counter;
use crate::crossing::{Flow, Queued};
use crate::gate::Gate;
use crate::house::House;
use crate::marks::MarkCounters;
use crate::node::Node;
use crate::voice::Voice;
use crate::wait::{Holder, ThreadId, Waits};

/// Everything is indexed by operator.
pub(crate) struct Wiring {
    pub house: Arc<House>,
    pub waits: Arc<Waits>,
    pub voices: Vec<Voice>,
    /// Counters of the links, in no order.
    pub flows: Vec<Arc<Flow>>,
    /// And of the queues.
    pub queues: Vec<Arc<Queued>>,
    /// What they give an order to by submitting by themselves; empty: nobody asks.
    pub begins: Vec<Option<Origin>>,
    /// What messages say of the operators.
    pub heads: Vec<Head>,
    pub outs: Vec<Box<[OutPort]>>,
    /// By operator and output port: who gets its watermarks; empty: it sends none.
    pub lanes: Vec<Box<[Box<[Lane]>]>>,
    /// Tuples that came in, by input port.
    pub processed: Vec<Arc<[Counter]>>,
    /// And markers.
    pub marks: Vec<Arc<[MarkCounters]>>,
    /// Operators that several threads may enter.
    pub shared: Vec<Option<Shared>>,
    /// Which threads may make room in it: those that enter it, and its own.
    pub threads: Vec<Box<[ThreadId]>>,
    /// Operators that submit from a thread of their own, and the threads that feed them.
    pub fed: Vec<(u32, Box<[ThreadId]>)>,
    /// Locks of the feedback loops.
    pub gates: Vec<Gate>,
}

/// What messages say of an operator, besides its name.
pub(crate) struct Head {
    pub kind: Arc<str>,
    pub pos: Pos,
}

/// An output port.
#[derive(Debug, Default)]
pub(crate) struct OutPort {
    /// One of the states below. Written by whoever is in the operator, and after a shutdown by
    /// whoever interrupts; read by its own thread.
    pub state: AtomicU8,
    pub submitted: Counter,
    pub marks: MarkCounters,
    /// In order of connection.
    pub targets: Box<[Target]>,
}

/// Tuples pass.
pub(crate) const OPEN: u8 = 0;
/// The final marker has passed; nothing else does.
pub(crate) const CLOSED: u8 = 1;
/// The source submits on and on after a shutdown: submitting fails.
pub(crate) const INTERRUPTED: u8 = 2;

impl OutPort {
    /// Closes it; whether it was not closed before.
    pub fn close(&self) -> bool {
        self.state.swap(CLOSED, Ordering::Relaxed) != CLOSED
    }
}

impl Wiring {
    /// Whether the order of anything in the PE counts.
    pub fn is_ordered(&self) -> bool {
        !self.begins.is_empty()
    }

    /// What an operator gives an order to.
    pub fn begun_by(&self, node: u32) -> Option<Origin> {
        self.begins.get(node as usize).copied().flatten()
    }

    /// Who gets the watermarks of an output port.
    pub fn lanes(&self, node: u32, port: u32) -> &[Lane] {
        let ports = &self.lanes[node as usize];
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
pub(crate) struct Target {
    pub node: u32,
    pub port: u32,
    /// The stream brings it no window markers: [`graph::InPort::unmarked`].
    pub is_unmarked: bool,
}

impl Target {
    /// A port that gets everything.
    pub fn new(node: u32, port: u32) -> Target {
        Target {
            node,
            port,
            is_unmarked: false,
        }
    }

    /// Whether a marker gets to it.
    pub fn takes(&self, mark: Punctuation) -> bool {
        mark == Punctuation::Final || !self.is_unmarked
    }
}

/// A stream with watermarks where it comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub to: Target,
    /// Its number among those of the port.
    pub lane: u32,
}

/// An operator that several threads enter, one at a time.
pub(crate) struct Shared {
    pub node: Mutex<Node>,
    /// Who has locked it.
    pub holder: Arc<Holder>,
    /// What came back to it through a loop while it was busy. Only operators in loops use it.
    pub pending: Mutex<VecDeque<Parcel>>,
    /// The loop that it stands in: an index of [`Wiring::gates`].
    pub gate: Option<u32>,
    /// [`crate::Operator::flush`] is to be called before a thread sleeps.
    pub holds_back: bool,
}

/// Something for an input port that is delivered later.
#[derive(Debug)]
pub(crate) enum Parcel {
    Tuple(u32, TupleBuf),
    Mark(u32, Punctuation),
    /// With its lane.
    Watermark(u32, (u32, Watermark)),
    Abandon(u32),
}
