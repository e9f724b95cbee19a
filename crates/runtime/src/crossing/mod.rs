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

mod receive;
mod send;
mod send_entry;
mod stamping_send;
mod turn;
mod watermark_generator;

pub use crate::counters::crossing_counters::{CrossingCounters, CrossingSide};
pub use crate::counters::latency::{BUCKET_COUNT, CrossingLatencyHistogram, bucket_end_ns};
pub use crate::counters::queue_counters::QueueCounters;
pub use crate::edge::crossing_ends::{CrossingEnds, InboundCrossing, OutboundCrossing};

use crate::OperatorEntry;
use crate::queue::queue_entry;

/// The registry's lines of the operators that [`graph::inserted_operators`] names.
pub const ENTRIES: &[OperatorEntry] = &[
    send_entry::ENTRY,
    receive::ENTRY,
    queue_entry::ENTRY,
    turn::ENTRY,
    watermark_generator::ENTRY,
];
