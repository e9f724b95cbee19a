//! The providers of libfabric that the medium runs over, and what each of them can.

use std::net::IpAddr;

use super::PlacementProof;
use crate::Error;

/// A provider: a driver of libfabric's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    /// Sockets, on any host.
    Tcp,
    /// InfiniBand, RoCE and iWARP, by the system's verbs and its connection manager (RDMA_CM).
    Verbs,
    /// Shared memory, between processes of one host.
    Shm,
}

impl Provider {
    /// All providers, the default first.
    pub(super) const ALL: [Provider; 3] = [Provider::Tcp, Provider::Verbs, Provider::Shm];

    /// Name of the provider at libfabric and in settings.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Provider::Tcp => "tcp",
            Provider::Verbs => "verbs",
            Provider::Shm => "shm",
        }
    }

    /// The provider with a name.
    pub(super) fn find(name: &str) -> Option<Provider> {
        Provider::ALL.into_iter().find(|one| one.name() == name)
    }

    /// How receivers know that a record is whole: the provider `tcp` reads a write from its socket
    /// in the order of its bytes, while the receiver polls. No other promises an order of bytes.
    /// (That of `shm` copies while the receiver polls too, but other versions need not.)
    pub(super) fn proof(self) -> PlacementProof {
        match self {
            Provider::Tcp => PlacementProof::Marks,
            Provider::Verbs | Provider::Shm => PlacementProof::Numbers,
        }
    }

    /// Reach of the provider, in words.
    pub(super) fn reach(self) -> &'static str {
        match self {
            Provider::Tcp => "hosts, by sockets",
            Provider::Verbs => "hosts, by adapters",
            Provider::Shm => "one host",
        }
    }

    /// Whether the two ends of an edge may be on different hosts.
    pub(super) fn crosses_hosts(self) -> bool {
        self != Provider::Shm
    }

    /// Checks that an edge whose sender listens at an address can use the provider: edges with
    /// receivers on other hosts listen at an address of their host.
    ///
    /// # Errors
    /// The provider joins processes of one host alone.
    pub(super) fn check_address(self, edge: &str, address: IpAddr) -> Result<(), Error> {
        if self.crosses_hosts() || address.is_loopback() {
            return Ok(());
        }
        let name = self.name();
        Err(Error::Refused(format!(
            "{edge}: the provider {name} of rdma joins processes of one host, and this stream has \
             receivers on others ({address}); provider=tcp and provider=verbs reach them"
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn shared_memory_reaches_no_other_host() {
        let far = Ipv4Addr::new(192, 0, 2, 7).into();
        let refusal = Provider::Shm.check_address("Trades.0", far).unwrap_err();
        let refusal = refusal.to_string();
        assert!(refusal.contains("Trades.0: the provider shm"), "{refusal}");
        let near = Ipv4Addr::LOCALHOST.into();
        assert!(Provider::Shm.check_address("Trades.0", near).is_ok());
        assert!(Provider::Verbs.check_address("Trades.0", far).is_ok());
    }
}
