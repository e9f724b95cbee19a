//! A network namespace without a name: a host of its own on this machine.
//!
//! A namespace lives as long as a process in it, which reads from this process and ends with it. So
//! nothing stays behind, however this process ends, and the machine's own network is unchanged.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A network namespace with the process that keeps it.
pub struct NetNamespace {
    process: Child,
    /// IP address of the host; the first one, if it has several.
    pub address: &'static str,
}

impl NetNamespace {
    /// Creates a namespace without devices, for a host with this address.
    ///
    /// # Errors
    /// A sentence that says why that is impossible here.
    pub fn new(address: &'static str) -> Result<NetNamespace, String> {
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

    /// Number of the process that keeps the namespace.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The path of the namespace in /proc.
    pub fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.process.id())
    }

    /// Moves the calling thread into the namespace: sockets that it opens from now on, and threads
    /// that it starts, are of this host.
    ///
    /// # Errors
    /// A sentence that says why that is impossible here.
    pub fn enter(&self) -> Result<(), String> {
        let failed = |error| format!("cannot enter a network namespace: {error}");
        let namespace = File::open(self.path()).map_err(failed)?;
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(namespace.as_fd(), kind).map_err(|error| failed(error.into()))
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

    /// Runs a command in the namespace to its end.
    ///
    /// # Errors
    /// A sentence with the command and what it has printed.
    pub fn run(&self, words: &[&str]) -> Result<(), String> {
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
