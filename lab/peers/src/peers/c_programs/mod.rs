//! Peers whose turns are programs in C, which `build.rs` has compiled if their headers are
//! installed.
//!
//! A program does a whole turn, both processes of it, and prints the lines of
//! [`crate::turn_output`]; `c/peer_turn.h` has the loops' parts.

#[cfg(feature = "openmpi")]
pub mod openmpi;
#[cfg(feature = "ucx")]
pub mod ucx;

use std::process::{Command, Stdio};

use crate::{BoxError, PeerTask, cores};

/// The program that was built, or why it was not.
type BuiltProgram = Result<&'static str, &'static str>;

/// The arguments of a turn, for each program in C.
fn turn_args(task: &PeerTask) -> Vec<String> {
    let (source_core, sink_core) = cores::pair();
    vec![
        task.question.to_string(),
        task.bytes.to_string(),
        task.messages.to_string(),
        source_core.to_string(),
        sink_core.to_string(),
    ]
}

/// Runs a command to its end; its standard output.
fn output_of(mut command: Command) -> Result<String, BoxError> {
    let output = command.stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("it failed ({}): {}", output.status, said.trim()).into())
        }
    }
}

/// The version that a program prints, up to `end`.
fn version_of(program: BuiltProgram, end: char) -> String {
    let mut command = Command::new(program.unwrap_or_default());
    command.arg("version");
    let printed = output_of(command).unwrap_or_default();
    let version = printed.split(['\n', end]).next().unwrap_or_default();
    let number = version.rsplit([' ', 'v']).next().unwrap_or_default();
    match number {
        "" => "unknown".to_owned(),
        _ => number.to_owned(),
    }
}

/// The program of a name that `build.rs` has built, or the reason that it gives.
const fn built(path: &'static str, missing: &'static str) -> BuiltProgram {
    match missing.is_empty() {
        true => Ok(path),
        false => Err(missing),
    }
}
