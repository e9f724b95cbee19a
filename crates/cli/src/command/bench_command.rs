//! The way to `thalweg-bench`, which measures: this process replaces itself by it.
//!
//! Benchmarks are a binary of their own (docs/decisions/0009-one-laboratory.md), so this command
//! has none of their code and none of their dependencies.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::CommandFailure;

/// Name of the binary that measures.
const BENCH_COMMAND: &str = "thalweg-bench";

/// Environment variable that tells `thalweg-bench` which `thalweg` command to measure.
const THALWEG_COMMAND: &str = "THALWEG_COMMAND";

/// Replaces this process by `thalweg-bench` with the arguments `first` and `rest`.
///
/// # Errors
/// Always, if it returns: there is no such binary, or it cannot be started.
pub fn become_bench_command(first: &[&str], rest: &[OsString]) -> Result<(), CommandFailure> {
    let own = env::current_exe().ok();
    let mut command = Command::new(find_bench_command(own.clone())?);
    if let Some(own) = own {
        command.env(THALWEG_COMMAND, own);
    }
    let error = command.args(first).args(rest).exec();
    Err(CommandFailure::Program(format!(
        "cannot start `{BENCH_COMMAND}`: {error}"
    )))
}

/// The `thalweg-bench` beside this command, else the first in PATH.
fn find_bench_command(own: Option<PathBuf>) -> Result<PathBuf, CommandFailure> {
    let beside = own.and_then(|own| Some(own.parent()?.to_owned()));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(env::split_paths(&path));
    let mut files = folders.map(|folder| folder.join(BENCH_COMMAND));
    files.find(|file| file.is_file()).ok_or_else(|| {
        CommandFailure::Program(format!(
            "there is no `{BENCH_COMMAND}` beside this command or in PATH; build it with \
             `cargo build --release -p {BENCH_COMMAND}`"
        ))
    })
}
