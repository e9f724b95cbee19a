//! Two hosts on one machine: unnamed network namespaces, joined by links of 1 Gbit/s.
//!
//! ```text
//!   near: unshare --net                    far: unshare --net
//!     10.77.0.1  veth ==1 Gbit/s, tbf== veth  10.77.0.2
//!     10.77.1.1  veth ==1 Gbit/s, tbf== veth  10.77.1.2      if there are two
//! ```
//! A namespace lives as long as a process in it, which reads from this process and ends with it. So
//! nothing stays behind, however this process ends, and the machine's own network is unchanged.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

/// The two hosts of a benchmark.
pub struct HostPair {
    /// Host that sources run on.
    pub near: NetNamespace,
    /// Host that sinks and relays run on.
    pub far: NetNamespace,
}

/// A network namespace with the process that keeps it.
pub struct NetNamespace {
    process: Child,
    /// IP address of the host.
    pub address: &'static str,
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
        let other = self.far.process.id().to_string();
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

impl NetNamespace {
    fn new(address: &'static str) -> Result<NetNamespace, String> {
        let mut command = Command::new("unshare");
        command.args(["--net", "--", "cat"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let process = command.spawn();
        let process = process.map_err(|error| format!("cannot start `unshare`: {error}"))?;
        let mut host = NetNamespace { process, address };
        match host.is_ready() {
            true => Ok(host),
            false => Err(format!(
                "no permission for network namespaces: {}",
                host.read_stderr()
            )),
        }
    }

    /// Whether the process echoes a byte: then it runs in its own namespace.
    fn is_ready(&mut self) -> bool {
        let (stdin, stdout) = (&mut self.process.stdin, &mut self.process.stdout);
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return false;
        };
        stdin.write_all(b"\n").is_ok() && stdout.read_exact(&mut [0]).is_ok()
    }

    fn read_stderr(&mut self) -> String {
        let mut said = String::new();
        if let Some(stderr) = &mut self.process.stderr {
            // An error leaves the text as it is: there is no better reason to report.
            let _ = stderr.read_to_string(&mut said);
        }
        said.trim().to_owned()
    }

    /// The path of the namespace in /proc.
    pub fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.process.id())
    }

    /// The words before a command that run it in the namespace.
    pub fn prefix(&self) -> [String; 3] {
        [
            "nsenter".to_owned(),
            format!("--net={}", self.path()),
            "--".to_owned(),
        ]
    }

    /// A command that runs a program in the namespace.
    pub fn command(&self, program: &str) -> Command {
        let [enter, into, end] = self.prefix();
        let mut command = Command::new(enter);
        command.args([&into, &end, program]);
        command
    }

    fn run(&self, words: &[&str]) -> Result<(), String> {
        let output = self.command(words[0]).args(&words[1..]).output();
        let output = output.map_err(|error| format!("cannot start `nsenter`: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(format!("`{}` failed: {}", words.join(" "), said.trim()))
            }
        }
    }
}

impl Drop for NetNamespace {
    fn drop(&mut self) {
        // Errors are ignored: the process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
