//! Options of a launch: directories, trace levels, backend, hosts, and what the caller observes.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use eval::TraceLevel;
use serde::{Deserialize, Serialize};
use transport::IdleStrategy;

use super::hosts::HostSpec;
use super::job_processes::JobProcesses;
use super::ranks::RankOptions;
use crate::profiling::ProfileCollector;

/// Options of a launch; [`LaunchOptions::default`] runs compiled code in the current folder.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Directory of relative file names in the program; it has to exist.
    pub data_dir: PathBuf,
    /// Application directory, which `getApplicationDir()` returns to the program.
    pub application_dir: PathBuf,
    /// Most detailed level of trace messages (`appTrc`) that are written to standard error.
    pub trace: TraceLevel,
    /// Most detailed level of log messages that are written to standard error.
    pub log: TraceLevel,
    /// Whether expressions and logic run as machine code or interpreted.
    pub backend: BackendKind,
    /// Writes a map of the compiled code to `/tmp/perf-PID.map`, for the perf tool.
    pub perf_map: bool,
    /// Time after which an orderly shutdown begins; `None`: the job runs until its sources end.
    pub kill_after: Option<Duration>,
    /// Called with the bytes that the job is about to write to standard output or error, so that a
    /// caller can clear its own line from the terminal.
    pub before_print: fn(&[u8]),
    /// Writes standard output after each print instead of buffering it; for terminals.
    pub unbuffered: bool,
    /// Puts the PE's number before each line of standard output, if the job has several PEs.
    pub tag_output: bool,
    /// Measures the latency of tuples between PEs.
    pub latency: bool,
    /// Lets [`crate::StreamTap`] see tuples within compiled code, too.
    pub taps: bool,
    /// Writes counters files, which [`crate::sample_jobs`] reads while the job runs.
    pub counters: bool,
    /// Collector of the job's profile; `None`: the job is not profiled.
    pub profile: Option<ProfileCollector>,
    /// Makes the command that starts a PE's process, from the PE's number and the job's name. The
    /// process has to call [`crate::serve`] and to ignore signals that ask it to end: the launcher
    /// alone decides when a PE ends.
    pub pe_command: fn(u32, &str) -> Command,
    /// Waiting strategy of threads that have no tuple to process.
    pub idle: IdleStrategy,
    /// Descriptions of the hosts that the plan names.
    pub hosts: Vec<HostSpec>,
    /// The ranks that the PEs are; `None`: the launcher starts a process for each PE.
    pub ranks: Option<RankOptions>,
    /// Registry that collects the processes of PEs, so that the caller can kill them.
    pub processes: JobProcesses,
}

/// How expressions and logic run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum BackendKind {
    /// On the reference interpreter, which defines what a program means.
    Interpreted,
    /// Compiled to machine code before the job starts.
    Compiled,
}

impl Default for LaunchOptions {
    /// Compiled code in the current folder, with the trace and log levels of `thalweg run`.
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
            taps: false,
            counters: false,
            profile: None,
            pe_command: own_binary,
            idle: IdleStrategy::default(),
            hosts: Vec::new(),
            ranks: None,
            processes: JobProcesses::default(),
        }
    }
}

/// The command that starts this binary again as a PE, even if the file has been replaced since.
fn own_binary(pe: u32, name: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("thalweg").args(["pe", &pe.to_string(), name]);
    command
}
