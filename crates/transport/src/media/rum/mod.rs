//! Reliable unicast messaging: many frames a write, over TCP connections that may break.
//!
//! Frames are built in a ring of the sender and sent from there: adjacent frames go out as one
//! batch, with one write and no copy. They stay in the ring until every receiver has released
//! them. A receiver whose connection broke connects again, names the position that it expects, and
//! goes on: no frame is lost, doubled or out of order.
//!
//! ```text
//!   sender                                                   receivers
//!     claim, commit --> | ring: kept ... not sent yet |
//!                           ^          ^         ^
//!                        released    cursor of   cursor of
//!                        by all      receiver 1  receiver 0 -- batch --> receive buffer
//!                           +------------------------------ credit <---- position released
//! ```
//! The sending thread sends a batch itself when it is full or the receiver is idle. Frames that it
//! leaves behind are sent in time by the IO thread: see [`sender_state`].
//!
//! # Flow
//! Frames on their way to a receiver lie in the ring, so the ring's size bounds them. A receiver
//! returns credit when it has released a quarter of the ring, and when it has nothing left to
//! receive.
//!
//! # Disconnected or gone
//! A receiver whose connection broke connects again at once, and then at growing intervals. It
//! gives up when nothing listens at the sender's address any more, or when the sender was not
//! reached for [`RumMedium::reconnect_timeout`]. A sender waits for a disconnected receiver as it
//! waits for a slow one, as long as the receiver's process answers: see [`liveness`].

mod batch_header;
mod batch_sender;
mod break_policy;
pub(in crate::media) mod commit_budget;
mod connected_receiver;
mod connection_state;
pub(in crate::media) mod flush_deadline;
pub(in crate::media) mod flush_watchdog;
pub(in crate::media) mod liveness;
mod medium;
mod outgoing_batches;
mod rails;
mod receiver;
mod receiver_identity;
mod receiver_task;
mod reconnect;
mod sender;
mod sender_state;
mod stream_break;

pub(in crate::media) use medium::RumEdges;
pub use medium::RumMedium;
