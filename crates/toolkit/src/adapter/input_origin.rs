//! The origin of records: a file or a peer.

use std::io;
use std::net::{SocketAddr, TcpStream};

/// Origin of records, for output functions and messages.
#[derive(Clone, Debug, Default)]
pub struct InputOrigin {
    /// Name of the file as the program gives it; empty for peers.
    pub name: String,
    /// Name of the origin in messages.
    pub display_name: String,
    /// Address of the peer, if the origin is a connection or datagram.
    pub remote: Option<SocketAddr>,
    /// Port of this end; 0 for files.
    pub local_port: u16,
    /// Port that the server listens on; 0 for clients and files.
    pub server_port: u16,
}

impl InputOrigin {
    /// The origin of records that a peer sends.
    pub fn from_peer(remote: SocketAddr, local_port: u16, server_port: u16) -> InputOrigin {
        InputOrigin {
            name: String::new(),
            display_name: remote.to_string(),
            remote: Some(remote),
            local_port,
            server_port,
        }
    }

    /// The origin of records that come over a connection.
    ///
    /// # Errors
    /// If the connection has been closed already.
    pub fn from_stream(stream: &TcpStream, server_port: u16) -> io::Result<InputOrigin> {
        let local_port = stream.local_addr()?.port();
        Ok(InputOrigin::from_peer(
            stream.peer_addr()?,
            local_port,
            server_port,
        ))
    }
}
