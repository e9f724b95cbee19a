//! Two hosts on one machine: network namespaces without names, joined by a cable of 1 Gbit/s.
//!
//! ```text
//!   near: unshare --net                    far: unshare --net
//!     10.77.0.1  veth ==1 Gbit/s, tbf== veth  10.77.0.2
//! ```
//! A namespace lives as long as a process in it, which reads from us and ends when we do: nothing
//! stays behind, however we end, and nothing of the machine's own network changes.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

/// Both.
pub struct HostPair {
    /// Where sources run.
    pub near: NetNamespace,
    /// Where sinks run.
    pub far: NetNamespace,
}

/// One of them.
pub struct NetNamespace {
    process: Child,
    /// Its address.
    pub address: &'static str,
}

/// What the ends of the cable are called in their namespaces.
const DEVICE: &str = "thalweg";

impl HostPair {
    /// Makes both and the cable.
    ///
    /// # Errors
    /// Why that cannot be done here, in a sentence.
    pub fn new() -> Result<HostPair, String> {
        let near = NetNamespace::new("10.77.0.1")?;
        let far = NetNamespace::new("10.77.0.2")?;
        let other = far.process.id().to_string();
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

    /// Whether it reads what it is sent: then it has a network of its own.
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
            // What it does not say we cannot tell.
            let _ = stderr.read_to_string(&mut said);
        }
        said.trim().to_owned()
    }

    /// Where the system has it.
    pub fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.process.id())
    }

    /// What a command begins with to run in it.
    pub fn prefix(&self) -> [String; 3] {
        [
            "nsenter".to_owned(),
            format!("--net={}", self.path()),
            "--".to_owned(),
        ]
    }

    /// A command in it.
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
        // It may have ended just before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
