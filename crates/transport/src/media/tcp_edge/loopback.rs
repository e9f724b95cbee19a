//! A connection within this process, for tests.

use std::net::{TcpListener, TcpStream};

/// Both ends of a new connection over loopback.
pub(crate) fn loopback_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
    let address = listener.local_addr().expect("an address");
    let one = TcpStream::connect(address).expect("connects");
    (one, listener.accept().expect("accepts").0)
}
