//! The physical plan: which process, which thread and which medium each part of a program gets.
//!
//! It refers to a [`Program`] by operator number and holds nothing of it, so that one program can
//! have many plans.
//!
//! ```text
//!   PE 0                                            PE 1
//!     region 0: begins at the source 0, runs 0 1      region 0: begins at a receiver, runs 4 5
//!     region 1: begins at a threaded port, runs 3
//!                        1 -> 4 crosses: medium shm
//! ```
//!
//! # Invariants
//! Every operator is in exactly one PE. A region's first operator is where it begins. An operator
//! that no source reaches (it is fed only by its own loop) is in no region. An edge between two PEs
//! belongs to exactly one crossing; an edge within a PE to none. The operators of a loop are in one
//! PE. Edges, regions and what is shared follow from the rest: [`Plan::derive`].
//!
//! A receiver that only fills queues has a thread, but runs no operator and is no region. Threads
//! that operators start by themselves (for a delay, for the time of a window) are not the plan's.

mod check;
mod derive;
mod disjoint_sets;
mod inserted_names;
mod loops;
mod missing_crossings;
mod order;
mod pe_assignment;
mod pins;
mod receivers;
mod stream_consumers;
mod text;

use std::sync::Arc;

use crate::{OperatorId, OutPortId, Program};

pub use check::{PlanFault, PlanPart};
pub use disjoint_sets::DisjointSets;
pub use order::{Merge, MergeInput, OriginId, PlanOrder};
pub use pe_assignment::PeAssignment;
pub use pins::{Pin, PinnedThread};
pub use receivers::ReceiverPlan;
pub use stream_consumers::{InPortId, StreamConsumers};
pub use text::PlanTextError;

/// How a program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its processes.
    pub pes: Vec<PePlan>,
    /// The streams that cross from one to others, in order of the program. A link's number is its
    /// index here.
    pub crossings: Vec<Crossing>,
}

/// A processing element: a fused set of operators in one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PePlan {
    /// Its operators, in order of the program.
    pub operators: Vec<OperatorId>,
    /// What each of its threads runs.
    pub regions: Vec<Region>,
    /// Operators that more than one region runs, in order: they need a lock.
    pub shared_operators: Vec<OperatorId>,
    /// Every edge that ends in this PE, in order of the receiving ports.
    pub edges: Vec<PlanEdge>,
    /// Input ports with a queue and a thread of their own, in order of the ports.
    pub threaded_ports: Vec<ThreadedPort>,
    /// The cores that its threads may run on; empty: any.
    pub cores: Vec<u32>,
    /// The name of the host that its process runs on; `None`: the launcher's.
    pub host: Option<Arc<str>>,
    /// Threads of sources and receivers that have a core of their own, in order.
    pub pins: Vec<Pin>,
}

/// What one thread runs by direct calls, depth first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Where it begins.
    pub source: OperatorId,
    /// Every operator that it may reach, the first one first, in depth-first order of the calls.
    pub operators: Vec<OperatorId>,
}

/// An edge with its medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEdge {
    /// The output port.
    pub from: OutPortId,
    /// The receiving operator.
    pub operator: OperatorId,
    /// Its input port.
    pub port: u32,
    /// How tuples get there.
    pub medium: EdgeMedium,
}

/// How tuples cross an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeMedium {
    /// By a direct call.
    Fused,
    /// Through the queue of the input port: [`PePlan::threaded_ports`].
    Queue,
    /// Through a ring to the thread that takes the operator's streams in order: [`Merge`].
    Merge,
    /// From another PE: by the crossing of this number.
    Crossing(u32),
}

/// An input port with a queue and a thread of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadedPort {
    /// The operator.
    pub operator: OperatorId,
    /// Its input port.
    pub port: u32,
    /// What happens to a tuple when the queue is full.
    pub congestion: CongestionPolicy,
    /// Tuples that the queue holds at most; at least 1.
    pub tuples_max: u32,
    /// The core of its thread, if it has one of its own.
    pub core: Option<u32>,
}

/// What happens to a tuple when a queue is full. Punctuation always waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionPolicy {
    /// Whoever submits waits: `Sys.Wait`.
    Wait,
    /// The oldest tuple is dropped: `Sys.DropFirst`.
    DropFirst,
    /// The new tuple is dropped: `Sys.DropLast`.
    DropLast,
}

/// A stream on its way to other PEs: one sender there, one receiver in each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The output port.
    pub from: OutPortId,
    /// The receiving PEs, in order. A receiver's number is its index here.
    pub to: Vec<u32>,
    /// The medium's name: `shm`. Until one is chosen: [`AUTO`].
    pub medium: Arc<str>,
    /// How tuples are written.
    pub codec: CrossingCodec,
    /// Bytes under way; `None`: the medium's default.
    pub ring_bytes: Option<u64>,
    /// Shortest and longest batching time in microseconds, and the size of a batch in bytes;
    /// `None`: the default.
    pub batch: Option<(u32, u32, u32)>,
}

/// The medium of a crossing for which none is chosen yet. No medium is called so.
pub const AUTO_MEDIUM: &str = "auto";

/// How tuples are written for a crossing edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossingCodec {
    /// As they lie in memory: the flat layout.
    #[default]
    Facade,
    /// Field by field, in network byte order.
    Normal,
}

/// The operators that a plan puts between those of the program: they are not of any toolkit. Their
/// parameters are constants.
pub mod inserted_operators {
    /// Takes a stream out of a PE, or to a merge within it. One input port; parameter `link`: the
    /// number of the crossing, or of the ring. If its order counts: `origin` (uint32 list), `again`
    /// and `more` (boolean), see `runtime::crossing::order`.
    pub const SEND: &str = "thalweg.transport::Send";
    /// Brings streams into a PE, or takes them in order within it. An output port for each value of
    /// its parameter `link`, in order. If their order counts: `rank` (uint32 list, by port),
    /// `carried` (uint32 list: a link and an origin by turns).
    pub const RECEIVE: &str = "thalweg.transport::Receive";
    /// Gives an operator its turn where the order counts in which it and senders of the same stream
    /// are called. One input and one output port of the same schema; parameters `rank` (uint32),
    /// `again` and `more` (boolean).
    pub const TURN: &str = "thalweg.transport::Turn";
    /// A threaded port. One input and one output port of the same schema; parameters `tuples_max`
    /// (uint32), `congestion` (`wait`, `dropFirst`, `dropLast`) and, if it has one, `core`
    /// (uint32).
    pub const QUEUE: &str = "thalweg.transport::Queue";
    /// Makes watermarks of what an operator sends, by its own clock. An input and an output port of
    /// the same schema for each port of the operator that sends some.
    pub const WATERMARKS: &str = "thalweg.eventtime::Watermarks";
}

impl PePlan {
    /// Whether more than one region runs an operator.
    pub fn is_shared(&self, operator: OperatorId) -> bool {
        self.shared_operators.binary_search(&operator).is_ok()
    }
}
