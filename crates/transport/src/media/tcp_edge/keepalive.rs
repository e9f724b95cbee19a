//! Keepalive: how a silent connection is told from a lost one.
//!
//! A failed network reports nothing, and neither does a peer with nothing to send. So the system
//! probes the peer's system now and then, on the side that only reads: the side that writes would
//! learn nothing new. The answer comes from the peer's system, so a slow or stopped peer does not
//! count as gone.

use std::net::TcpStream;
use std::time::Duration;

use rustix::io::Result;
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};

/// Unanswered probes after which the system ends a connection.
const KEEPALIVE_PROBES_MAX: u32 = 3;

/// Has the system end a connection that this side only reads from, when the peer's system was
/// silent for about `silence`; whole seconds, and at least four.
pub(crate) fn set_timeout(stream: &TcpStream, silence: Duration) {
    // Without keepalive the connection ends later, if at all: no reason to refuse it.
    let _ = set_keepalive(stream, silence);
}

fn set_keepalive(stream: &TcpStream, silence: Duration) -> Result<()> {
    let between = Duration::from_secs((silence / 6).as_secs().max(1));
    let first = silence.saturating_sub(between * KEEPALIVE_PROBES_MAX);
    set_tcp_keepidle(stream, Duration::from_secs(first.as_secs().max(1)))?;
    set_tcp_keepintvl(stream, between)?;
    set_tcp_keepcnt(stream, KEEPALIVE_PROBES_MAX)?;
    set_socket_keepalive(stream, true)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use rustix::net::sockopt::{socket_keepalive, tcp_keepcnt, tcp_keepidle, tcp_keepintvl};

    use super::*;

    #[test]
    fn the_system_asks_as_often_as_it_takes() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
        let address = listener.local_addr().expect("an address");
        let stream = TcpStream::connect(address).expect("connects");
        for (silence, first, between) in [(5, 2, 1), (30, 15, 5), (0, 1, 1)] {
            set_timeout(&stream, Duration::from_secs(silence));
            let seconds = Duration::from_secs;
            assert_eq!(socket_keepalive(&stream), Ok(true));
            assert_eq!(tcp_keepidle(&stream), Ok(seconds(first)));
            assert_eq!(tcp_keepintvl(&stream), Ok(seconds(between)));
            assert_eq!(tcp_keepcnt(&stream), Ok(KEEPALIVE_PROBES_MAX));
        }
    }
}
