//! Plain TCP: each frame is written at once, without delay.
//!
//! The sender listens on a port of its own for each edge. A receiver connects to the address in
//! its ticket. With several receivers each frame is written to each of them.
//!
//! ```text
//!   sender                                            receiver
//!     listener                    <- connect, twice -   connector
//!                                 <--- handshake ----   magic, version, token, edge, receiver
//!                                 --- reply -------->   accepted, or what is wrong
//!     claim, commit: one write    --- frames ------->   receive buffer: frames polled in place
//!     credit reader               <-- credit --------   credit writer: bytes released so far
//! ```
//! The threads that send and receive never wait. A write that goes out in part is continued by the
//! next calls, and by the [IO thread](crate::media::tcp_edge::io_thread) when there are none. The
//! IO thread also does the handshakes.
//!
//! Credit bounds the bytes that are unreleased. A receiver reports how far it has released at once
//! when an eighth of the ring is unreported; otherwise the IO thread reports it about once a
//! millisecond.
//!
//! Frames are sent as they lie in memory, so both sides must have the same byte order.

mod medium;
mod receiver;
mod sender;
mod sender_state;

pub use medium::TcpMedium;
