//! Threads and further processes of a control.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use control::Error;

/// The command that plays a role of a control.
pub fn role_command(binary: &Path, role: &str, args: &[String]) -> Command {
    let mut command = Command::new(binary);
    command.args(["control", role]).args(args);
    command
}

/// The result of a joined thread of a control; a panic becomes an error.
pub fn join_result(outcome: thread::Result<Result<(), Error>>) -> Result<(), Error> {
    outcome.unwrap_or_else(|_| Err(Error::new("a thread of the control panicked")))
}

/// Waits until all processes have ended, and fails with the first that failed.
pub fn wait_processes(receivers: Vec<Child>) -> Result<(), Error> {
    receivers.into_iter().try_for_each(wait_process)
}

/// Starts another process of this control, in the network namespace at `network` if it is given.
pub fn start_process(
    role: &str,
    args: &[String],
    network: Option<&str>,
    stdin: Option<&OwnedFd>,
) -> Result<Child, Error> {
    let failed = |error| Error::system("start a process of a control", error);
    let binary = std::env::current_exe().map_err(failed)?;
    let stdin = stdin.map(OwnedFd::try_clone).transpose().map_err(failed)?;
    let mut command = role_command(&binary, role, args);
    if let Some(network) = network {
        let inner = command;
        command = Command::new("nsenter");
        command
            .arg(format!("--net={network}"))
            .arg("--")
            .arg(&binary);
        command.args(inner.get_args());
    }
    command.stdin(stdin.map_or_else(Stdio::null, Stdio::from));
    command.spawn().map_err(failed)
}

/// Waits until the process has ended; an error if it failed.
pub fn wait_process(mut process: Child) -> Result<(), Error> {
    let status = process.wait();
    let status = status.map_err(|error| Error::system("wait for a control", error))?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::new(format!(
            "a process of a control failed ({status})"
        ))),
    }
}
