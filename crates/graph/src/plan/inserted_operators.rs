//! The operators that a plan puts between those of the program, by kind.
//!
//! They belong to no toolkit, and all of their parameters are constants.

/// A sender: takes a stream out of a PE, or to a merge within it. One input port; parameter
/// `crossing`: the number of the crossing, or of the ring. If the stream's order counts: `origin`
/// (uint32 list), `repeatsPosition` and `isRepeatedNext` (boolean), see `runtime::order`.
pub const SEND: &str = "thalweg.transport::Send";

/// A receiver or a merge: brings streams into a PE, or takes them in order within it. One output
/// port for each value of its parameter `crossing`, in order. If their order counts: `rank` (uint32
/// list, by port), `carried` (uint32 list, a crossing and an origin in turn).
pub const RECEIVE: &str = "thalweg.transport::Receive";

/// An ordered call: calls an operator at its rank among the consumers of a stream, where the order
/// counts in which operators and senders are called. One input and one output port of one schema;
/// parameters `rank` (uint32), `repeatsPosition` and `isRepeatedNext` (boolean).
pub const ORDERED_CALL: &str = "thalweg.transport::OrderedCall";

/// The queue of a threaded port. One input and one output port of one schema; parameters `tuples`
/// (uint32), `congestion` (`wait`, `dropFirst`, `dropLast`) and, if the thread has a core of its
/// own, `core` (uint32). A pooled queue has `pool` (uint32 list): the threads of the pool, and the
/// greatest number of them if it is elastic.
pub const QUEUE: &str = "thalweg.transport::Queue";

/// A watermark generator: makes watermarks of the tuples that an operator sends, by the operator's
/// clock. One input and one output port of one schema for each port of the operator that sends
/// watermarks.
pub const WATERMARKS: &str = "thalweg.eventtime::Watermarks";
