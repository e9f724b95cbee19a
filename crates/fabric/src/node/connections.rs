//! Endpoints of a node: the one that listens, and one for each connection.

use std::mem::{self, MaybeUninit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ptr;

use super::connection::Connection;
use super::object::Owned;
use super::{FabricNode, opened};
use crate::abi::{
    FI_EAGAIN, FI_ENABLE, FI_RECV, FI_SELECTIVE_COMPLETION, FI_TRANSMIT, FiEqErrEntry, Fid, FidAv,
    FidEp,
};
use crate::error::FabricError;
use crate::provider::OwnedInfo;
use crate::rdma_node::{ConnectionId, FabricEvent};

/// Most bytes of a peer's words that are believed: more than any refusal has.
const PEER_WORDS_MAX: usize = 256;

impl FabricNode {
    /// Begins to take requests.
    pub(super) fn listen(&mut self) -> Result<(), FabricError> {
        let mut listener = ptr::null_mut();
        let fabric = self.fabric.as_ptr();
        // SAFETY: the fabric is open; the info lives during the call.
        let result = unsafe {
            let call = (*(*fabric).ops).passive_ep;
            call(
                fabric,
                self.info.as_ptr(),
                &raw mut listener,
                ptr::null_mut(),
            )
        };
        self.library.check("fi_passive_ep", result as isize)?;
        // SAFETY: the call has succeeded, and the object is this caller's.
        let listener = opened(self.library, "fi_passive_ep", unsafe {
            Owned::new(listener)
        })?;
        let queue = self.event_queue.as_ref();
        let queue = queue.ok_or_else(|| self.library.error("fi_pep_bind", libc::ENOSYS))?;
        // SAFETY: both objects are open. The queue outlives the listener: on errors the listener is
        // dropped here, else with the node, before its queues.
        let result = unsafe {
            let fid = listener.fid();
            ((*(*fid).ops).bind)(fid, queue.fid(), 0)
        };
        self.library.check("fi_pep_bind", result as isize)?;
        // SAFETY: the listener is open and bound to its queue.
        let result = unsafe { ((*(*listener.as_ptr()).cm).listen)(listener.as_ptr()) };
        self.library.check("fi_listen", result as isize)?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Address where the node takes requests.
    ///
    /// # Errors
    /// The node does not listen, or the provider's addresses are not those of IP.
    pub fn listen_address(&self) -> Result<SocketAddr, FabricError> {
        if let Some(sockets) = &self.sockets {
            return sockets.listen_address();
        }
        let Some(listener) = &self.listener else {
            let why = "the node does not listen".to_owned();
            return Err(FabricError::OutOfBounds(why));
        };
        let mut address = [0u8; mem::size_of::<libc::sockaddr_in6>()];
        let mut bytes = address.len();
        // SAFETY: the listener is open; the address has room for `bytes` bytes, and the call writes
        // no more of a longer one.
        let result = unsafe {
            let call = (*(*listener.as_ptr()).cm).getname;
            call(listener.fid(), address.as_mut_ptr().cast(), &raw mut bytes)
        };
        self.library.check("fi_getname", result as isize)?;
        socket_address(&address).ok_or_else(|| {
            let provider = &self.limits.provider;
            FabricError::NoProvider(format!("the provider {provider} has no IP addresses"))
        })
    }

    pub(super) fn failed_event(&mut self) -> Result<Option<FabricEvent>, FabricError> {
        let mut entry = MaybeUninit::<FiEqErrEntry>::zeroed();
        let Some(queue) = self.event_queue.as_ref().map(Owned::as_ptr) else {
            return Ok(None);
        };
        // SAFETY: the queue is open; all bytes of the entry are zero, or set by the library. With
        // room for no error data, the library keeps that itself, and nothing here looks at it.
        let (result, entry) = unsafe {
            let result = ((*(*queue).ops).readerr)(queue, entry.as_mut_ptr(), 0);
            (result, entry.assume_init())
        };
        if -(result as i64) == FI_EAGAIN {
            return Ok(None);
        }
        self.library.check("fi_eq_readerr", result)?;
        let error = self.library.error("fi_connect", entry.err);
        // SAFETY: the library has set both, and keeps the bytes until the next call for the queue.
        let words = unsafe { peer_words(entry.err_data.cast(), entry.err_data_size) };
        let is_refused = entry.err == libc::ECONNREFUSED;
        Ok(self.closed(entry.fid, format!("{error}{words}"), is_refused))
    }

    pub(super) fn closed(
        &self,
        fid: *mut Fid,
        why: String,
        is_refused: bool,
    ) -> Option<FabricEvent> {
        let connection = self.connection_of(fid)?;
        Some(FabricEvent::Closed {
            connection,
            why,
            is_refused,
        })
    }

    pub(super) fn connection_of(&self, fid: *mut Fid) -> Option<ConnectionId> {
        let mut connections = self.connections.iter();
        let found = connections.find(|(_, connection)| connection.endpoint.fid() == fid);
        found.map(|(id, _)| id)
    }

    pub(super) fn add_connection(&mut self, connection: Connection) -> ConnectionId {
        self.connections.add(connection)
    }

    /// Opens an endpoint that is bound to the node's queues, and to a vector of addresses if it
    /// makes no connection, and enabled.
    pub(super) fn open_endpoint(
        &self,
        info: &OwnedInfo,
        vector: Option<&Owned<FidAv>>,
    ) -> Result<Owned<FidEp>, FabricError> {
        let mut endpoint = ptr::null_mut();
        let domain = self.domain.as_ptr();
        // SAFETY: the domain is open; the info lives during the call.
        let result = unsafe {
            let call = (*(*domain).ops).endpoint;
            call(domain, info.as_ptr(), &raw mut endpoint, ptr::null_mut())
        };
        self.library.check("fi_endpoint", result as isize)?;
        // SAFETY: the call has succeeded, and the object is this caller's.
        let endpoint = opened(self.library, "fi_endpoint", unsafe { Owned::new(endpoint) })?;
        let fid = endpoint.fid();
        let transmit = FI_TRANSMIT | FI_SELECTIVE_COMPLETION;
        let event_queue = self.event_queue.as_ref().map(Owned::fid);
        let vector = vector.map(Owned::fid);
        for (object, flags) in [
            (event_queue, 0),
            (vector, 0),
            (Some(self.completion_queue.fid()), transmit),
            (Some(self.completion_queue.fid()), FI_RECV),
        ] {
            let Some(object) = object else {
                continue;
            };
            // SAFETY: both objects are open. The node's queues and the vector outlive the
            // endpoint: on errors it is dropped here, else before them.
            let result = unsafe { ((*(*fid).ops).bind)(fid, object, flags) };
            self.library.check("fi_ep_bind", result as isize)?;
        }
        // SAFETY: the endpoint is open and bound; enabling takes no argument.
        let result = unsafe { ((*(*fid).ops).control)(fid, FI_ENABLE, ptr::null_mut()) };
        self.library.check("fi_enable", result as isize)?;
        Ok(endpoint)
    }
}

/// The words with which a peer has refused, behind those of the library; empty if there are none.
///
/// # Safety
/// `data` is null, or has `bytes` bytes during the call.
unsafe fn peer_words(data: *const u8, bytes: usize) -> String {
    if data.is_null() || bytes == 0 {
        return String::new();
    }
    // SAFETY: the caller says so.
    let bytes = unsafe { std::slice::from_raw_parts(data, bytes.min(PEER_WORDS_MAX)) };
    // Anybody may have sent them, and some providers append zeros.
    let is_text = |byte: &&u8| byte.is_ascii_graphic() || **byte == b' ';
    let text: String = bytes
        .iter()
        .take_while(is_text)
        .copied()
        .map(char::from)
        .collect();
    match text.is_empty() {
        true => text,
        false => format!("; the peer says: {text}"),
    }
}

/// The address in a `sockaddr_in` or `sockaddr_in6`.
fn socket_address(bytes: &[u8; mem::size_of::<libc::sockaddr_in6>()]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    let ip = match family {
        libc::AF_INET => {
            let octets: [u8; 4] = bytes[4..8].try_into().ok()?;
            IpAddr::V4(Ipv4Addr::from(octets))
        }
        libc::AF_INET6 => {
            let octets: [u8; 16] = bytes[8..24].try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(octets))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}
