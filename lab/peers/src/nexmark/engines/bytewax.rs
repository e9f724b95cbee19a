//! Bytewax, an engine in Rust whose programs are in Python.
//!
//! # Settings
//! One worker: Python's lock lets only one thread of a process run Python, so a second one gains
//! nothing. Items are read and written in batches of a thousand. Windows count items in
//! the order of their arrival where their order makes no difference, and clocks are moved by events
//! alone, as the input is a replay. Each key has a clock of its own, so auctions that are compared
//! with each other (query 5) share a key.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::search_path::is_installed;
use crate::BoxError;
use crate::nexmark::engine::{EngineEntry, QueryEngine};
use crate::nexmark::query::PeerQuery;
use crate::nexmark::query_task::QueryTask;

/// Name of Bytewax in options and in the table.
pub const NAME: &str = "bytewax";

/// Folder of the program and of the versions that it needs.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

const REQUIREMENTS: &str = include_str!("../../../python/requirements.txt");

/// Folder beside this program that gets a virtual environment.
const ENVIRONMENT: &str = "peers-python";

/// Bytewax, or why it cannot run here.
pub fn bytewax() -> EngineEntry {
    if !is_installed("python3") {
        let why = "there is no `python3`: install Python, 3.8 to 3.12, with pip and venv";
        return EngineEntry::missing(NAME, why.to_owned());
    }
    EngineEntry::available(QueryEngine {
        name: NAME,
        version: version().to_owned(),
        settings: "one worker, batches of 1000, clocks moved by events alone",
        queries: &[0, 1, 2, 3, 5, 7, 8, 11, 18, 20],
        command,
    })
}

fn command(task: &QueryTask) -> Result<Command, BoxError> {
    let query = PeerQuery::of_number(task.query).ok_or("peers do not run this query")?;
    let mut command = Command::new(environment()?.join("bin/python"));
    command.arg(Path::new(SOURCES).join("bytewax_query.py"));
    command.args([&task.query.to_string(), "1"]);
    command
        .arg(task.events.join(query.input()))
        .arg(&task.results);
    Ok(command)
}

fn version() -> &'static str {
    let line = REQUIREMENTS
        .lines()
        .find_map(|line| line.strip_prefix("bytewax=="));
    line.unwrap_or("unknown")
}

/// The virtual environment with Bytewax, made once in a process.
fn environment() -> Result<&'static Path, String> {
    static MADE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    MADE.get_or_init(make_environment)
        .as_deref()
        .map_err(Clone::clone)
}

fn make_environment() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name(ENVIRONMENT);
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&folder);
    run_to_end("python3", make)?;
    let mut install = Command::new(folder.join("bin/pip"));
    install.args(["install", "--quiet", "--requirement"]);
    install.arg(Path::new(SOURCES).join("requirements.txt"));
    run_to_end("pip", install)?;
    Ok(folder)
}

fn run_to_end(name: &str, mut command: Command) -> Result<(), String> {
    let output = command.output();
    let output = output.map_err(|error| format!("`{name}` cannot be started ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.trim().lines().last().unwrap_or("it says nothing");
    Err(format!("`{name}` fails: {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_requirements() {
        assert!(version().starts_with("0."), "{}", version());
    }
}
