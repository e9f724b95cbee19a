//! Crossing edges: how frames get from one thread or process to another.
//!
//! A *medium* is what an edge rides on: [`Medium`], one folder each below [`media`]. A medium makes
//! the two ends of an edge: frames are claimed, committed and flushed on a [`SendingEnd`], and
//! polled and released on a [`ReceivingEnd`]. Frames are built and read in place. This crate knows
//! no operators and no schemas.
//!
//! ```text
//!   PE of the sender                                PE of the receiver
//!     Medium::open(spec) -> SendingEnd, tickets       Medium::accept(spec, ticket) -> ReceivingEnd
//!                                |                          ^
//!                                +------ the launcher ------+
//! ```
//!
//! # Example
//! ```
//! use thalweg_transport::{Batching, EdgeSpec, media};
//!
//! let medium = media::find("ring").expect("a medium of this name");
//! let spec = EdgeSpec {
//!     name: "Trades.0".into(),
//!     edge: 0,
//!     receiver_count: 1,
//!     ring_bytes: 64 * 1024,
//!     batching: Batching::default(),
//!     token: [7; 16],
//!     listen: std::net::Ipv4Addr::LOCALHOST.into(),
//! };
//! let (mut sender, mut tickets) = medium.open(&spec)?;
//! let mut receiver = medium.accept(&spec, tickets.remove(0))?;
//! assert!(sender.try_write(1, 0, b"hello")?);
//! let frames = receiver.poll()?;
//! assert_eq!(frames.map(|frame| frame.bytes).collect::<Vec<_>>(), [b"hello"]);
//! receiver.release();
//! assert!(sender.is_drained()?);
//! # Ok::<(), thalweg_transport::Error>(())
//! ```

#![warn(missing_docs)]

mod contract;
mod counters;
mod error;
pub mod fragment;
pub mod idle;
mod listen_addresses;
pub mod media;
mod monotonic_clock;
mod park;
mod ticket;
mod wakeup;

pub use contract::{
    Batching, EdgeSpec, EdgeTicket, Medium, MediumCaps, MediumSetting, ReceivingEnd, SendingEnd,
    StatedCost, Waitable,
};
pub use counters::{EdgeCounters, RailCounters};
pub use error::{Error, PeerLoss};
pub use idle::{IdleStrategy, Idler};
pub use listen_addresses::{ListenAddresses, RAILS_MAX};
pub use monotonic_clock::monotonic_ns;
pub use park::WaitSet;
pub use wakeup::Wakeup;
