//! Crossing edges: how frames get from one thread or process to another.
//!
//! A *medium* is what an edge rides on: [`Medium`], one file each below [`media`]. It gives two ends:
//! [`Outbound`] is claimed, committed and flushed; [`Inbound`] is polled and released. Frames are
//! built and read in place. Nothing here knows operators or schemas.
//!
//! ```text
//!   PE of the sender                                PE of the receiver
//!     Medium::open(spec) -> Outbound + Tickets        Medium::accept(spec, ticket) -> Inbound
//!                              |                          ^
//!                              +------ the launcher ------+
//! ```

#![warn(missing_docs)]

mod bell;
mod contract;
mod counters;
mod error;
pub mod fragment;
pub mod idle;
pub mod media;
mod park;
mod ticket;

pub use bell::Bell;
pub use contract::{Batching, Caps, Inbound, Medium, Outbound, Spec, Ticket, Wait};
pub use counters::Counters;
pub use error::{Error, Loss};
pub use idle::{Idle, Strategy};
pub use park::Ends;
