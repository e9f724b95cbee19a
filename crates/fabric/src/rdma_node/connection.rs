//! Connections, requests for them, and their changes.

use std::sync::Arc;

use crate::datagram::WatchedSocket;
use crate::error::FabricError;
use crate::provider::OwnedInfo;

/// Number of a connection at its node, which no other one there gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    index: u32,
    generation: u32,
}

impl ConnectionId {
    /// The number of the first connection at an index.
    pub(crate) fn new(index: usize) -> ConnectionId {
        ConnectionId::with_generation(index, 0)
    }

    /// The number of a connection at an index where so many were before.
    pub(crate) fn with_generation(index: usize, generation: u32) -> ConnectionId {
        let index = index as u32;
        ConnectionId { index, generation }
    }

    pub(crate) fn index(self) -> usize {
        self.index as usize
    }

    pub(crate) fn generation(self) -> u32 {
        self.generation
    }
}

/// A request of a peer for a connection, with the bytes that came with it. Nothing of this process
/// is within the peer's reach until it is accepted. A request that is dropped is not answered: the
/// peer waits for it, and the provider keeps its part of it. Nodes are to accept or reject each.
pub struct ConnectionRequest {
    pub(crate) handle: RequestHandle,
    /// Bytes of the peer, which some providers pad with zeros.
    pub data: Vec<u8>,
}

/// Data by which a node answers a request.
pub(crate) enum RequestHandle {
    /// Number of the node that got the request (only it can answer), and libfabric's description
    /// of the endpoint to open.
    Library(u64, OwnedInfo),
    /// Number of the node that got the request, the socket that it came by, and the name of the
    /// peer's endpoint.
    Socket(u64, Arc<WatchedSocket>, Vec<u8>),
    /// Number of a node of the fabric for tests, and of its connection.
    Simulated(u32, usize),
}

impl ConnectionRequest {
    /// The description of a request that the node with this number has got.
    pub(crate) fn library(&self, node: u64) -> Result<&OwnedInfo, FabricError> {
        match &self.handle {
            RequestHandle::Library(of, info) if *of == node => Ok(info),
            _ => Err(foreign_request()),
        }
    }

    /// The socket of a request that the node with this number has got, and the peer's name.
    pub(crate) fn socket(&self, node: u64) -> Result<(&Arc<WatchedSocket>, &[u8]), FabricError> {
        match &self.handle {
            RequestHandle::Socket(of, socket, name) if *of == node => Ok((socket, name)),
            _ => Err(foreign_request()),
        }
    }

    pub(crate) fn simulated(&self) -> Result<(u32, usize), FabricError> {
        match self.handle {
            RequestHandle::Simulated(node, connection) => Ok((node, connection)),
            RequestHandle::Library(..) | RequestHandle::Socket(..) => Err(foreign_request()),
        }
    }
}

#[cold]
fn foreign_request() -> FabricError {
    FabricError::OutOfBounds("the request is one of another node".to_owned())
}

/// A change of a node's connections.
pub enum FabricEvent {
    /// A peer asks for a connection.
    Request(ConnectionRequest),
    /// A connection is made.
    Connected {
        /// Number of the connection.
        connection: ConnectionId,
        /// Bytes that the peer has accepted with.
        data: Vec<u8>,
    },
    /// A connection has ended, or the peer has refused it.
    Closed {
        /// Number of the connection.
        connection: ConnectionId,
        /// The provider's words for it.
        why: String,
        /// Whether nothing listens at the address, or the peer has refused: another try is of no
        /// use.
        is_refused: bool,
    },
}
