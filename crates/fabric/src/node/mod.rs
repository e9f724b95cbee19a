//! A node: one end of connections over one provider, with all that belongs to it.
//!
//! A node owns its fabric, its domain, its queues, its connections and the registrations of its
//! memory. Calls go by a mutable reference to the node, or by a shared one that no other thread can
//! have, so a provider is told that it need not lock.

mod by_socket;
mod calls;
mod completions;
mod connection;
mod connection_slots;
mod connections;
mod object;
mod operations;

use std::net::IpAddr;
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use by_socket::SocketConnections;
use connection::Connection;
use connection_slots::ConnectionSlots;
use object::Owned;
use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::abi::{
    FI_CQ_FORMAT_DATA, FI_EAGAIN, FI_GETWAIT, FI_WAIT_FD, FI_WAIT_NONE, FiCqAttr, FiEqAttr, Fid,
    FidCq, FidDomain, FidEq, FidFabric, FidMr, FidPep,
};
use crate::error::FabricError;
use crate::library::FabricLibrary;
use crate::memory::Mapping;
use crate::ports::list_ports;
use crate::provider::{FabricAddress, OwnedInfo, ProviderLimits, ProviderQuery};
use crate::signal_handlers::SignalHandlers;

/// Number of the next node of this process.
static NEXT_NODE: AtomicU64 = AtomicU64::new(0);

/// Connections of a node that listens for which its completion queue has room. The provider `verbs`
/// sets room aside for the receive buffers of each, and what it has set aside for others is missing
/// when operations are posted; connections beyond these share what is left.
const LISTENER_CONNECTIONS: usize = 32;

/// Version of libfabric whose endpoints without connections are known.
const DATAGRAM_VERSION: (u32, u32) = (1, 17);

/// Most entries of a completion queue, if one connection does not need more: as many as the drivers
/// without hardware (rxe) take.
const COMPLETIONS_MAX: usize = (1 << 15) - 1;

/// One end of connections over one provider: see the [module](self).
pub struct FabricNode {
    // The order of the fields is that of dropping: each refers to those behind it.
    connections: ConnectionSlots<Connection>,
    /// Registered memories; `None`: one whose registration has ended.
    regions: Vec<Option<Region>>,
    /// Open until the node is dropped: a connection whose greeting has not come yet refers to it in
    /// the provider `tcp`, and nothing tells of those.
    listener: Option<Owned<FidPep>>,
    completion_queue: Owned<FidCq>,
    /// Queue of the provider's events, if it makes connections.
    event_queue: Option<Owned<FidEq>>,
    /// Connections by sockets, if it makes none.
    sockets: Option<SocketConnections>,
    domain: Owned<FidDomain>,
    fabric: Owned<FidFabric>,
    info: OwnedInfo,
    limits: ProviderLimits,
    library: &'static FabricLibrary,
    /// Number of the node in its process, by which it knows its requests again.
    number: u64,
}

/// A registered memory. Dropping it takes the peers' access away; the pages stay until then.
struct Region {
    // The order of the fields is that of dropping: the pages go last.
    registration: Owned<FidMr>,
    mapping: Arc<Mapping>,
    is_addressed_by_offset: bool,
}

impl FabricNode {
    /// Opens a node on the provider of a query. A node for [`FabricAddress::Listen`] takes requests
    /// from then on.
    ///
    /// # Errors
    /// libfabric is not installed, no provider matches, or the provider has failed.
    pub fn open(query: &ProviderQuery) -> Result<FabricNode, FabricError> {
        let library = FabricLibrary::load()?;
        // Providers, too, install handlers of signals when they are first used.
        let _handlers = SignalHandlers::keep();
        let info = OwnedInfo::find(library, query);
        let info = info.map_err(|error| device_error(query, error))?;
        let fabric = open_fabric(library, &info)?;
        check_version(library, &info)?;
        let (event_queue, sockets) = match info.is_connected() {
            true => (Some(open_event_queue(library, &fabric)?), None),
            false => (None, Some(SocketConnections::new(query.address)?)),
        };
        let domain = open_domain(library, &fabric, &info)?;
        let limits = info.limits();
        let connections = match query.address {
            FabricAddress::Listen(_) => LISTENER_CONNECTIONS,
            FabricAddress::Connect(_) => 1,
        };
        let size = completion_queue_size(&limits, connections);
        let completion_queue =
            open_completion_queue(library, &domain, size, event_queue.is_some())?;
        let mut node = FabricNode {
            connections: ConnectionSlots::new(),
            regions: Vec::new(),
            listener: None,
            completion_queue,
            event_queue,
            sockets,
            domain,
            fabric,
            info,
            limits,
            library,
            number: NEXT_NODE.fetch_add(1, Ordering::Relaxed),
        };
        if let FabricAddress::Listen(address) = query.address
            && node.sockets.is_none()
        {
            let failed = |error| cannot_listen(address, &error);
            node.listen().map_err(failed)?;
        }
        Ok(node)
    }

    /// Does [`RdmaNode::may_sleep`](crate::RdmaNode::may_sleep) for callers without that trait.
    ///
    /// # Errors
    /// The provider has failed.
    pub fn may_sleep(&mut self) -> Result<bool, FabricError> {
        let Some(event_queue) = &self.event_queue else {
            return self.may_sleep_by_socket();
        };
        let mut fids = [self.completion_queue.fid(), event_queue.fid()];
        let fabric = self.fabric.as_ptr();
        // SAFETY: the queues are open and of this fabric; the list lives during the call.
        let result = unsafe {
            let call = (*(*fabric).ops).trywait;
            call(fabric, fids.as_mut_ptr(), fids.len() as i32)
        };
        match -i64::from(result) {
            FI_EAGAIN => Ok(false),
            _ => self
                .library
                .check("fi_trywait", result as isize)
                .map(|()| true),
        }
    }

    /// Does [`RdmaNode::wait_fds`](crate::RdmaNode::wait_fds) for callers without that trait.
    ///
    /// # Errors
    /// The provider has no descriptors.
    pub fn wait_fds(&self) -> Result<[BorrowedFd<'_>; 2], FabricError> {
        match (&self.event_queue, &self.sockets) {
            (Some(event_queue), _) => Ok([
                self.wait_fd(self.completion_queue.fid())?,
                self.wait_fd(event_queue.fid())?,
            ]),
            (None, Some(sockets)) => Ok(sockets.signals.fds()),
            (None, None) => Err(self.library.error("fi_control", libc::ENODATA)),
        }
    }

    /// Descriptor of a queue of this node.
    fn wait_fd(&self, queue: *mut Fid) -> Result<BorrowedFd<'_>, FabricError> {
        let mut fd: RawFd = -1;
        // SAFETY: the queue is open and was made to wait by a descriptor, which the call stores.
        let result = unsafe { ((*(*queue).ops).control)(queue, FI_GETWAIT, (&raw mut fd).cast()) };
        self.library.check("fi_control", result as isize)?;
        if fd < 0 {
            return Err(self.library.error("fi_control", libc::ENODATA));
        }
        // SAFETY: the descriptor is the queue's, which lives as long as the node is borrowed.
        Ok(unsafe { BorrowedFd::borrow_raw(fd) })
    }
}

/// The error of a node that cannot listen at an address.
#[cold]
fn cannot_listen(address: IpAddr, error: &FabricError) -> FabricError {
    FabricError::System(format!("cannot listen at the address {address}: {error}"))
}

/// The error of a query that finds nothing: if its provider has no device of that name here, which
/// devices it has.
#[cold]
fn device_error(query: &ProviderQuery, error: FabricError) -> FabricError {
    let (FabricError::NoProvider(_), Some(device)) = (&error, &query.device) else {
        return error;
    };
    let ports = list_ports().unwrap_or_default().into_iter();
    let own = ports.filter(|port| port.provider == query.provider);
    let mut devices: Vec<String> = own.map(|port| port.device).collect();
    devices.dedup();
    if devices.contains(device) {
        return error;
    }
    let provider = &query.provider;
    FabricError::NoProvider(match devices.is_empty() {
        true => format!(
            "libfabric's provider {provider} has no device `{device}`: it has none on this host"
        ),
        false => format!(
            "libfabric's provider {provider} has no device `{device}`; on this host it has {}",
            devices.join(", ")
        ),
    })
}

/// Checks that endpoints without connections are of a version whose memory is known: see
/// [`crate::datagram`].
fn check_version(library: &FabricLibrary, info: &OwnedInfo) -> Result<(), FabricError> {
    let (major, minor) = library.version();
    if info.is_connected() || (major, minor) == DATAGRAM_VERSION {
        return Ok(());
    }
    let provider = info.limits().provider;
    Err(FabricError::NoProvider(format!(
        "the provider {provider} can be used with libfabric 1.17, and this is {major}.{minor}"
    )))
}

fn open_fabric(
    library: &'static FabricLibrary,
    info: &OwnedInfo,
) -> Result<Owned<FidFabric>, FabricError> {
    let mut fabric = ptr::null_mut();
    // SAFETY: the attributes live during the call, which sets `fabric` if it returns 0.
    let result = unsafe {
        let attributes = (*info.as_ptr()).fabric_attr;
        (library.fabric)(attributes, &raw mut fabric, ptr::null_mut())
    };
    library.check("fi_fabric", result as isize)?;
    // SAFETY: the call has succeeded, and the object is this caller's.
    opened(library, "fi_fabric", unsafe { Owned::new(fabric) })
}

fn open_event_queue(
    library: &'static FabricLibrary,
    fabric: &Owned<FidFabric>,
) -> Result<Owned<FidEq>, FabricError> {
    let mut attributes = FiEqAttr {
        size: 0,
        flags: 0,
        wait_obj: FI_WAIT_FD,
        signaling_vector: 0,
        wait_set: ptr::null_mut(),
    };
    let mut queue = ptr::null_mut();
    let fabric = fabric.as_ptr();
    // SAFETY: the fabric is open; the attributes live during the call.
    let result = unsafe {
        let call = (*(*fabric).ops).eq_open;
        call(fabric, &raw mut attributes, &raw mut queue, ptr::null_mut())
    };
    library.check("fi_eq_open", result as isize)?;
    // SAFETY: the call has succeeded, and the object is this caller's.
    opened(library, "fi_eq_open", unsafe { Owned::new(queue) })
}

fn open_domain(
    library: &'static FabricLibrary,
    fabric: &Owned<FidFabric>,
    info: &OwnedInfo,
) -> Result<Owned<FidDomain>, FabricError> {
    let mut domain = ptr::null_mut();
    let fabric = fabric.as_ptr();
    // SAFETY: the fabric is open; the info lives during the call.
    let result = unsafe {
        ((*(*fabric).ops).domain)(fabric, info.as_ptr(), &raw mut domain, ptr::null_mut())
    };
    library.check("fi_domain", result as isize)?;
    // SAFETY: the call has succeeded, and the object is this caller's.
    opened(library, "fi_domain", unsafe { Owned::new(domain) })
}

fn completion_queue_size(limits: &ProviderLimits, connections: usize) -> usize {
    let depth = limits.transmit_depth.saturating_add(limits.receive_depth);
    let all = depth.saturating_mul(connections);
    all.min(COMPLETIONS_MAX).max(depth)
}

fn open_completion_queue(
    library: &'static FabricLibrary,
    domain: &Owned<FidDomain>,
    size: usize,
    has_descriptor: bool,
) -> Result<Owned<FidCq>, FabricError> {
    let mut attributes = FiCqAttr {
        size,
        flags: 0,
        format: FI_CQ_FORMAT_DATA,
        wait_obj: match has_descriptor {
            true => FI_WAIT_FD,
            false => FI_WAIT_NONE,
        },
        signaling_vector: 0,
        wait_cond: 0,
        wait_set: ptr::null_mut(),
    };
    let mut queue = ptr::null_mut();
    let domain = domain.as_ptr();
    // SAFETY: the domain is open; the attributes live during the call.
    let result = unsafe {
        let call = (*(*domain).ops).cq_open;
        call(domain, &raw mut attributes, &raw mut queue, ptr::null_mut())
    };
    library.check("fi_cq_open", result as isize)?;
    // SAFETY: the call has succeeded, and the object is this caller's.
    opened(library, "fi_cq_open", unsafe { Owned::new(queue) })
}

/// The object that a call has opened; a provider that gives none has no memory left.
fn opened<T>(
    library: &FabricLibrary,
    call: &'static str,
    object: Option<T>,
) -> Result<T, FabricError> {
    object.ok_or_else(|| library.error(call, libc::ENOMEM))
}

/// A key of at most `bytes` bytes that a peer of another connection does not guess.
///
/// # Errors
/// The system has no random bytes.
fn random_key(bytes: usize) -> Result<u64, FabricError> {
    let mut key = [0; 8];
    // A call for at most 256 bytes is never cut short, but a signal may interrupt it before.
    let filled = retry_on_intr(|| getrandom(&mut key, GetRandomFlags::empty()));
    filled.map_err(|error| FabricError::System(format!("no random key: {error}")))?;
    Ok(u64::from_ne_bytes(key) >> (64 - 8 * bytes.clamp(1, 8)))
}

#[cfg(test)]
mod tests {
    use super::{COMPLETIONS_MAX, LISTENER_CONNECTIONS, completion_queue_size};
    use crate::provider::ProviderLimits;

    #[test]
    fn completions_of_all_connections_find_room() {
        let size = |transmit_depth, receive_depth, connections| {
            let limits = ProviderLimits {
                provider: String::new(),
                device: String::new(),
                inline_bytes_max: 0,
                message_bytes_max: 0,
                transmit_depth,
                receive_depth,
                immediate_bytes: 0,
                immediate_uses_receive: false,
            };
            completion_queue_size(&limits, connections)
        };
        assert_eq!(size(384, 384, 1), 768);
        assert_eq!(size(384, 384, LISTENER_CONNECTIONS), 24_576);
        assert_eq!(size(1024, 1024, LISTENER_CONNECTIONS), COMPLETIONS_MAX);
        assert_eq!(size(32_768, 1, LISTENER_CONNECTIONS), 32_769);
        assert_eq!(size(usize::MAX, 1, 2), usize::MAX);
    }
}
