//! Two hosts on one machine that are joined by several paths, each with a rate of its own.
//!
//! ```text
//!   near                                      far
//!     10.78.1.1  path0 ==tbf, 100 Mbit/s== path0  10.78.1.2
//!     10.78.2.1  path1 ==tbf,  10 Mbit/s== path1  10.78.2.2
//! ```

use std::net::{IpAddr, Ipv4Addr};

use crate::net_namespace::NetNamespace;

/// Most paths between two hosts.
const PATHS_MAX: usize = 8;

/// Two hosts and the paths between them.
pub struct HostPaths {
    /// Host that senders run on.
    pub near: NetNamespace,
    /// Host that receivers run on.
    pub far: NetNamespace,
    count: usize,
}

impl HostPaths {
    /// Creates both hosts and this many paths, which are as fast as the machine is.
    ///
    /// # Errors
    /// A sentence that says why that is impossible here.
    ///
    /// # Panics
    /// `count` is 0 or above 8.
    pub fn new(count: usize) -> Result<HostPaths, String> {
        assert!((1..=PATHS_MAX).contains(&count), "{count} paths");
        let near = NetNamespace::new("10.78.1.1")?;
        let far = NetNamespace::new("10.78.1.2")?;
        let hosts = HostPaths { near, far, count };
        for host in [&hosts.near, &hosts.far] {
            host.run(&["ip", "link", "set", "lo", "up"])?;
        }
        (0..count).try_for_each(|path| hosts.join(path))?;
        Ok(hosts)
    }

    fn join(&self, path: usize) -> Result<(), String> {
        let (device, far) = (device(path), self.far.process_id().to_string());
        let peer = ["type", "veth", "peer", "name", &device, "netns", &far];
        let add = [&["ip", "link", "add", &device][..], &peer].concat();
        self.near.run(&add)?;
        let ends = [
            (&self.near, near_address(path)),
            (&self.far, far_address(path)),
        ];
        for (host, address) in ends {
            let address = format!("{address}/24");
            host.run(&["ip", "address", "add", &address, "dev", &device])?;
            host.run(&["ip", "link", "set", &device, "up"])?;
        }
        Ok(())
    }

    /// Limits a path to this rate in Mbit/s, in both directions; 0: to none.
    ///
    /// # Errors
    /// A sentence with the command that failed.
    pub fn set_rate(&self, path: usize, rate: u32) -> Result<(), String> {
        let (device, rate_word) = (device(path), format!("{rate}mbit"));
        let words: &[&str] = match rate {
            0 => &["noqueue"],
            _ => &[
                "tbf", "rate", &rate_word, "burst", "16kb", "latency", "50ms",
            ],
        };
        for host in [&self.near, &self.far] {
            let replace = ["tc", "qdisc", "replace", "dev", &device, "root"];
            host.run(&[&replace[..], words].concat())?;
        }
        Ok(())
    }

    /// Addresses of the near host, one for each path.
    pub fn near_addresses(&self) -> Vec<IpAddr> {
        (0..self.count).map(near_address).collect()
    }

    /// Takes a path away without telling either end's connections, or gives it back.
    ///
    /// # Errors
    /// A sentence with the command that failed.
    pub fn set_up(&self, path: usize, is_up: bool) -> Result<(), String> {
        let state = if is_up { "up" } else { "down" };
        self.far.run(&["ip", "link", "set", &device(path), state])
    }

    /// Has Multipath TCP use all paths of both hosts.
    ///
    /// # Errors
    /// A sentence with the command that failed.
    pub fn announce_mptcp_endpoints(&self) -> Result<(), String> {
        let most = self.count.to_string();
        for (host, role) in [(&self.near, "signal"), (&self.far, "subflow")] {
            let limits = ["subflows", &most, "add_addr_accepted", &most];
            host.run(&[&["ip", "mptcp", "limits", "set"][..], &limits].concat())?;
            for path in 1..self.count {
                let address = match role {
                    "signal" => near_address(path),
                    _ => far_address(path),
                };
                let (address, device) = (address.to_string(), device(path));
                host.run(&[
                    "ip", "mptcp", "endpoint", "add", &address, "dev", &device, role,
                ])?;
            }
        }
        Ok(())
    }

    /// Takes back what [`HostPaths::announce_mptcp_endpoints`] has announced.
    ///
    /// # Errors
    /// A sentence with the command that failed.
    pub fn withdraw_mptcp_endpoints(&self) -> Result<(), String> {
        let mut hosts = [&self.near, &self.far].into_iter();
        hosts.try_for_each(|host| host.run(&["ip", "mptcp", "endpoint", "flush"]))
    }

    /// Bytes that the near host has sent on a path, headers of the network included.
    ///
    /// # Errors
    /// A sentence: the system does not say it.
    pub fn sent_bytes(&self, path: usize) -> Result<u64, String> {
        let file = format!("/proc/{}/net/dev", self.near.process_id());
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(|error| format!("cannot read {file}: {error}"))?;
        // NAME: eight numbers of what was received, then eight of what was sent.
        let prefix = format!("{}:", device(path));
        let line = text
            .lines()
            .find_map(|line| line.trim().strip_prefix(&prefix));
        let bytes = line.and_then(|line| line.split_whitespace().nth(8)?.parse().ok());
        bytes.ok_or_else(|| format!("{file} does not count the bytes of {prefix}"))
    }
}

/// Name of a path's device, which is the same at both ends.
fn device(path: usize) -> String {
    format!("path{path}")
}

fn near_address(path: usize) -> IpAddr {
    Ipv4Addr::new(10, 78, path as u8 + 1, 1).into()
}

fn far_address(path: usize) -> IpAddr {
    Ipv4Addr::new(10, 78, path as u8 + 1, 2).into()
}
