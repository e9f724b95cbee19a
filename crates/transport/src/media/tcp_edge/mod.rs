//! Parts of an edge over sockets that the media [`tcp`](super::tcp) and [`rum`](super::rum) share:
//! connecting, the first exchange, credit, the thread that serves connections, and the buffer that
//! frames are received into.
//!
//! ```text
//!   connector --handshake--> listener      both sides now have a pair of connections:
//!   receive buffer <------------ frames    one for frames
//!   credit writer -------------> credit    one for credit
//! ```

pub(super) mod acknowledge;
pub(super) mod address_ticket;
pub(super) mod connector;
pub(super) mod credit;
pub(super) mod handshake;
pub(super) mod io_thread;
pub(super) mod keepalive;
pub(super) mod listener;
#[cfg(test)]
pub(super) mod loopback;
pub(super) mod receive_buffer;
pub(super) mod receiver_connection;
pub(super) mod release_progress;
pub(super) mod sender_address;
pub(super) mod sender_poll_set;
pub(super) mod stream_end;
