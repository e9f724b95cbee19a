//! Rails: one stream striped over several paths, each a connection of its own.
//!
//! The sender listens on several local addresses, and each receiver connects to all of them. A
//! batch goes out on the rail on which it would arrive first, and carries its position. The
//! receiver puts it into a copy of the sender's ring, at its position, so that frames lie in order
//! whatever came first.
//!
//! ```text
//!   sender's ring                                      receiver's copy of the ring
//!   | 0 | 1 | 2 | 3 | ...                              | 0 |   | 2 | 3 |
//!       |                 rail 0: batches 0, 2, 3  -->     ^ polled up to here
//!       +---------------- rail 1: batch 1          -->
//!          <-- each rail: position released, number of batches received
//! ```
//! # A rail breaks
//! The sender's ring keeps bytes until they are released. What a broken rail had not delivered goes
//! out again on the others; what had come after all is dropped, for its bytes were received. The
//! receiver connects again for as long as another rail is left. When none is, both sides behave as
//! with one connection: see [`rum`](super).
//!
//! # Parts
//! [`schedule`](crate::media::rails::schedule) decides and knows no sockets: it assigns bytes to
//! rails by their measured rates, finds stalled rails, and has bytes go out again. `stall_watch`
//! says when the IO thread looks for them. `striped_sender` writes, `rail_reader` reads,
//! `reorder_ring` puts into order.

mod outgoing_segment;
mod rail_reader;
mod reorder_ring;
mod stall_watch;
mod striped_receiver;
mod striped_sender;

pub(super) use striped_receiver::{LoneFrameReports, RailEnd, StripedReceiver};
pub(super) use striped_sender::StripedSender;
