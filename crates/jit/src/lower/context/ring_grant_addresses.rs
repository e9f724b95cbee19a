//! Addresses by which compiled code writes frames into a ring.

use runtime::abi::FrameEdge;

/// Room in a ring, by address.
#[derive(Clone, Copy, Debug)]
pub struct RingGrantAddresses {
    pub grant: i64,
    pub committed: i64,
    pub asleep: i64,
    pub kind: u8,
    pub submitted: i64,
    pub processed: i64,
    pub written: i64,
}

impl RingGrantAddresses {
    /// Addresses of the grant of an output port's edge.
    pub fn from_edge(edge: &FrameEdge<'_>) -> RingGrantAddresses {
        RingGrantAddresses {
            grant: edge.grant.grant.grant() as i64,
            committed: edge.grant.grant.committed() as i64,
            asleep: edge.grant.grant.asleep() as i64,
            kind: edge.grant.kind,
            written: edge.grant.written_count.expose_provenance() as i64,
            submitted: edge.submitted.address().expose_provenance() as i64,
            processed: edge.processed.address().expose_provenance() as i64,
        }
    }
}
