//! A connection of a node, and what belongs to it.

use std::sync::Arc;

use super::object::Owned;
use crate::abi::{FidAv, FidEp};
use crate::datagram::{KeepOpen, LiveEndpoint, NearPeer, ShmRegion, WatchedSocket};
use crate::error::FabricError;

/// A connection: an endpoint of its own. If the provider has no connections, the endpoint knows the
/// name of one peer, and a socket tells of that peer's end.
pub(super) struct Connection {
    // The order of the fields is that of dropping: the peer sees the end when nothing is used.
    /// Entry of the endpoint, for a peer of the same process.
    pub(super) _live: Option<LiveEndpoint>,
    pub(super) endpoint: Owned<FidEp>,
    /// Addresses that the endpoint knows: the peer's, once it is known.
    pub(super) vector: Option<Owned<FidAv>>,
    pub(super) socket: Option<Arc<WatchedSocket>>,
    /// The peer, if it is one of the same process.
    pub(super) near_peer: Option<NearPeer>,
    /// Shared memory of the endpoint, and of its peer's once it is known, until the connection is
    /// made and their names are removed.
    pub(super) named_regions: Vec<ShmRegion>,
}

impl Connection {
    /// A connection that the provider makes.
    pub(super) fn of_provider(endpoint: Owned<FidEp>) -> Connection {
        Connection {
            _live: None,
            endpoint,
            vector: None,
            socket: None,
            near_peer: None,
            named_regions: Vec::new(),
        }
    }

    /// Keeps a peer of the same process open while an operation is posted to it.
    ///
    /// # Errors
    /// The peer has closed.
    #[inline]
    pub(super) fn keep_open(&self) -> Result<Option<KeepOpen>, FabricError> {
        self.near_peer.as_ref().map(NearPeer::keep_open).transpose()
    }

    /// Counts an operation, and wakes a peer that sleeps beside it.
    #[inline]
    pub(super) fn count_post(&self) {
        if let Some(socket) = &self.socket {
            socket.count_post();
        }
    }
}
