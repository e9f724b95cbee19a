//! Addresses by which compiled code writes frames into a ring.

use runtime::abi::{FrameEdge, FrameForm};

/// Room in a ring, by address.
#[derive(Clone, Copy, Debug)]
pub struct RingGrantAddresses {
    pub grant: i64,
    pub committed: i64,
    pub asleep: i64,
    pub kind: u8,
    pub form: FrameForm,
    /// Bytes of a payload.
    pub bytes: u32,
    pub processed: i64,
    pub written: i64,
    /// Place of the sender among the consumers of the output port.
    pub place: u32,
    /// Number of the operator that sends the frames.
    pub sender: u32,
}

impl RingGrantAddresses {
    /// Addresses of the grant of the edge to a consumer by its place, for payloads of a length in
    /// bytes.
    pub fn from_edge(place: u32, edge: &FrameEdge<'_>, bytes: u32) -> RingGrantAddresses {
        RingGrantAddresses {
            place,
            grant: edge.grant.grant.grant() as i64,
            committed: edge.grant.grant.committed() as i64,
            asleep: edge.grant.grant.asleep() as i64,
            kind: edge.grant.kind,
            form: edge.grant.form,
            bytes,
            sender: edge.sender,
            written: edge.grant.written_count.expose_provenance() as i64,
            processed: edge.processed.address().expose_provenance() as i64,
        }
    }
}
