//! An SPL program as a contender: `thalweg run` in a process of its own.
//!
//! Program and plan are files without a name that the process inherits: nothing is left behind,
//! however it ends.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

use control::Error;
use rustix::fs::{MemfdFlags, memfd_create};
use transport::IdleStrategy;

/// Seconds after which a job that hangs is told to end.
const JOB_SECONDS_MAX: &str = "120";

/// A program with its plan.
pub struct SplJob {
    program: InheritedFile,
    plan: InheritedFile,
    /// As `--host` takes them.
    hosts: Vec<String>,
    /// As `--idle` takes it.
    idle: Option<IdleStrategy>,
}

/// A file that the processes we start can read.
pub struct InheritedFile {
    file: File,
}

impl SplJob {
    /// From the texts of both.
    ///
    /// # Errors
    /// No memory for them.
    pub fn new(program: &str, plan: &str) -> Result<SplJob, Error> {
        Ok(SplJob {
            program: InheritedFile::new(program)?,
            plan: InheritedFile::new(plan)?,
            hosts: Vec::new(),
            idle: None,
        })
    }

    /// The same with threads that wait as `--idle` says.
    pub fn with_idle(mut self, idle: Option<IdleStrategy>) -> SplJob {
        self.idle = idle;
        self
    }

    /// The same on hosts that its plan names.
    pub fn with_hosts(mut self, hosts: &[String]) -> SplJob {
        self.hosts.extend_from_slice(hosts);
        self
    }

    /// Runs it to its end with these submission-time values; what it has printed.
    ///
    /// # Errors
    /// It fails.
    pub fn run(&self, thalweg: &Path, values: &[(&str, String)]) -> Result<String, Error> {
        let mut command = Command::new(thalweg);
        command.args(["run", "--kill-after", JOB_SECONDS_MAX, "--fuse"]);
        command.arg(self.plan.path());
        for host in &self.hosts {
            command.args(["--host", host]);
        }
        if let Some(idle) = &self.idle {
            command.args(["--idle", &idle.to_string()]);
        }
        command.arg(self.program.path());
        let values = values.iter();
        command.args(values.map(|(name, value)| format!("{name}={value}")));
        run_to_end(command)
    }
}

impl InheritedFile {
    /// With this text.
    ///
    /// # Errors
    /// No memory.
    pub fn new(text: &str) -> Result<InheritedFile, Error> {
        let failed = |error| Error::system("make a file in memory", error);
        // No flag: children inherit it.
        let fd = memfd_create("thalweg-bench", MemfdFlags::empty());
        let mut file = File::from(fd.map_err(|error| failed(error.into()))?);
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(InheritedFile { file })
    }

    /// Where a process that has inherited it finds it.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.file.as_raw_fd())
    }
}

/// Runs a command to its end; what it has printed.
///
/// # Errors
/// It cannot be started, or fails: then with what it says.
pub fn run_to_end(mut command: Command) -> Result<String, Error> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Error::system("start a run", error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        return Err(Error::new(format!(
            "a run failed ({status}): {}",
            said.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
