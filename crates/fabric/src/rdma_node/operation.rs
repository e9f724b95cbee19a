//! Operations as their poster describes them: memory on both sides, and how to post.

use std::ops::Range;

use crate::error::FabricError;

/// Number of a registered memory at its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(u32);

impl RegionId {
    pub(crate) fn new(index: usize) -> RegionId {
        RegionId(index as u32)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Rights of peers on a registered memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAccess {
    /// Peers have no access: the memory is the source and the target of its node's operations.
    None,
    /// Peers write the memory.
    Write,
    /// Peers read the memory.
    Read,
}

/// A part of a registered memory of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSlice {
    /// Registration of the memory.
    pub region: RegionId,
    /// Bytes of the memory, from its start.
    pub range: Range<usize>,
}

/// A memory of a peer: address, key and size, as the peer's
/// [`RdmaNode::remote_memory`](crate::RdmaNode::remote_memory) gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteMemory {
    /// Address of the first byte, as the provider counts.
    pub address: u64,
    /// Key that the provider asks for.
    pub key: u64,
    /// Size of the memory in bytes.
    pub bytes: u64,
}

impl RemoteMemory {
    /// Refuses `len` bytes at `offset` that are not all within the memory.
    #[inline]
    pub(crate) fn check_range(&self, offset: u64, len: usize) -> Result<(), FabricError> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.bytes => Ok(()),
            _ => Err(self.out_of_bounds(offset, len)),
        }
    }

    #[cold]
    fn out_of_bounds(&self, offset: u64, len: usize) -> FabricError {
        let bytes = self.bytes;
        FabricError::OutOfBounds(format!(
            "{len} bytes at {offset} are not within the peer's memory of {bytes} bytes"
        ))
    }
}

/// Options of one posted operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostOptions {
    /// Number by which the completion names the operation; `None`: it has no completion. Of some
    /// providers (`verbs`) it then has none if it fails either, but all operations behind it fail.
    pub completion: Option<u64>,
    /// Number that comes to the peer as a completion, after the data is placed: of as many bytes as
    /// [`ProviderLimits::immediate_bytes`](crate::ProviderLimits::immediate_bytes) says.
    pub immediate: Option<u64>,
    /// Whether more operations follow at once, so that the provider may wait for them before it
    /// tells the device.
    pub is_more: bool,
    /// Whether the bytes are copied into the operation, so that they may change at once. At most
    /// [`ProviderLimits::inline_bytes_max`](crate::ProviderLimits::inline_bytes_max) bytes.
    pub is_inline: bool,
}
