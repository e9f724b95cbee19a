//! How a program is run: the options that a launch takes.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use eval::TraceLevel;
use serde::{Deserialize, Serialize};
use transport::IdleStrategy;

use super::hosts::HostSpec;
use super::job_processes::JobProcesses;

/// How a program is run.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Where relative file names begin.
    pub data_dir: PathBuf,
    /// Where the application lies.
    pub application_dir: PathBuf,
    /// What is traced.
    pub trace: TraceLevel,
    /// What is logged.
    pub log: TraceLevel,
    /// What makes expressions run.
    pub backend: BackendKind,
    /// Write a map of the compiled code for the perf tool.
    pub perf_map: bool,
    /// Shut down after so long.
    pub kill_after: Option<Duration>,
    /// Called with what the job is about to write to standard output or error: whoever draws on the
    /// terminal makes way.
    pub before_print: fn(&[u8]),
    /// Write what is printed at once: standard output is a terminal, and somebody looks at it.
    pub unbuffered: bool,
    /// Put the PE's name before each line of standard output, if there are several PEs.
    pub tag_output: bool,
    /// Measure how long tuples are under way between PEs.
    pub latency: bool,
    /// The job's counters are to be seen while it runs: [`crate::samples`].
    pub counters: bool,
    /// What starts the process of a PE: its number and the job's name. The process has to call
    /// [`crate::serve`], and to ignore signals that ask it to end: those are the launcher's
    /// business.
    pub pe_command: fn(u32, &str) -> Command,
    /// What threads without work do.
    pub idle: IdleStrategy,
    /// The hosts that the plan names.
    pub hosts: Vec<HostSpec>,
    /// Where the processes of PEs are noted, so that the caller can kill them.
    pub processes: JobProcesses,
}

/// What makes expressions run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum BackendKind {
    /// The reference interpreter.
    Interpreted,
    /// Machine code.
    Compiled,
}

impl Default for LaunchOptions {
    /// Compiled code in the current folder, with the levels of the command.
    fn default() -> LaunchOptions {
        LaunchOptions {
            data_dir: PathBuf::from("."),
            application_dir: PathBuf::from("."),
            trace: TraceLevel::Error,
            log: TraceLevel::Warn,
            backend: BackendKind::Compiled,
            perf_map: false,
            kill_after: None,
            before_print: |_| {},
            unbuffered: false,
            tag_output: false,
            latency: false,
            counters: false,
            pe_command: own_binary,
            idle: IdleStrategy::default(),
            hosts: Vec::new(),
            processes: JobProcesses::default(),
        }
    }
}

/// This binary again, as a PE. Whatever was installed in its place in the meantime.
fn own_binary(pe: u32, name: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("thalweg").args(["pe", &pe.to_string(), name]);
    command
}
