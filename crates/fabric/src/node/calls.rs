//! The calls of a node over libfabric.

use std::mem::{self, MaybeUninit};
use std::os::fd::BorrowedFd;
use std::ptr;

use super::object::Owned;
use super::operations::{context, flags};
use super::{FabricNode, Region, opened, random_key};
use crate::abi::{
    FI_CONNECTED, FI_CONNREQ, FI_EAGAIN, FI_EAVAIL, FI_READ, FI_RECV, FI_REMOTE_READ,
    FI_REMOTE_WRITE, FI_SEND, FI_SHUTDOWN, FI_WRITE, FiCqDataEntry, FiEqCmEntry, FiMsg,
};
use crate::error::FabricError;
use crate::memory::PinnedMemory;
use crate::provider::{OwnedInfo, ProviderLimits};
use crate::rdma_node::{
    COMPLETIONS_PER_POLL, Completion, ConnectionId, ConnectionRequest, FabricEvent, LocalSlice,
    PostOptions, RdmaNode, RegionId, RemoteAccess, RemoteMemory, RequestHandle,
};

impl RdmaNode for FabricNode {
    fn limits(&self) -> &ProviderLimits {
        &self.limits
    }

    fn register(
        &mut self,
        memory: &PinnedMemory,
        access: RemoteAccess,
    ) -> Result<RegionId, FabricError> {
        let mapping = memory.mapping().clone();
        let key = if self.info.chooses_keys() {
            0
        } else {
            random_key(self.info.key_bytes())?
        };
        let remote = match access {
            RemoteAccess::None => 0,
            RemoteAccess::Write => FI_REMOTE_WRITE,
            RemoteAccess::Read => FI_REMOTE_READ,
        };
        let access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | remote;
        let mut registration = ptr::null_mut();
        let domain = self.domain.as_ptr();
        // SAFETY: the domain is open, and the mapping lives until the registration is dropped.
        let result = unsafe {
            ((*(*domain).mr).reg)(
                self.domain.fid(),
                mapping.address(),
                mapping.len(),
                access,
                0,
                key,
                0,
                &raw mut registration,
                ptr::null_mut(),
            )
        };
        self.library.check("fi_mr_reg", result as isize)?;
        // SAFETY: the call has succeeded, and the object is this caller's.
        let registration = opened(self.library, "fi_mr_reg", unsafe {
            Owned::new(registration)
        })?;
        let id = RegionId::new(self.regions.len());
        self.regions.push(Region {
            registration,
            mapping,
            is_addressed_by_offset: !self.info.has_virtual_addresses(),
        });
        Ok(id)
    }

    fn remote_memory(&self, region: RegionId) -> RemoteMemory {
        let region = &self.regions[region.index()];
        let address = match region.is_addressed_by_offset {
            true => 0,
            false => region.mapping.address().addr() as u64,
        };
        // SAFETY: the registration is open.
        let key = unsafe { (*region.registration.as_ptr()).key };
        let bytes = region.mapping.len() as u64;
        RemoteMemory {
            address,
            key,
            bytes,
        }
    }

    fn connect(&mut self, data: &[u8]) -> Result<ConnectionId, FabricError> {
        // SAFETY: the info is the node's own, and stays as the library made it.
        let address = unsafe { (*self.info.as_ptr()).dest_addr };
        if address.is_null() {
            let why = "a node that listens has no address to connect to".to_owned();
            return Err(FabricError::OutOfBounds(why));
        }
        let endpoint = self.open_endpoint(&self.info)?;
        // SAFETY: the endpoint is enabled; the address is the info's and ends where its family
        // says; the data lives during the call.
        let result = unsafe {
            let call = (*(*endpoint.as_ptr()).cm).connect;
            call(endpoint.as_ptr(), address, data.as_ptr().cast(), data.len())
        };
        self.library.check("fi_connect", result as isize)?;
        Ok(self.add_connection(endpoint))
    }

    fn begin_accept(&mut self, request: &ConnectionRequest) -> Result<ConnectionId, FabricError> {
        let endpoint = self.open_endpoint(request.library(self.number)?)?;
        Ok(self.add_connection(endpoint))
    }

    fn finish_accept(&mut self, connection: ConnectionId, data: &[u8]) -> Result<(), FabricError> {
        let endpoint = self.endpoint(connection)?;
        // SAFETY: the endpoint is enabled and owned by the node; the data lives during the call.
        let result = unsafe {
            let call = (*(*endpoint).cm).accept;
            call(endpoint, data.as_ptr().cast(), data.len())
        };
        self.library.check("fi_accept", result as isize)
    }

    fn reject(&mut self, request: ConnectionRequest) -> Result<(), FabricError> {
        let info = request.library(self.number)?;
        let Some(listener) = &self.listener else {
            // The request came before the port was closed. An endpoint that is dropped ends it.
            return self.open_endpoint(info).map(drop);
        };
        // SAFETY: the listener is open, and the handle is that of a request which came by it and
        // was not answered: an answer uses the request up.
        let result = unsafe {
            let handle = (*info.as_ptr()).handle;
            ((*(*listener.as_ptr()).cm).reject)(listener.as_ptr(), handle, ptr::null(), 0)
        };
        self.library.check("fi_reject", result as isize)
    }

    fn stop_listening(&mut self) {
        self.listener = None;
    }

    fn disconnect(&mut self, connection: ConnectionId) {
        let Some(slot) = self.connections.get_mut(connection.index()) else {
            return;
        };
        if let Some(endpoint) = slot.take() {
            // SAFETY: the endpoint is open until the end of the block. The call fails for one that
            // was never connected, which has nothing to shut down.
            unsafe {
                ((*(*endpoint.as_ptr()).cm).shutdown)(endpoint.as_ptr(), 0);
            }
        }
    }

    fn next_event(&mut self) -> Result<Option<FabricEvent>, FabricError> {
        let mut kind = 0;
        let mut entry = MaybeUninit::<FiEqCmEntry>::zeroed();
        let queue = self.event_queue.as_ptr();
        // SAFETY: the queue is open, and the entry has room for as many bytes as are said.
        let result = unsafe {
            let call = (*(*queue).ops).read;
            let room = mem::size_of::<FiEqCmEntry>();
            call(queue, &raw mut kind, entry.as_mut_ptr().cast(), room, 0)
        };
        match -(result as i64) {
            FI_EAGAIN => return Ok(None),
            FI_EAVAIL => return self.failed_event(),
            _ => self.library.check("fi_eq_read", result)?,
        }
        // SAFETY: all bytes are zero or set by the library, and any bytes are a value of the type.
        let entry = unsafe { entry.assume_init() };
        let head = mem::offset_of!(FiEqCmEntry, data);
        let data = entry.data[..(result as usize).saturating_sub(head)].to_vec();
        Ok(match kind {
            FI_CONNREQ => {
                // SAFETY: a request has an info, which the library hands over with the event. In
                // other events a context is at its place.
                let info = unsafe { OwnedInfo::new(self.library, entry.info) };
                info.map(|info| {
                    let handle = RequestHandle::Library(self.number, info);
                    FabricEvent::Request(ConnectionRequest { handle, data })
                })
            }
            FI_CONNECTED => {
                let connection = self.connection_of(entry.fid);
                connection.map(|connection| FabricEvent::Connected { connection, data })
            }
            FI_SHUTDOWN => {
                let why = "the peer has closed the connection".to_owned();
                self.closed(entry.fid, why, false)
            }
            _ => None,
        })
    }

    #[inline]
    fn post_write(
        &mut self,
        connection: ConnectionId,
        from: &LocalSlice,
        to: &RemoteMemory,
        offset: u64,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let endpoint = self.endpoint(connection)?;
        // SAFETY: an open endpoint has a table of these calls, since its info has the capability.
        let call = unsafe { (*(*endpoint).rma).writemsg };
        self.post_remote("fi_writemsg", call, endpoint, from, to, offset, options)
    }

    #[inline]
    fn post_read(
        &mut self,
        connection: ConnectionId,
        into: &LocalSlice,
        from: &RemoteMemory,
        offset: u64,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let endpoint = self.endpoint(connection)?;
        let options = PostOptions {
            immediate: None,
            is_inline: false,
            ..options
        };
        // SAFETY: an open endpoint has a table of these calls, since its info has the capability.
        let call = unsafe { (*(*endpoint).rma).readmsg };
        self.post_remote("fi_readmsg", call, endpoint, into, from, offset, options)
    }

    #[inline]
    fn post_send(
        &mut self,
        connection: ConnectionId,
        from: &LocalSlice,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let endpoint = self.endpoint(connection)?;
        let (iov, mut desc) = self.local(from, options.is_inline)?;
        let message = FiMsg {
            msg_iov: &raw const iov,
            desc: &raw mut desc,
            iov_count: 1,
            addr: 0,
            context: context(options.completion),
            data: options.immediate.unwrap_or_default(),
        };
        // SAFETY: the endpoint is open; the call copies the message and its lists. The local bytes
        // are within a registered memory, which stays mapped as long as the node has it.
        let result = unsafe {
            let call = (*(*endpoint).msg).sendmsg;
            call(endpoint, &raw const message, flags(&options))
        };
        self.posted("fi_sendmsg", result)
    }

    #[inline]
    fn post_receive(
        &mut self,
        connection: ConnectionId,
        into: &LocalSlice,
        completion: u64,
    ) -> Result<bool, FabricError> {
        let endpoint = self.endpoint(connection)?;
        let (iov, desc) = self.local(into, false)?;
        // SAFETY: the endpoint is open; the buffer is within a registered memory, which stays
        // mapped as long as the node has it.
        let result = unsafe {
            let call = (*(*endpoint).msg).recv;
            call(
                endpoint,
                iov.iov_base,
                iov.iov_len,
                desc,
                0,
                context(Some(completion)),
            )
        };
        self.posted("fi_recv", result)
    }

    #[inline]
    fn poll_completions(&mut self, into: &mut Vec<Completion>) -> Result<(), FabricError> {
        let mut entries = MaybeUninit::<[FiCqDataEntry; COMPLETIONS_PER_POLL]>::uninit();
        let queue = self.completion_queue.as_ptr();
        // SAFETY: the queue is open and has this format of entries; there is room for all.
        let result = unsafe {
            let call = (*(*queue).ops).read;
            call(queue, entries.as_mut_ptr().cast(), COMPLETIONS_PER_POLL)
        };
        match -(result as i64) {
            FI_EAGAIN => Ok(()),
            FI_EAVAIL => self.failed_completion(into),
            _ => {
                self.library.check("fi_cq_read", result)?;
                let first = entries.as_ptr().cast::<FiCqDataEntry>();
                for at in 0..(result as usize).min(COMPLETIONS_PER_POLL) {
                    // SAFETY: the library has written as many entries as it says.
                    into.push(self.completion(unsafe { &*first.add(at) }));
                }
                Ok(())
            }
        }
    }

    fn may_sleep(&mut self) -> Result<bool, FabricError> {
        FabricNode::may_sleep(self)
    }

    fn wait_fds(&self) -> Result<[BorrowedFd<'_>; 2], FabricError> {
        FabricNode::wait_fds(self)
    }
}
