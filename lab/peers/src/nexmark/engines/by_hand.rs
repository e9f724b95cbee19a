//! The loops by hand of `lab/nexmark`: one thread, no engine.

use std::fs::File;

use nexmark::loops::{self, LoopRun, LoopSource, ResultLines};

use super::built_in;
use crate::BoxError;
use crate::nexmark::engine::QueryEngine;
use crate::nexmark::query_task::QueryTask;

/// Name of the loops in options and in the table.
pub const NAME: &str = "by-hand";

/// The loops as an engine.
pub fn engine() -> QueryEngine {
    QueryEngine {
        name: NAME,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: "a loop in Rust for each query, one thread, no engine",
        queries: &[0, 1, 2, 3, 5, 7, 8, 11, 18, 20],
        command: |task| built_in::command(NAME, task),
    }
}

/// Runs a query to the end of its events.
///
/// # Errors
/// A file cannot be read or written.
pub fn run(task: &QueryTask) -> Result<(), BoxError> {
    let run = LoopRun {
        query: task.query,
        folder: task.events.clone(),
        log_prefix: task.results.to_string_lossy().into_owned(),
        source: LoopSource::Csv,
    };
    let out = ResultLines::new(File::create(&task.results)?);
    loops::run(&run, out)?;
    Ok(())
}
