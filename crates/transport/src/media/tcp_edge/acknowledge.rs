//! Acknowledgements on a connection that carries bytes one way.
//!
//! A socket on which nothing is ever sent acknowledges a lone segment while it is read, before the
//! reader gets it: a microsecond and more for every frame. A socket that expects a reply, which
//! would take the acknowledgement along, waits for the reply up to 40 ms, and a sender with more to
//! say may stall meanwhile. So receivers read without acknowledging, and acknowledge when they come
//! back to read and find nothing: by then the frame has been processed. Segments of a stream are
//! acknowledged by the system itself, every second one.
//!
//! All of this only affects timing, so errors of the system are ignored.

use std::net::TcpStream;

use rustix::net::sockopt::set_tcp_quickack;

/// Has the system acknowledge bytes as they are read.
pub(crate) fn enable_quickack(stream: &TcpStream) {
    let _ = set_tcp_quickack(stream, true);
}

/// Leaves acknowledgements to the reader: see [`send_acknowledgement`].
pub(crate) fn disable_quickack(stream: &TcpStream) {
    let _ = set_tcp_quickack(stream, false);
}

/// Acknowledges the bytes read so far.
pub(crate) fn send_acknowledgement(stream: &TcpStream) {
    enable_quickack(stream);
    disable_quickack(stream);
}
