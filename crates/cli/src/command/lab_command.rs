//! The way to a binary of the laboratory, which measures or tests: this process replaces itself by
//! it.
//!
//! Benchmarks and the conformance suite are binaries of their own
//! (docs/decisions/0009-one-laboratory.md), so this command has none of their code and none of
//! their dependencies.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::CommandFailure;

/// Environment variable that tells the binary which `thalweg` command has called it.
const THALWEG_COMMAND: &str = "THALWEG_COMMAND";

/// Replaces this process by `binary` with the arguments `first` and `rest`. The binary's package
/// has its name.
///
/// # Errors
/// Always, if it returns: there is no such binary, or it cannot be started.
pub fn become_lab_command(
    binary: &str,
    first: &[&str],
    rest: &[impl AsRef<OsStr>],
) -> Result<(), CommandFailure> {
    let own = env::current_exe().ok();
    let mut command = Command::new(find_command(binary, own.clone())?);
    if let Some(own) = own {
        command.env(THALWEG_COMMAND, own);
    }
    let error = command.args(first).args(rest).exec();
    Err(CommandFailure::Program(format!(
        "cannot start `{binary}`: {error}"
    )))
}

/// The binary beside this command, else the first in PATH.
fn find_command(binary: &str, own: Option<PathBuf>) -> Result<PathBuf, CommandFailure> {
    let beside = own.and_then(|own| Some(own.parent()?.to_owned()));
    let path: OsString = env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(env::split_paths(&path));
    let mut files = folders.map(|folder| folder.join(binary));
    files.find(|file| file.is_file()).ok_or_else(|| {
        CommandFailure::Program(format!(
            "there is no `{binary}` beside this command or in PATH; build it with `cargo build \
             --release -p {binary}`"
        ))
    })
}
