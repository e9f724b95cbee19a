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
    pub fn from_link(link: &FrameEdge<'_>) -> RingGrantAddresses {
        RingGrantAddresses {
            grant: link.grant.grant.grant() as i64,
            committed: link.grant.grant.committed() as i64,
            asleep: link.grant.grant.asleep() as i64,
            kind: link.grant.kind,
            written: link.grant.written_count.expose_provenance() as i64,
            submitted: link.submitted.address().expose_provenance() as i64,
            processed: link.processed.address().expose_provenance() as i64,
        }
    }
}
