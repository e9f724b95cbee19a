//! The ports of this host by which `rdma` reaches other hosts.

pub use fabric::FabricPort;

use super::settings::RdmaSettings;
use crate::Error;

/// Providers that reach other hosts over sockets, or none at all: `rum` is faster there.
const WITHOUT_ADAPTER: [&str; 2] = ["tcp", "shm"];

/// Whether a medium of this name is one that `auto` takes over adapters alone: mode `batch` has a
/// name of its own.
pub fn is_for_adapters(medium: &str) -> bool {
    matches!(medium, "rdma" | "rum-rdma")
}

/// The ports of adapters on this host whose providers the medium can use.
///
/// # Errors
/// libfabric is not installed, or it fails.
pub fn adapter_ports() -> Result<Vec<FabricPort>, Error> {
    let ports = fabric::list_ports();
    let mut ports = ports.map_err(|error| Error::Refused(error.to_string()))?;
    ports.retain(|port| is_adapter(&port.provider));
    Ok(ports)
}

/// Whether a provider drives adapters, and settings of the medium may name it.
fn is_adapter(provider: &str) -> bool {
    let settings = RdmaSettings::parse(&format!("provider={provider}"));
    !WITHOUT_ADAPTER.contains(&provider) && settings.is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_adapter;

    #[test]
    fn sockets_and_unknown_providers_are_no_adapters() {
        for provider in ["tcp", "shm", "sockets", "udp", ""] {
            assert!(!is_adapter(provider), "{provider}");
        }
    }
}
