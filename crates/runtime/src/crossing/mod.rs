//! The operators that a plan inserts: at the borders of a PE, before threaded ports, where the
//! order of a stream counts, and behind the makers of watermarks. The queue of a threaded port is
//! in `queue`, the contract of most of these operators in `inserted`.
//!
//! ```text
//!    PE 0                                          PE 1
//!    region: source -> ... -> Send ==== medium ==== Receive -> ... : region
//!                             claim, commit   poll, release
//! ```
//! [`ENTRIES`] are their entries of the registry. [`CrossingEnds`] are the ends of media that they
//! are given, by crossing.
//!
//! # How a stream ends
//! 1. In order: the final marker crosses like a tuple. Send's end lingers until all receivers have
//!    taken everything, and blocks no thread meanwhile.
//! 2. The sender's PE fails or dies: no final marker crosses. Receive delivers the tuples that were
//!    sent, then its PE fails too, with a sentence that names the stream and both PEs.
//! 3. The receiver's PE is gone: Send fails, once.
//! 4. Behind a loop, which has no final marker: when the sender's PE has ended well, a frame says
//!    that nothing follows, and Receive ends the stream without a marker, as within a PE.
//!
//! A shutdown ends sources, not Receive, which goes on until the final marker has come. A failure
//! in its own PE ends it. Operators downstream learn that the stream is abandoned, so no final
//! marker is sent for a stream that did not end in order.

mod ordered_call;
mod ordered_input;
pub(crate) mod ordered_merge;
mod receive;
mod send;
mod send_entry;
mod stamping_send;
mod watermark_generator;

use crate::OperatorEntry;

pub use crate::counters::crossing_counters::{CrossingCounters, CrossingSide};
pub use crate::counters::latency::{BUCKET_COUNT, CrossingLatencyHistogram, bucket_end_ns};
pub use crate::counters::queue_counters::QueueCounters;
pub use crate::edge::crossing_ends::{CrossingEnds, InboundCrossing, OutboundCrossing};
use crate::queue::queue_entry;

/// Entries of the operators that [`graph::inserted_operators`] names.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use runtime::crossing::ENTRIES;
///
/// let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.model.name).collect();
/// assert_eq!(names, ["Send", "Receive", "Queue", "OrderedCall", "Watermarks"]);
/// ```
pub const ENTRIES: &[OperatorEntry] = &[
    send_entry::ENTRY,
    receive::ENTRY,
    queue_entry::ENTRY,
    ordered_call::ENTRY,
    watermark_generator::ENTRY,
];
