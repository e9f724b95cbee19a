//! What a silent connection is taken for.
//!
//! A network that fails says nothing, and neither does a peer that has nothing to say. So the
//! system asks the peer's system now and then, on the side that only reads: the one that writes
//! would hear nothing new. An answer comes from the system, so a peer that is slow or stopped is
//! not taken for one that is gone.

use std::net::TcpStream;
use std::time::Duration;

use rustix::io::Result;
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};

/// Questions without an answer that end a connection.
const KEEPALIVE_PROBES_MAX: u32 = 3;

/// Has the system end a connection that we only read from when the peer's system has been silent
/// for about so long; whole seconds, and at least four.
pub(crate) fn set_timeout(stream: &TcpStream, silence: Duration) {
    // Without it the connection ends later, if at all: no reason not to have it.
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
