//! The borders of a PE: the operators that a plan inserts where streams cross.
//!
//! ```text
//!   PE 0                                          PE 1
//!   region: source -> ... -> Send ==== medium ==== Receive -> ... : region
//!                            claim, commit   poll, release
//! ```
//! [`ENTRIES`] are their lines of the registry; [`CrossingEnds`] are the ends of media that they
//! are given, by the crossing's number.
//!
//! # How a stream ends
//! 1. In order: the final marker crosses like a tuple. Send's end lingers until all receivers have
//!    taken everything, and holds nobody up meanwhile.
//! 2. The sender's PE fails or dies: no final marker crosses. Receive delivers what was sent, then
//!    its PE fails too, with a sentence that names the stream and both PEs.
//! 3. The receiver's PE is gone: Send fails, once.
//! 4. Behind a loop, which has no final marker: when the sender's PE has ended well, a frame says
//!    that nothing follows, and Receive ends the stream without a marker, as within a PE.
//!
//! A shutdown ends sources, not Receive: it takes until the final marker has come. A failure in its
//! own PE ends it; what is downstream is told that the stream is abandoned, so no final marker gets
//! out that was not earned.

pub(crate) mod before_sleep;
mod codec;
mod congestion_meter;
mod crossing_counters;
mod crossing_ends;
mod frame_kind;
mod idle_policy;
mod latency;
mod linger;
pub(crate) mod order;
mod ordered_merge;
mod queue;
mod receive;
mod reorder_buffer;
mod send;
mod sender_positions;
mod stamping_send;
mod turn;

pub use crossing_counters::{CrossingCounters, CrossingSide};
pub use crossing_ends::{CrossingEnds, InboundCrossing, OutboundCrossing};
pub use latency::{BUCKET_COUNT, CrossingLatencyHistogram, bucket_end_ns};
pub use queue::QueueCounters;

pub(crate) use crossing_ends::CrossingResources;
pub(crate) use idle_policy::IdlePolicy;
pub(crate) use linger::LingerList;

use crate::OperatorEntry;

/// The registry's lines of the operators that [`graph::inserted`] names.
pub const ENTRIES: &[OperatorEntry] = &[
    send::ENTRY,
    receive::ENTRY,
    queue::ENTRY,
    turn::ENTRY,
    crate::watermark_generator::ENTRY,
];
