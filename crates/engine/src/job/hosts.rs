//! The hosts that a plan names: how to start a process on a host, and where its senders listen.
//!
//! The launcher starts every PE as its child. On another host, a command that starts before the
//! PE's own runs it with the same standard input: `nsenter` for a network namespace of this
//! machine. PEs of different hosts exchange tuples through the address of the sender's host.

use std::ffi::OsString;
use std::net::IpAddr;
use std::process::Command;

use graph::Plan;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A host as the launch of a job describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct HostSpec {
    /// Name of the host in plans.
    pub name: String,
    /// Address at which other hosts reach the processes on this host.
    pub address: IpAddr,
    /// Words that start a command on this host; empty if commands run there without.
    pub prefix: Vec<String>,
}

/// Checks that every host of a plan is described once, and that either all PEs have a host or none.
///
/// # Errors
/// [`Error::Plan`] with a sentence that says what is missing.
pub fn check_hosts(plan: &Plan, hosts: &[HostSpec]) -> Result<(), Error> {
    let missing = |message: String| Err(Error::Plan(message));
    for (at, host) in hosts.iter().enumerate() {
        if hosts[..at].iter().any(|other| other.name == host.name) {
            return missing(format!("host {} is described twice by --host", host.name));
        }
    }
    for (number, pe) in plan.pes.iter().enumerate() {
        match &pe.host {
            Some(name) if find_host(hosts, name).is_none() => {
                return missing(format!(
                    "pe {number} is to run on host {name}, which is not described: --host \
                     {name}=ADDRESS says where it is"
                ));
            }
            None if plan.pes.iter().any(|other| other.host.is_some()) => {
                return missing(format!(
                    "pe {number} has no host, but others have: with `host NAME` it has an \
                     address at which they reach it"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Finds the description of a host by name.
pub fn find_host<'a>(hosts: &'a [HostSpec], name: &str) -> Option<&'a HostSpec> {
    hosts.iter().find(|host| host.name == name)
}

impl HostSpec {
    /// Makes the command that runs `command` on this host.
    pub(crate) fn wrap_command(&self, command: Command) -> Command {
        let Some((first, rest)) = self.prefix.split_first() else {
            return command;
        };
        let mut wrapped = Command::new(first);
        wrapped.args(rest).arg(program_path(&command));
        wrapped.args(command.get_args());
        wrapped
    }
}

/// The program of a command by a path that means the same file to another program: `/proc/self/exe`
/// is resolved.
fn program_path(command: &Command) -> OsString {
    let program = command.get_program();
    let found = std::fs::read_link(program).map(|path| path.into_os_string());
    found.unwrap_or_else(|_| program.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, prefix: &[&str]) -> HostSpec {
        HostSpec {
            name: name.to_owned(),
            address: IpAddr::from([10, 0, 0, 1]),
            prefix: prefix.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    fn plan(hosts: &[Option<&str>]) -> Plan {
        let pe = |name: &Option<&str>| graph::PePlan {
            host: name.map(Into::into),
            ..graph::PePlan::default()
        };
        Plan {
            pes: hosts.iter().map(pe).collect(),
            crossings: Vec::new(),
        }
    }

    #[test]
    fn a_plan_names_all_its_hosts() {
        let known = [host("near", &[]), host("far", &[])];
        assert!(check_hosts(&plan(&[None, None]), &[]).is_ok());
        assert!(check_hosts(&plan(&[Some("near"), Some("far")]), &known).is_ok());
        let message =
            |hosts: &[Option<&str>]| check_hosts(&plan(hosts), &known).unwrap_err().to_string();
        assert!(message(&[Some("near"), Some("moon")]).contains("--host moon=ADDRESS"));
        assert!(message(&[None, Some("far")]).contains("pe 0 has no host"));
    }

    #[test]
    fn a_prefix_stands_before_the_command() {
        let mut command = Command::new("thalweg");
        command.args(["pe", "1"]);
        let placed = host("far", &["enter", "--", "x"]).wrap_command(command);
        assert_eq!(placed.get_program(), "enter");
        let args: Vec<_> = placed.get_args().collect();
        assert_eq!(args, ["--", "x", "thalweg", "pe", "1"]);
        let here = host("near", &[]).wrap_command(Command::new("thalweg"));
        assert_eq!(here.get_program(), "thalweg");
    }
}
