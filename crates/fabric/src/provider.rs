//! Providers: libfabric's drivers, and what each of them offers for one address.

use std::ffi::{CStr, CString, c_char};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ptr::NonNull;

use crate::abi::{
    API_VERSION, FI_EP_MSG, FI_EP_RDM, FI_MR_ALLOCATED, FI_MR_LOCAL, FI_MR_PROV_KEY,
    FI_MR_VIRT_ADDR, FI_MSG, FI_ORDER_SAS, FI_ORDER_WAW, FI_RMA, FI_RX_CQ_DATA, FI_SOCKADDR_IN,
    FI_SOCKADDR_IN6, FI_SOURCE, FI_THREAD_DOMAIN, FiInfo,
};
use crate::error::FabricError;
use crate::library::FabricLibrary;
use crate::signal_handlers::SignalHandlers;

/// libfabric's number for "no such data", which `fi_getinfo` returns if no provider matches.
const FI_ENODATA: i32 = libc::ENODATA;

/// Which provider and device to use, and for which address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderQuery {
    /// Name of the provider, such as `verbs` or `tcp`.
    pub provider: String,
    /// Name of the device, such as `mlx5_0`; `None`: the one that has the address.
    pub device: Option<String>,
    /// Address to listen on or to connect to.
    pub address: FabricAddress,
    /// Address that connections are made from; `None`: the one that reaches the other. A node that
    /// listens connects from nowhere.
    pub source: Option<IpAddr>,
}

/// The end of a connection that an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricAddress {
    /// Listens at this address, at a port that the provider chooses.
    Listen(IpAddr),
    /// Connects to this address and port.
    Connect(SocketAddr),
}

/// Kind of endpoints that a provider has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// The provider makes connections.
    Connected,
    /// Endpoints reach any other by its name; connections are made by a socket beside them.
    Datagram,
}

impl EndpointKind {
    /// The kind of endpoints that a provider is used with.
    pub fn of(provider: &str) -> EndpointKind {
        match provider {
            "shm" => EndpointKind::Datagram,
            _ => EndpointKind::Connected,
        }
    }
}

/// Abilities of a provider on one device, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderLimits {
    /// Name of the provider.
    pub provider: String,
    /// Name of the device.
    pub device: String,
    /// Most bytes of an operation that is inline: its memory may change at once.
    pub inline_bytes_max: usize,
    /// Most bytes of a message or write.
    pub message_bytes_max: usize,
    /// Most operations that are posted and not complete.
    pub transmit_depth: usize,
    /// Most receive buffers that are posted.
    pub receive_depth: usize,
    /// Bytes of the number that goes with a write or message; 0: none can go with it.
    pub immediate_bytes: usize,
    /// Whether a write with a number uses up a posted receive buffer.
    pub immediate_uses_receive: bool,
}

impl ProviderLimits {
    /// Refuses operations of more bytes than the provider takes.
    #[inline]
    pub(crate) fn check_bytes(&self, bytes: usize, is_inline: bool) -> Result<(), FabricError> {
        let bytes_max = match is_inline {
            true => self.inline_bytes_max,
            false => self.message_bytes_max,
        };
        if bytes <= bytes_max {
            return Ok(());
        }
        Err(too_large(bytes, bytes_max, is_inline))
    }
}

/// An `fi_info` of the library, freed when it is dropped.
pub(crate) struct OwnedInfo {
    library: &'static FabricLibrary,
    info: NonNull<FiInfo>,
}

// SAFETY: the structure is plain memory of the library, without ties to a thread.
unsafe impl Send for OwnedInfo {}

impl OwnedInfo {
    /// Takes over a structure (with the list behind it) that the library has allocated; `None` for
    /// a null pointer.
    ///
    /// # Safety
    /// The pointer is null, or to a structure that nothing else frees.
    pub(crate) unsafe fn new(
        library: &'static FabricLibrary,
        info: *mut FiInfo,
    ) -> Option<OwnedInfo> {
        NonNull::new(info).map(|info| OwnedInfo { library, info })
    }

    /// Finds what the provider of a query offers. Takes the first match, as the library sorts them.
    pub(crate) fn find(
        library: &'static FabricLibrary,
        query: &ProviderQuery,
    ) -> Result<OwnedInfo, FabricError> {
        let hints = OwnedInfo::hints(library, query)?;
        // Endpoints without connections are found by their names, not by addresses of IP.
        let (node, service, flags) = match (EndpointKind::of(&query.provider), query.address) {
            (EndpointKind::Datagram, _) => (None, None, 0),
            (_, FabricAddress::Listen(address)) => (Some(address.to_string()), None, FI_SOURCE),
            (_, FabricAddress::Connect(to)) => {
                (Some(to.ip().to_string()), Some(to.port().to_string()), 0)
            }
        };
        let node = node.as_deref().map(c_string).transpose()?;
        let service = service.as_deref().map(c_string).transpose()?;
        let pointer =
            |name: &Option<CString>| name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let mut found = std::ptr::null_mut();
        // SAFETY: the strings and the hints live during the call, which sets `found` if it is 0.
        let result = unsafe {
            (library.getinfo)(
                API_VERSION,
                pointer(&node),
                pointer(&service),
                flags,
                hints.as_ptr(),
                &raw mut found,
            )
        };
        if result == -FI_ENODATA {
            return Err(FabricError::NoProvider(no_provider_message(query)));
        }
        library.check("fi_getinfo", result as isize)?;
        // SAFETY: the call has succeeded, and the list is this caller's.
        let found = unsafe { OwnedInfo::new(library, found) };
        let found = found.and_then(|found| found.on_device(query));
        found.ok_or_else(|| FabricError::NoProvider(no_provider_message(query)))
    }

    /// The first structure of the list whose device is the one that a query names, if it names one:
    /// the provider `tcp` lists all that there are, whatever it is asked for.
    fn on_device(self, query: &ProviderQuery) -> Option<OwnedInfo> {
        let device = match &query.device {
            Some(device) if query.provider == "tcp" => device,
            _ => return Some(self),
        };
        let mut at = self.info.as_ptr();
        // SAFETY: the list lives as long as its first structure, which `self` owns; the library
        // allocates the attributes with each, and its strings are null or end with a zero.
        unsafe {
            while !at.is_null() && text((*(*at).domain_attr).name) != *device {
                at = (*at).next;
            }
            if at.is_null() {
                return None;
            }
            OwnedInfo::new(self.library, (self.library.dupinfo)(at))
        }
    }

    fn hints(
        library: &'static FabricLibrary,
        query: &ProviderQuery,
    ) -> Result<OwnedInfo, FabricError> {
        // SAFETY: for a null pointer the library allocates an empty structure with all attributes.
        let hints = unsafe { OwnedInfo::new(library, (library.dupinfo)(std::ptr::null())) };
        let no_memory = || library.error("fi_dupinfo", libc::ENOMEM);
        let hints = hints.ok_or_else(no_memory)?;
        let (provider, device) = (c_string(&query.provider)?, query.device.as_deref());
        let device = device.map(c_string).transpose()?;
        // SAFETY: the library allocates all attributes with the structure; nothing else refers to
        // them yet. Strings are freed with it, so they are copies by the system's allocator.
        unsafe {
            let info = &mut *hints.as_ptr();
            info.caps = FI_MSG | FI_RMA;
            info.mode = FI_RX_CQ_DATA;
            (*info.ep_attr).kind = match EndpointKind::of(&query.provider) {
                EndpointKind::Connected => FI_EP_MSG,
                EndpointKind::Datagram => FI_EP_RDM,
            };
            (*info.tx_attr).msg_order = FI_ORDER_SAS | FI_ORDER_WAW;
            (*info.rx_attr).msg_order = FI_ORDER_SAS | FI_ORDER_WAW;
            (*info.domain_attr).threading = FI_THREAD_DOMAIN;
            // Providers that ask for more, such as registrations bound to endpoints, do not match.
            (*info.domain_attr).mr_mode =
                FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
            (*info.fabric_attr).prov_name = libc::strdup(provider.as_ptr());
            if let Some(device) = device {
                (*info.domain_attr).name = libc::strdup(device.as_ptr());
            }
            if let Some(source) = query.source {
                set_source(info, source);
            }
        }
        Ok(hints)
    }

    pub(crate) fn as_ptr(&self) -> *mut FiInfo {
        self.info.as_ptr()
    }

    /// Whether remote addresses are those of the peer's process; otherwise they are offsets.
    pub(crate) fn has_virtual_addresses(&self) -> bool {
        self.has_memory_mode(FI_MR_VIRT_ADDR)
    }

    /// Whether the provider chooses the keys of registered memory.
    pub(crate) fn chooses_keys(&self) -> bool {
        self.has_memory_mode(FI_MR_PROV_KEY)
    }

    fn has_memory_mode(&self, bit: i32) -> bool {
        // SAFETY: the library allocates the attributes with the structure.
        unsafe { (*(*self.as_ptr()).domain_attr).mr_mode & bit != 0 }
    }

    /// Bytes of a key of registered memory, at most 8.
    pub(crate) fn key_bytes(&self) -> usize {
        // SAFETY: the library allocates the attributes with the structure.
        unsafe { (*(*self.as_ptr()).domain_attr).mr_key_size.min(8) }
    }

    /// Whether the endpoints are connected.
    pub(crate) fn is_connected(&self) -> bool {
        // SAFETY: the library allocates the attributes with the structure.
        unsafe { (*(*self.as_ptr()).ep_attr).kind == FI_EP_MSG }
    }

    pub(crate) fn limits(&self) -> ProviderLimits {
        // SAFETY: the library allocates all attributes with the structure, and its strings are null
        // or end with a zero.
        unsafe {
            let info = &*self.as_ptr();
            let (transmit, receive) = (&*info.tx_attr, &*info.rx_attr);
            ProviderLimits {
                provider: text((*info.fabric_attr).prov_name),
                device: text((*info.domain_attr).name),
                inline_bytes_max: transmit.inject_size,
                message_bytes_max: match self.is_connected() {
                    true => (*info.ep_attr).max_msg_size,
                    // Larger operations are done when both processes have worked on them, and in
                    // any order; these are done when they are posted.
                    false => transmit.inject_size,
                },
                transmit_depth: transmit.size,
                receive_depth: receive.size,
                immediate_bytes: (*info.domain_attr).cq_data_size,
                immediate_uses_receive: (info.mode | receive.mode) & FI_RX_CQ_DATA != 0,
            }
        }
    }
}

impl Drop for OwnedInfo {
    fn drop(&mut self) {
        // SAFETY: the library has allocated the list, and this is its only owner.
        unsafe { (self.library.freeinfo)(self.info.as_ptr()) }
    }
}

/// Whether libfabric has a provider here with a device that can be used, at any address.
///
/// # Errors
/// libfabric is not installed.
pub fn has_provider(provider: &str) -> Result<bool, FabricError> {
    let library = FabricLibrary::load()?;
    let _handlers = SignalHandlers::keep();
    let query = ProviderQuery {
        provider: provider.to_owned(),
        device: None,
        address: FabricAddress::Listen(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        source: None,
    };
    let hints = OwnedInfo::hints(library, &query)?;
    let (node, service) = (std::ptr::null(), std::ptr::null());
    let mut found = std::ptr::null_mut();
    // SAFETY: the hints live during the call, which sets `found` if it is 0.
    let result = unsafe {
        let hints = hints.as_ptr();
        (library.getinfo)(API_VERSION, node, service, 0, hints, &raw mut found)
    };
    // SAFETY: the list, if there is one, is this caller's.
    let found = unsafe { OwnedInfo::new(library, found) };
    Ok(result == 0 && found.is_some())
}

/// Asks for the limits of the provider that a query finds.
///
/// # Errors
/// libfabric is not installed, or no provider matches.
pub fn provider_limits(query: &ProviderQuery) -> Result<ProviderLimits, FabricError> {
    let library = FabricLibrary::load()?;
    let _handlers = SignalHandlers::keep();
    Ok(OwnedInfo::find(library, query)?.limits())
}

/// Sets the address that connections are made from, at a port that the system chooses.
///
/// # Safety
/// The structure is the library's, without a source yet. The library frees the address with it, by
/// the system's allocator.
unsafe fn set_source(info: &mut FiInfo, source: IpAddr) {
    // `sockaddr_in` and `sockaddr_in6`: family, port, for IPv6 a flow, and the address.
    let (family, at, octets, bytes) = match source {
        IpAddr::V4(ip) => (libc::AF_INET, 4, ip.octets().to_vec(), 16),
        IpAddr::V6(ip) => (libc::AF_INET6, 8, ip.octets().to_vec(), 28),
    };
    let mut address = vec![0u8; bytes];
    address[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    address[at..at + octets.len()].copy_from_slice(&octets);
    // SAFETY: the copy goes into memory of as many bytes, which was just allocated.
    unsafe {
        let copy = libc::malloc(bytes).cast::<u8>();
        if !copy.is_null() {
            std::ptr::copy_nonoverlapping(address.as_ptr(), copy, bytes);
            info.addr_format = match source {
                IpAddr::V4(_) => FI_SOCKADDR_IN,
                IpAddr::V6(_) => FI_SOCKADDR_IN6,
            };
            info.src_addr = copy.cast();
            info.src_addrlen = bytes;
        }
    }
}

fn c_string(text: &str) -> Result<CString, FabricError> {
    let zero = |_| FabricError::NoProvider(format!("the name {text:?} has a zero byte"));
    CString::new(text).map_err(zero)
}

/// A copy of a string of the library; empty for a null pointer.
///
/// # Safety
/// The pointer is null or to a string that ends with a zero.
pub(crate) unsafe fn text(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(from) }
        .to_string_lossy()
        .into_owned()
}

#[cold]
fn too_large(bytes: usize, bytes_max: usize, is_inline: bool) -> FabricError {
    let inline = if is_inline { " inline" } else { "" };
    FabricError::OutOfBounds(format!(
        "an operation of {bytes} bytes; the provider takes at most {bytes_max}{inline}"
    ))
}

#[cold]
fn no_provider_message(query: &ProviderQuery) -> String {
    let device = match &query.device {
        Some(device) => format!(" on the device {device}"),
        None => String::new(),
    };
    let address = match query.address {
        FabricAddress::Listen(address) => address.to_string(),
        FabricAddress::Connect(address) => address.to_string(),
    };
    format!(
        "libfabric's provider {}{device} has no endpoint with remote writes for the \
         address {address}; `thalweg medium fabrics` lists the ports of adapters, and libfabric's \
         `fi_info` all that there is",
        query.provider
    )
}
