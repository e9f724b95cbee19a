//! The receiver behind a connection: which receiving end it is and where it can be reached.

use std::net::SocketAddr;

/// A receiving end as its handshake introduced it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverIdentity {
    /// Random number of the receiving end. A ticket makes one receiving end, which keeps its
    /// number when it connects again.
    pub(super) instance: u64,
    /// Address that the receiver connected from.
    pub(super) address: SocketAddr,
    /// Address where the receiver's process answers liveness probes; `None`: it gave no port.
    pub(super) liveness_address: Option<SocketAddr>,
}
