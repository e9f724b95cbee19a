//! The handshake as bytes, written down a second time: a change of it must change the version.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use transport::EdgeSpec;

use crate::edge::PATIENCE;

/// Number of the framing protocol of `tcp`.
pub const TCP: u16 = 1;
pub const RUM: u16 = 2;

/// Number of the purpose of a connection for frames.
pub const FRAMES: u16 = 1;
pub const CREDIT: u16 = 2;

/// First bytes of a receiver.
pub struct Hello {
    pub magic: [u8; 8],
    pub version: u16,
    pub protocol: u16,
    pub order: u32,
    pub link: u32,
    pub receiver: u32,
    pub token: [u8; 16],
    pub instance: u64,
    pub position: u64,
    pub way: u16,
    pub lifeline: u16,
}

impl Hello {
    /// The handshake of a receiver of the edge.
    pub fn of(spec: &EdgeSpec, protocol: u16, way: u16) -> Hello {
        Hello {
            magic: *b"thalweg\n",
            version: 2,
            protocol,
            order: 0x0403_0201,
            link: spec.edge,
            receiver: 0,
            token: spec.token,
            instance: 77,
            position: 0,
            way,
            lifeline: 0,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = [
            &self.magic[..],
            &self.version.to_le_bytes(),
            &self.protocol.to_le_bytes(),
            &self.order.to_ne_bytes(),
            &self.link.to_le_bytes(),
            &self.receiver.to_le_bytes(),
            &self.token,
            &self.instance.to_le_bytes(),
            &self.position.to_le_bytes(),
            &self.way.to_le_bytes(),
            &self.lifeline.to_le_bytes(),
        ]
        .concat();
        bytes.resize(64, 0);
        bytes
    }
}

/// A connection whose reads wait for a while.
pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

/// Sends bytes and returns the reason of the refusal. `None`: the connection was closed without an
/// answer.
pub fn refusal(address: SocketAddr, said: &[u8]) -> Option<String> {
    let mut stream = connect(address);
    // The other side may refuse before it has read all bytes.
    let _ = stream.write_all(said);
    answer(&mut stream)
}

/// Reason in the answer to a handshake, if it is a refusal.
pub fn answer(stream: &mut TcpStream) -> Option<String> {
    let mut answer = [0; 256];
    match stream.read_exact(&mut answer) {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            panic!("no answer within {PATIENCE:?}")
        }
        Err(_) => return None,
    }
    assert_eq!(&answer[..8], b"thalweg\n");
    let len = u16::from_le_bytes([answer[10], answer[11]]);
    let text = &answer[32..32 + usize::from(len)];
    (answer[8] == 2).then(|| String::from_utf8_lossy(text).into_owned())
}

/// A reply that announces frames of this many bytes.
pub fn welcome(payload_bytes_max: u32) -> Vec<u8> {
    let mut bytes = [
        &b"thalweg\n"[..],
        &1u16.to_le_bytes(),
        &0u16.to_le_bytes(),
        &payload_bytes_max.to_le_bytes(),
        &0u64.to_le_bytes(),
        &65536u64.to_le_bytes(),
    ]
    .concat();
    bytes.resize(256, 0);
    bytes
}

/// Plays a sender: accepts both connections and sends this reply on each. Returns the one for
/// credit and the one for frames.
pub fn let_in(listener: &TcpListener, answer: &[u8]) -> (TcpStream, TcpStream) {
    let [(credit, _), (frames, _)] = hear_and_let_in(listener, answer);
    (credit, frames)
}

/// Plays a sender like [`let_in`], and returns the handshake of each connection too.
pub fn hear_and_let_in(listener: &TcpListener, answer: &[u8]) -> [(TcpStream, [u8; 64]); 2] {
    [(); 2].map(|()| {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        let mut hello = [0; 64];
        stream.read_exact(&mut hello).expect("a hello");
        stream.write_all(answer).expect("answered");
        (stream, hello)
    })
}
