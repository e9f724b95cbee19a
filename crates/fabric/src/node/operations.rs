//! Operations of a node as the provider takes them: addresses, descriptors and flags.

use std::ffi::c_void;
use std::ptr;

use super::FabricNode;
use super::connection::Connection;
use crate::abi::{
    FI_COMPLETION, FI_EAGAIN, FI_INJECT, FI_MORE, FI_REMOTE_CQ_DATA, FiMsgRma, FiRmaIov, FidEp,
};
use crate::datagram::KeepOpen;
use crate::error::FabricError;
use crate::rdma_node::{ConnectionId, LocalSlice, PostOptions, RemoteMemory};

/// The flags by which the provider posts an operation.
#[inline]
pub(super) fn flags(options: &PostOptions) -> u64 {
    let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
    flag(options.completion.is_some(), FI_COMPLETION)
        | flag(options.immediate.is_some(), FI_REMOTE_CQ_DATA)
        | flag(options.is_more, FI_MORE)
        | flag(options.is_inline, FI_INJECT)
}

/// The number of a completion as the provider keeps it, which never follows it.
#[inline]
pub(super) fn context(completion: Option<u64>) -> *mut c_void {
    ptr::without_provenance_mut(completion.unwrap_or_default() as usize)
}

/// Call that reads or writes a peer's memory.
type RemoteCall = unsafe extern "C" fn(*mut FidEp, *const FiMsgRma, u64) -> isize;

impl FabricNode {
    #[inline]
    #[expect(
        clippy::too_many_arguments,
        reason = "the two callers differ in one of them"
    )]
    pub(super) fn post_remote(
        &mut self,
        name: &'static str,
        call: RemoteCall,
        endpoint: *mut FidEp,
        local: &LocalSlice,
        remote: &RemoteMemory,
        offset: u64,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let (iov, mut desc) = self.local(local, options.is_inline)?;
        let len = local.range.len();
        remote.check_range(offset, len)?;
        let rma_iov = FiRmaIov {
            addr: remote.address.wrapping_add(offset),
            len,
            key: remote.key,
        };
        let message = FiMsgRma {
            msg_iov: &raw const iov,
            desc: &raw mut desc,
            iov_count: 1,
            addr: 0,
            rma_iov: &raw const rma_iov,
            rma_iov_count: 1,
            context: context(options.completion),
            data: options.immediate.unwrap_or_default(),
        };
        // SAFETY: the endpoint is open; the call copies the message and its lists. The local bytes
        // are within a registered memory, which stays mapped as long as the node has it.
        let result = unsafe { call(endpoint, &raw const message, flags(&options)) };
        self.posted(name, result)
    }

    #[inline]
    pub(super) fn posted(&self, call: &'static str, result: isize) -> Result<bool, FabricError> {
        match -(result as i64) {
            0 => Ok(true),
            FI_EAGAIN => Ok(false),
            _ => self.library.check(call, result).map(|()| true),
        }
    }

    #[inline]
    pub(super) fn endpoint(&self, connection: ConnectionId) -> Result<*mut FidEp, FabricError> {
        self.connection(connection).map(|one| one.endpoint.as_ptr())
    }

    /// Keeps the peer of a connection open, if it is one of this process.
    #[inline]
    pub(super) fn keep_open(&self, of: ConnectionId) -> Result<Option<KeepOpen>, FabricError> {
        self.connection(of)?.keep_open()
    }

    /// Counts an operation, and wakes a peer that sleeps: one that found no room too, for which
    /// the peer may have to work.
    #[inline]
    pub(super) fn count_post(&self, connection: ConnectionId) {
        if let Some(connection) = self.connections.get(connection) {
            connection.count_post();
        }
    }

    #[inline]
    pub(super) fn connection(&self, connection: ConnectionId) -> Result<&Connection, FabricError> {
        let open = self.connections.get(connection);
        open.ok_or_else(|| FabricError::Disconnected("the connection is closed".to_owned()))
    }

    /// Address and descriptor of local bytes. Providers do not look at the size of what they copy
    /// into an operation, nor at one that their lists cannot hold, so both are refused here.
    #[inline]
    pub(super) fn local(
        &self,
        slice: &LocalSlice,
        is_inline: bool,
    ) -> Result<(libc::iovec, *mut c_void), FabricError> {
        let (from, to) = (slice.range.start, slice.range.end);
        let region = self.regions.get(slice.region.index());
        let region = region
            .and_then(Option::as_ref)
            .filter(|region| from <= to && to <= region.mapping.len());
        let Some(region) = region else {
            return Err(FabricError::OutOfBounds(format!(
                "bytes {from} to {to} are not within the registered memory"
            )));
        };
        self.limits.check_bytes(to - from, is_inline)?;
        let iov = libc::iovec {
            iov_base: region.mapping.address().wrapping_byte_add(from),
            iov_len: to - from,
        };
        // SAFETY: the registration is open.
        let desc = unsafe { (*region.registration.as_ptr()).mem_desc };
        Ok((iov, desc))
    }
}
