//! When the system acknowledges what came on a connection that goes one way.
//!
//! A socket on which nothing is ever sent acknowledges a lone segment while it is read, before the
//! reader gets it: a microsecond and more on the way of every frame. A socket that is told that a
//! reply will take the acknowledgement along waits for it, up to 40 ms, and a sender with more to
//! say may come to a halt meanwhile. So receivers read without acknowledging, and acknowledge when
//! they come back to read on and there is nothing: by then the frame has been worked on. What is
//! read in a stream the system acknowledges by itself, every second segment.
//!
//! All of this is about time, so an error of the system is of no importance.

use std::net::TcpStream;

use rustix::net::sockopt::set_tcp_quickack;

/// From now on whatever is read is acknowledged with it.
pub(crate) fn enable_quickack(stream: &TcpStream) {
    let _ = set_tcp_quickack(stream, true);
}

/// From now on the reader says when: [`now`].
pub(crate) fn disable_quickack(stream: &TcpStream) {
    let _ = set_tcp_quickack(stream, false);
}

/// Acknowledges what was read.
pub(crate) fn send_acknowledgement(stream: &TcpStream) {
    enable_quickack(stream);
    disable_quickack(stream);
}
