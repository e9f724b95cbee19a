//! An SPL program as a contender: `thalweg run` in a process of its own.
//!
//! Program and plan are files without a name, which the process inherits. So nothing is left
//! behind, however the job ends.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

use control::Error;
use rustix::fs::{MemfdFlags, memfd_create};
use transport::IdleStrategy;

/// Seconds after which a hanging job is told to end.
const JOB_SECONDS_MAX: &str = "120";

/// A program with its plan and the options of its runs.
pub struct SplJob {
    program: InheritedFile,
    plan: InheritedFile,
    /// Values of `--host`, one per host of the plan.
    hosts: Vec<String>,
    /// Values of `--media-path`, each of which may name several folders.
    media_path: Vec<String>,
    /// Value of `--idle`, if it is given.
    idle: Option<IdleStrategy>,
}

/// A file without a name that child processes can read.
pub struct InheritedFile {
    file: File,
}

impl SplJob {
    /// A job of the texts of a program and of its plan.
    ///
    /// # Errors
    /// The system has no memory for the texts.
    pub fn new(program: &str, plan: &str) -> Result<SplJob, Error> {
        Ok(SplJob {
            program: InheritedFile::new(program)?,
            plan: InheritedFile::new(plan)?,
            hosts: Vec::new(),
            media_path: Vec::new(),
            idle: None,
        })
    }

    /// Sets how threads wait, as `--idle` says.
    pub fn with_idle(mut self, idle: Option<IdleStrategy>) -> SplJob {
        self.idle = idle;
        self
    }

    /// Adds folders with libraries that are media.
    pub fn with_media_path(mut self, folders: &[String]) -> SplJob {
        self.media_path.extend_from_slice(folders);
        self
    }

    /// Adds the hosts that the plan names, each as a value of `--host`.
    pub fn with_hosts(mut self, hosts: &[String]) -> SplJob {
        self.hosts.extend_from_slice(hosts);
        self
    }

    /// Runs the program to its end with these submission-time values; its standard output.
    ///
    /// # Errors
    /// The process cannot be started, or fails.
    pub fn run(&self, thalweg: &Path, values: &[(&str, String)]) -> Result<String, Error> {
        let mut command = Command::new(thalweg);
        command.args(["run", "--kill-after", JOB_SECONDS_MAX, "--fuse"]);
        command.arg(self.plan.path());
        for folders in &self.media_path {
            command.args(["--media-path", folders]);
        }
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
    /// A file with this text.
    ///
    /// # Errors
    /// The system has no memory for the text.
    pub fn new(text: &str) -> Result<InheritedFile, Error> {
        let failed = |error| Error::system("make a file in memory", error);
        // No flag: children inherit it.
        let fd = memfd_create("thalweg-bench", MemfdFlags::empty());
        let mut file = File::from(fd.map_err(|error| failed(error.into()))?);
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(InheritedFile { file })
    }

    /// The path by which a child process finds the file.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.file.as_raw_fd())
    }
}

/// Runs a command to its end; its standard output.
///
/// # Errors
/// The command cannot be started, or it fails; the error then has its standard error.
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
