//! The sender's node of one rail: it listens on the rail's address, for all receivers.

use fabric::{PinnedMemory, ProviderLimits, RdmaNode, RegionId, RemoteAccess};

use crate::Error;
use crate::media::rdma::number_buffers::{NUMBER_BUFFERS, NumberMemory};
use crate::media::rdma::write_target::WRITES_ON_WAY_MAX;
use crate::media::rdma::write_targets::refused;

/// Bytes of a number that has room for a whole segment.
const WIDE_NUMBER_BYTES: usize = 8;

/// A node that listens, with what belongs to it.
pub(super) struct SenderNode<N> {
    pub(super) node: N,
    pub(super) ring_region: RegionId,
    /// Receive buffers that numbers of reports use up, of some providers.
    pub(super) number_memory: NumberMemory,
    /// Why the node works no more, once it does not.
    pub(super) failure: Option<String>,
}

impl<N: RdmaNode> SenderNode<N> {
    pub(super) fn new(mut node: N, ring: &PinnedMemory) -> Result<SenderNode<N>, Error> {
        let ring_region = node.register(ring, RemoteAccess::None).map_err(refused)?;
        let number_memory = NumberMemory::new(&mut node, true)?;
        Ok(SenderNode {
            node,
            ring_region,
            number_memory,
            failure: None,
        })
    }

    pub(super) fn limits(&self) -> &ProviderLimits {
        self.node.limits()
    }

    /// Whether a number has room for a whole segment.
    pub(super) fn has_wide_numbers(&self) -> bool {
        self.limits().immediate_bytes >= WIDE_NUMBER_BYTES
    }

    /// Most writes to a receiver that are on their way.
    pub(super) fn writes_on_way_max(&self) -> usize {
        let depth = self.limits().transmit_depth;
        WRITES_ON_WAY_MAX.min(depth.saturating_sub(1).max(1))
    }

    /// Most segments of a receiver that are not reported. A flush has receive buffers of its own:
    /// it need not wait for a receiver that reads nothing.
    pub(super) fn unreported_max(&self, is_flushed: bool) -> usize {
        if !self.number_memory.is_used() {
            return usize::MAX;
        }
        let buffers = NUMBER_BUFFERS / if is_flushed { 1 } else { 2 };
        let numbers = if self.has_wide_numbers() { 1 } else { 2 };
        (buffers / numbers).max(1)
    }
}
