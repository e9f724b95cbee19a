//! Crossing edges: how frames get from one thread or process to another.
//!
//! A *medium* is what an edge rides on: [`Medium`], one file each below [`media`]. It gives two
//! ends: [`SendingEnd`] is claimed, committed and flushed; [`ReceivingEnd`] is polled and released.
//! Frames are built and read in place. Nothing here knows operators or schemas.
//!
//! ```text
//!   PE of the sender                                PE of the receiver
//!     Medium::open(spec) -> Outbound + Tickets        Medium::accept(spec, ticket) -> Inbound
//!                              |                          ^
//!                              +------ the launcher ------+
//! ```

#![warn(missing_docs)]

mod contract;
mod counters;
mod error;
pub mod fragment;
pub mod idle;
pub mod media;
mod park;
mod ticket;
mod wakeup;

pub use contract::{
    Batching, EdgeSpec, EdgeTicket, Medium, MediumCaps, ReceivingEnd, SendingEnd, Waitable,
};
pub use counters::EdgeCounters;
pub use error::{Error, PeerLoss};
pub use idle::{IdleStrategy, Idler};
pub use park::WaitSet;
pub use wakeup::Wakeup;
