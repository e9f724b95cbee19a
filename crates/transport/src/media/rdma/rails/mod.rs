//! Rails in mode `batch`: one stream striped over several paths, each a connection of its own.
//!
//! The sender has a node that listens on each of several addresses, and each receiver connects to
//! all of them. Both have the same ring, as with one path. A segment of the sender's ring is
//! written to the same place of the receiver's, over the rail on which it would arrive first
//! ([`crate::media::rails::schedule`]). With the write comes a number ([`rail_number`]) that says
//! which positions it was, after they are placed. The receiver delivers records as soon as
//! everything before them is placed.
//!
//! ```text
//!   sender's ring                                     receiver's ring
//!   | 0 | 1 | 2 | 3 | ...                             | 0 |   | 2 | 3 |
//!       |               rail 0: writes 0, 2, 3  -->     ^ delivered up to here
//!       +-------------- rail 1: write 1         -->
//!        <-- reports: position released, and of each rail the number of segments received
//! ```
//! # A rail breaks
//! The sender's ring keeps bytes until they are released. What a broken rail had not delivered goes
//! out again on the others, to the same place. The receiver connects again for as long as another
//! rail is left. When none is, both sides behave as with one connection. A rail that falls silent
//! is closed by the sender, and made again by the receiver.
//!
//! # Why a place is not used again at once
//! A write that was given up may still arrive, from the buffers of a network. It would overwrite
//! what another rail has brought to that place since. So the sender uses no place of its ring again
//! while a write of it is on its way: until the receiver reports it, or says that it has closed the
//! connection, after which nothing is placed any more. The sender tells on the other rails which
//! connections are to be closed, and reports on any rail tell which are ([`rail_report`]).
//!
//! # Parts
//! [`rail_targets`] is the sender's side of all receivers, [`rail_target`] of one, [`target_rail`]
//! of one rail of it; [`rail_receiver`] is the receiver's side, [`receiver_rail`] of one rail.

mod open_rails;
mod rail_events;
mod rail_number;
mod rail_receiver;
mod rail_report;
mod rail_request;
mod rail_target;
mod rail_targets;
mod rail_wait_set;
mod rails_ticket;
mod receiver_rail;
mod sender_node;
mod target_rail;
#[cfg(test)]
mod tests;

/// Number of this mode in greetings.
const RAILS_MODE: u16 = 6;

/// Bytes behind the ring, on both sides, that are written where a number is to come without bytes
/// of the ring. Nothing reads them.
const SPARE_BYTES: usize = 8;

/// Bits of the number of a rail's connection. The receiver counts its tries, at most five a second,
/// so half of all numbers are those of 19 days.
const EPOCH_BITS: u32 = 24;

const EPOCH_MASK: u32 = (1 << EPOCH_BITS) - 1;

/// Whether a connection of a rail was made no later than another of the same rail, by the lowest
/// bits of their numbers.
fn is_at_most(epoch: u32, other: u32) -> bool {
    other.wrapping_sub(epoch) & EPOCH_MASK < 1 << (EPOCH_BITS - 1)
}
