//! The ports of this host: devices of libfabric's providers, and the fabric that each is on.

use std::ptr;

use crate::abi::{
    API_VERSION, FI_MR_ALLOCATED, FI_MR_LOCAL, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_MSG, FI_RMA,
    FiInfo,
};
use crate::error::FabricError;
use crate::library::FabricLibrary;
use crate::provider::{OwnedInfo, text};

/// libfabric's number for "no such data", which `fi_getinfo` returns if there is no port.
const FI_ENODATA: i32 = libc::ENODATA;

/// A device of a provider, and the fabric that it is on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FabricPort {
    /// Name of the provider, such as `verbs`.
    pub provider: String,
    /// Name of the fabric. Hosts with a port of one provider on fabrics of one name reach each
    /// other, as far as libfabric tells without a connection.
    pub fabric: String,
    /// Name of the device, such as `mlx5_0`.
    pub device: String,
}

/// Lists the ports of this host that send messages and write remotely, each once, sorted. Providers
/// that are layers upon others, whose names have a semicolon, are left out.
///
/// # Errors
/// libfabric is not installed, or it fails.
pub fn list_ports() -> Result<Vec<FabricPort>, FabricError> {
    let library = FabricLibrary::load()?;
    // SAFETY: for a null pointer the library allocates an empty structure with all attributes.
    let hints = unsafe { OwnedInfo::new(library, (library.dupinfo)(ptr::null())) };
    let hints = hints.ok_or_else(|| library.error("fi_dupinfo", libc::ENOMEM))?;
    // SAFETY: the structure is this caller's alone. No bit of the modes is refused, since nothing
    // is opened.
    unsafe {
        let info = &mut *hints.as_ptr();
        info.caps = FI_MSG | FI_RMA;
        info.mode = u64::MAX;
        (*info.domain_attr).mr_mode =
            FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    }
    let mut found = ptr::null_mut();
    // SAFETY: without a name of a node the call looks for local ports; the hints live during it,
    // and it sets `found` if it returns 0.
    let result = unsafe {
        let (node, service) = (ptr::null(), ptr::null());
        (library.getinfo)(
            API_VERSION,
            node,
            service,
            0,
            hints.as_ptr(),
            &raw mut found,
        )
    };
    if result == -FI_ENODATA {
        return Ok(Vec::new());
    }
    library.check("fi_getinfo", result as isize)?;
    // SAFETY: the call has succeeded, and the list is this caller's.
    let list = unsafe { OwnedInfo::new(library, found) };
    let mut ports = Vec::new();
    let mut next: *mut FiInfo = list.as_ref().map_or(ptr::null_mut(), OwnedInfo::as_ptr);
    while !next.is_null() {
        // SAFETY: the pointer is to an entry of the list, which lives until the end of the
        // function; the library allocates attributes with it, and strings are null or end with a
        // zero.
        let (port, behind) = unsafe { (port(&*next), (*next).next) };
        ports.push(port);
        next = behind;
    }
    ports.retain(|port| !port.provider.contains(';'));
    ports.sort();
    ports.dedup();
    Ok(ports)
}

/// # Safety
/// The attributes of the entry are allocated, and their strings are null or end with a zero.
unsafe fn port(info: &FiInfo) -> FabricPort {
    // SAFETY: as above.
    unsafe {
        FabricPort {
            provider: text((*info.fabric_attr).prov_name),
            fabric: text((*info.fabric_attr).name),
            device: text((*info.domain_attr).name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::list_ports;
    use crate::error::FabricError;

    #[test]
    fn the_loopback_has_a_port_of_the_provider_tcp() {
        let ports = match list_ports() {
            Ok(ports) => ports,
            Err(error @ FabricError::NoLibrary(_)) => {
                return println!("PASSED OVER: {error}");
            }
            Err(error) => panic!("{error}"),
        };
        let is_loopback = |device: &str| device == "lo";
        let found = ports
            .iter()
            .any(|port| port.provider == "tcp" && is_loopback(&port.device));
        assert!(found, "{ports:?}");
        assert!(ports.is_sorted(), "{ports:?}");
    }
}
