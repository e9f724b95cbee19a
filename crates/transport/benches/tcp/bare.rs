//! The controls: sockets without a medium, with the same writes and the same threads.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

/// A connection over loopback, without delay and without blocking.
pub fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
    let address = listener.local_addr().expect("an address");
    let one = TcpStream::connect(address).expect("connects");
    let (two, _) = listener.accept().expect("accepts");
    for stream in [&one, &two] {
        stream.set_nodelay(true).expect("TCP_NODELAY");
        stream.set_nonblocking(true).expect("nonblocking");
    }
    (one, two)
}

/// Writes all bytes, retrying while the socket is full.
pub fn write(mut stream: &TcpStream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Reads received bytes, waiting for some.
pub fn read(mut stream: &TcpStream, room: &mut [u8]) -> usize {
    loop {
        match stream.read(room) {
            Ok(count) => return count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) => panic!("{error}"),
        }
    }
}
