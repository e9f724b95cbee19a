//! The command of an engine that is built into this program.

use std::process::Command;

use crate::BoxError;
use crate::nexmark::QUERY;
use crate::nexmark::query_task::QueryTask;

/// The command that runs a query of a built-in engine in a process of its own.
///
/// # Errors
/// The system does not know this program's file.
pub fn command(engine: &str, task: &QueryTask) -> Result<Command, BoxError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([QUERY, engine]).args(task.to_args());
    Ok(command)
}
