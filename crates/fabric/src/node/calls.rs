//! The calls of a node over libfabric.

use std::mem::{self, MaybeUninit};
use std::os::fd::BorrowedFd;
use std::ptr;

use super::connection::Connection;
use super::object::Owned;
use super::operations::{context, flags};
use super::{FabricNode, Region, opened, random_key};
use crate::abi::{
    FI_CONNECTED, FI_CONNREQ, FI_EAGAIN, FI_EAVAIL, FI_READ, FI_RECV, FI_REMOTE_READ,
    FI_REMOTE_WRITE, FI_SEND, FI_SHUTDOWN, FI_WRITE, FiEqCmEntry, FiMsg,
};
use crate::error::FabricError;
use crate::memory::PinnedMemory;
use crate::provider::{OwnedInfo, ProviderLimits};
use crate::rdma_node::{
    Completion, ConnectionId, ConnectionRequest, FabricEvent, LocalSlice, PostOptions, RdmaNode,
    RegionId, RemoteAccess, RemoteMemory, RequestHandle,
};

/// Most bytes of the words of a refusal: as many as all providers carry with an answer.
const REASON_BYTES_MAX: usize = 56;

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
        self.regions.push(Some(Region {
            registration,
            mapping,
            is_addressed_by_offset: !self.info.has_virtual_addresses(),
        }));
        Ok(id)
    }

    fn deregister(&mut self, region: RegionId) {
        if let Some(region) = self.regions.get_mut(region.index()) {
            *region = None;
        }
    }

    fn remote_memory(&self, region: RegionId) -> RemoteMemory {
        let region = self.regions[region.index()].as_ref();
        let region = region.expect("a region that is registered");
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
        if self.sockets.is_some() {
            return self.connect_by_socket(data);
        }
        // SAFETY: the info is the node's own, and stays as the library made it.
        let address = unsafe { (*self.info.as_ptr()).dest_addr };
        if address.is_null() {
            let why = "a node that listens has no address to connect to".to_owned();
            return Err(FabricError::OutOfBounds(why));
        }
        let endpoint = self.open_endpoint(&self.info, None)?;
        // SAFETY: the endpoint is enabled; the address is the info's and ends where its family
        // says; the data lives during the call.
        let result = unsafe {
            let call = (*(*endpoint.as_ptr()).cm).connect;
            call(endpoint.as_ptr(), address, data.as_ptr().cast(), data.len())
        };
        self.library.check("fi_connect", result as isize)?;
        Ok(self.add_connection(Connection::of_provider(endpoint)))
    }

    fn begin_accept(&mut self, request: &ConnectionRequest) -> Result<ConnectionId, FabricError> {
        if self.sockets.is_some() {
            return self.begin_accept_by_socket(request);
        }
        let endpoint = self.open_endpoint(request.library(self.number)?, None)?;
        Ok(self.add_connection(Connection::of_provider(endpoint)))
    }

    fn finish_accept(&mut self, connection: ConnectionId, data: &[u8]) -> Result<(), FabricError> {
        if self.sockets.is_some() {
            return self.finish_accept_by_socket(connection, data);
        }
        let endpoint = self.endpoint(connection)?;
        // SAFETY: the endpoint is enabled and owned by the node; the data lives during the call.
        let result = unsafe {
            let call = (*(*endpoint).cm).accept;
            call(endpoint, data.as_ptr().cast(), data.len())
        };
        self.library.check("fi_accept", result as isize)
    }

    fn reject(&mut self, request: ConnectionRequest, why: &str) -> Result<(), FabricError> {
        if self.sockets.is_some() {
            let (socket, _) = request.socket(self.number)?;
            socket.send_refusal(why);
            return Ok(());
        }
        let info = request.library(self.number)?;
        let Some(listener) = &self.listener else {
            let why = "a node that does not listen has no requests".to_owned();
            return Err(FabricError::OutOfBounds(why));
        };
        let words = &why.as_bytes()[..why.len().min(REASON_BYTES_MAX)];
        // SAFETY: the listener is open, and the handle is that of a request which came by it and
        // was not answered: an answer uses the request up. The words live during the call.
        let result = unsafe {
            let handle = (*info.as_ptr()).handle;
            ((*(*listener.as_ptr()).cm).reject)(
                listener.as_ptr(),
                handle,
                words.as_ptr().cast(),
                words.len(),
            )
        };
        self.library.check("fi_reject", result as isize)
    }

    fn disconnect(&mut self, connection: ConnectionId) {
        let Some(connection) = self.connections.remove(connection) else {
            return;
        };
        if connection.socket.is_none() {
            let endpoint = &connection.endpoint;
            // SAFETY: the endpoint is open until the end of the block. The call fails for one that
            // was never connected, which has nothing to shut down.
            unsafe {
                ((*(*endpoint.as_ptr()).cm).shutdown)(endpoint.as_ptr(), 0);
            }
        }
    }

    fn next_event(&mut self) -> Result<Option<FabricEvent>, FabricError> {
        let Some(queue) = self.event_queue.as_ref().map(Owned::as_ptr) else {
            return Ok(self.next_socket_event());
        };
        let mut kind = 0;
        let mut entry = MaybeUninit::<FiEqCmEntry>::zeroed();
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
        let _near = self.keep_open(connection)?;
        let endpoint = self.endpoint(connection)?;
        // SAFETY: an open endpoint has a table of these calls, since its info has the capability.
        let call = unsafe { (*(*endpoint).rma).writemsg };
        let posted = self.post_remote("fi_writemsg", call, endpoint, from, to, offset, options);
        self.count_post(connection);
        posted
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
        let _near = self.keep_open(connection)?;
        let endpoint = self.endpoint(connection)?;
        let options = PostOptions {
            immediate: None,
            is_inline: false,
            ..options
        };
        // SAFETY: an open endpoint has a table of these calls, since its info has the capability.
        let call = unsafe { (*(*endpoint).rma).readmsg };
        let posted = self.post_remote("fi_readmsg", call, endpoint, into, from, offset, options);
        self.count_post(connection);
        posted
    }

    #[inline]
    fn post_send(
        &mut self,
        connection: ConnectionId,
        from: &LocalSlice,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let _near = self.keep_open(connection)?;
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
        self.count_post(connection);
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
        if let Some(sockets) = &mut self.sockets
            && !sockets.found.is_empty()
        {
            into.append(&mut sockets.found);
            return Ok(());
        }
        self.read_completions(into)
    }

    fn may_sleep(&mut self) -> Result<bool, FabricError> {
        FabricNode::may_sleep(self)
    }

    fn wait_fds(&self) -> Result<[BorrowedFd<'_>; 2], FabricError> {
        FabricNode::wait_fds(self)
    }
}
