//! Two hosts on one machine: unnamed network namespaces, joined by links of 1 Gbit/s.
//!
//! ```text
//!   near: unshare --net                    far: unshare --net
//!     10.77.0.1  veth ==1 Gbit/s, tbf== veth  10.77.0.2
//!     10.77.1.1  veth ==1 Gbit/s, tbf== veth  10.77.1.2      if there are two
//! ```
//! Nothing stays behind, however this process ends: see [`NetNamespace`].

use control::NetNamespace;

/// The two hosts of a benchmark.
pub struct HostPair {
    /// Host that sources run on.
    pub near: NetNamespace,
    /// Host that sinks and relays run on.
    pub far: NetNamespace,
}

/// Addresses of the near and the far host on each link.
const LINK_ADDRESSES: [[&str; 2]; 2] = [["10.77.0.1", "10.77.0.2"], ["10.77.1.1", "10.77.1.2"]];

impl HostPair {
    /// Creates both namespaces and the link between them.
    ///
    /// # Errors
    /// A sentence that says why that is impossible here.
    pub fn new() -> Result<HostPair, String> {
        HostPair::with_links(1)
    }

    /// Creates both namespaces, and one or two links between them.
    ///
    /// # Errors
    /// A sentence that says why that is impossible here.
    pub fn with_links(links: usize) -> Result<HostPair, String> {
        let near = NetNamespace::new(LINK_ADDRESSES[0][0])?;
        let far = NetNamespace::new(LINK_ADDRESSES[0][1])?;
        for host in [&near, &far] {
            host.run(&["ip", "link", "set", "lo", "up"])?;
        }
        let pair = HostPair { near, far };
        for link in 0..links.min(LINK_ADDRESSES.len()) {
            pair.add_link(link)?;
        }
        Ok(pair)
    }

    fn add_link(&self, link: usize) -> Result<(), String> {
        let device = &format!("thalweg{link}");
        let other = self.far.process_id().to_string();
        let veth = [
            "ip", "link", "add", device, "type", "veth", "peer", "name", device,
        ];
        self.near.run(&[&veth[..], &["netns", &other]].concat())?;
        for (host, address) in [&self.near, &self.far]
            .into_iter()
            .zip(LINK_ADDRESSES[link])
        {
            let address = format!("{address}/30");
            host.run(&["ip", "address", "add", &address, "dev", device])?;
            host.run(&["ip", "link", "set", device, "up"])?;
            let shape = [
                "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", "1gbit",
            ];
            host.run(&[&shape[..], &["burst", "128kb", "latency", "50ms"]].concat())?;
        }
        Ok(())
    }

    /// Addresses of the near host, one for each of two links.
    pub fn near_addresses() -> [&'static str; 2] {
        LINK_ADDRESSES.map(|[near, _]| near)
    }
}
