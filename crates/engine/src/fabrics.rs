//! The fabrics that join the hosts of a job, asked of libfabric in a process on each host.
//!
//! ```text
//!   planner ──near, far?──> JobFabrics ──starts on both──> thalweg medium fabrics
//!                                      <──lines───────────   PROVIDER FABRIC DEVICE
//! ```
//! A host is asked when the first stream needs a medium to it, and once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use planner::{HostFabrics, SharedFabric};
use transport::media::rdma;

use crate::job::{HostSpec, find_host};
use crate::sources::bounded;

/// The fabrics that join the hosts which a plan names.
pub struct JobFabrics<'a> {
    hosts: &'a [HostSpec],
    /// Makes the command that prints the fabrics of the host on which it runs.
    list_command: fn() -> Command,
    /// By host: its ports, or why they are not known.
    known: RefCell<HashMap<String, Result<Vec<Port>, String>>>,
}

/// A port of a host: provider and fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Port {
    provider: String,
    fabric: String,
}

impl<'a> JobFabrics<'a> {
    /// The fabrics of these hosts. The command runs on each host that is asked, and prints what
    /// [`fabric_lines`] returns there.
    pub fn new(hosts: &'a [HostSpec], list_command: fn() -> Command) -> JobFabrics<'a> {
        JobFabrics {
            hosts,
            list_command,
            known: RefCell::default(),
        }
    }

    fn ports(&self, host: &str) -> Result<Vec<Port>, String> {
        let known = self.known.borrow().get(host).cloned();
        known.unwrap_or_else(|| {
            let asked = self.ask(host);
            self.known
                .borrow_mut()
                .insert(host.to_owned(), asked.clone());
            asked
        })
    }

    /// Runs the command on a host, and reads its lines.
    fn ask(&self, host: &str) -> Result<Vec<Port>, String> {
        let Some(spec) = find_host(self.hosts, host) else {
            // The launch says what is missing.
            return Err(String::new());
        };
        let mut command = spec.wrap_command((self.list_command)());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn();
        let no_answer = |_| format!("{host} does not say on which fabrics it is");
        let mut child = child.map_err(no_answer)?;
        let lines = child.stdout.as_ref().map(|stdout| {
            let path = format!("/proc/self/fd/{}", stdout.as_raw_fd());
            bounded::read_text(&PathBuf::from(path))
        });
        if !matches!(lines, Some(Ok(_))) {
            // It has had its time. An error says that it has ended.
            let _ = child.kill();
        }
        let status = child.wait().map_err(no_answer)?;
        match lines {
            Some(Ok(lines)) if status.success() => Ok(parse_ports(&lines)),
            _ => Err(format!("no libfabric on {host}")),
        }
    }
}

impl HostFabrics for JobFabrics<'_> {
    fn shared_fabric(&self, near: &str, far: &str) -> Result<SharedFabric, String> {
        shared(&self.ports(near)?, &self.ports(far)?)
            .ok_or_else(|| format!("no RDMA fabric joins {near} and {far}"))
    }
}

impl fmt::Debug for JobFabrics<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobFabrics")
            .field("known", &self.known)
            .finish_non_exhaustive()
    }
}

/// The ports of this host on fabrics that `rdma` can use: a line `PROVIDER FABRIC DEVICE` each.
///
/// # Errors
/// A sentence: libfabric is not installed, or it fails.
pub fn fabric_lines() -> Result<String, String> {
    let ports = rdma::adapter_ports().map_err(|error| error.to_string())?;
    let lines = ports
        .iter()
        .map(|port| format!("{} {} {}\n", port.provider, port.fabric, port.device));
    Ok(lines.collect())
}

fn parse_ports(lines: &str) -> Vec<Port> {
    let ports = lines.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some(Port {
            provider: words.next().filter(|word| !word.is_empty())?.to_owned(),
            fabric: words.next()?.to_owned(),
        })
    });
    ports.collect()
}

/// The first port of a host whose fabric the other host has a port of the same provider on.
fn shared(near: &[Port], far: &[Port]) -> Option<SharedFabric> {
    let port = near.iter().find(|port| far.contains(port))?;
    Some(SharedFabric {
        name: format!("{} {}", port.provider, port.fabric),
        medium: "rdma".to_owned(),
        settings: format!("provider={}", port.provider),
    })
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn hosts_share_a_fabric_of_one_provider() {
        let near = parse_ports("verbs IB-7 mlx5_0\nefa EFA rdmap0\n\n");
        assert_eq!(near.len(), 2);
        let far = parse_ports("verbs IB-8 mlx5_0\nefa EFA rdmap9\n");
        let found = shared(&near, &far).expect("a fabric");
        assert_eq!(found.name, "efa EFA");
        assert_eq!(found.settings, "provider=efa");
        assert_eq!(shared(&near, &parse_ports("efa IB-7 x\n")), None);
        assert_eq!(shared(&near, &[]), None);
    }

    fn host(name: &str, prefix: &[&str]) -> HostSpec {
        HostSpec {
            name: name.to_owned(),
            address: IpAddr::from([127, 0, 0, 1]),
            prefix: prefix.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    /// A command that prints a fabric, behind a prefix of its host that may not start.
    #[test]
    fn hosts_are_asked_by_their_commands() {
        let list = || {
            let mut command = Command::new("echo");
            command.arg("verbs IB-7 mlx5_0");
            command
        };
        let hosts = [
            host("near", &[]),
            host("far", &["env"]),
            host("deaf", &["/nonexistent/enter"]),
            host("bare", &["false"]),
        ];
        let fabrics = JobFabrics::new(&hosts, list);
        let found = fabrics.shared_fabric("near", "far").expect("a fabric");
        assert_eq!(
            (&*found.medium, &*found.settings),
            ("rdma", "provider=verbs")
        );
        let why = |far| fabrics.shared_fabric("near", far).expect_err("no fabric");
        assert_eq!(why("deaf"), "deaf does not say on which fabrics it is");
        assert_eq!(why("bare"), "no libfabric on bare");
        assert_eq!(why("moon"), "");
    }
}
