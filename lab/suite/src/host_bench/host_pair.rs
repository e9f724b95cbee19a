//! Two hosts on one machine: unnamed network namespaces, joined by a link of 1 Gbit/s.
//!
//! ```text
//!   near: unshare --net                    far: unshare --net
//!     10.77.0.1  veth ==1 Gbit/s, tbf== veth  10.77.0.2
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

/// Name of the network device in each namespace.
const DEVICE: &str = "thalweg";

impl HostPair {
    /// Creates both namespaces and the link between them.
    ///
    /// # Errors
    /// A sentence that says why that is impossible here.
    pub fn new() -> Result<HostPair, String> {
        let near = NetNamespace::new("10.77.0.1")?;
        let far = NetNamespace::new("10.77.0.2")?;
        let other = far.process_id().to_string();
        let veth = [
            "ip", "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE,
        ];
        near.run(&[&veth[..], &["netns", &other]].concat())?;
        for host in [&near, &far] {
            let address = format!("{}/30", host.address);
            host.run(&["ip", "address", "add", &address, "dev", DEVICE])?;
            host.run(&["ip", "link", "set", "lo", "up"])?;
            host.run(&["ip", "link", "set", DEVICE, "up"])?;
            let shape = [
                "tc", "qdisc", "add", "dev", DEVICE, "root", "tbf", "rate", "1gbit",
            ];
            host.run(&[&shape[..], &["burst", "128kb", "latency", "50ms"]].concat())?;
        }
        Ok(HostPair { near, far })
    }
}
