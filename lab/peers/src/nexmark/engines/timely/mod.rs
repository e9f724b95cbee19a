//! timely dataflow: each query a dataflow that every worker has, keys exchanged between workers.
//!
//! ```text
//!   worker 0: blocks 0, 2, 4, ... ──> records ──┐ exchange ┌──> state of its keys ──> results.0
//!   worker 1: blocks 1, 3, 5, ... ──> records ──┘ by key   └──> state of its keys ──> results.1
//! ```
//! # Settings
//! A worker for each core, in one process, so records are handed over as they are, without
//! serialising. Each worker reads every other block of the file, with the reader of the loops by
//! hand, and makes records of the columns that the query needs. The timestamp of a record is the
//! watermark of its block: what is due at a window's end waits for the frontier to reach it, as
//! timely's notifications do. Where the order of the input counts (query 18), the timestamp is the
//! number of the block, and blocks are processed in their order. At most eight blocks of a worker
//! are under way, because timely's channels have no bound.

mod dataflow_run;
mod joins;
mod last_bids;
mod line_blocks;
mod open_windows;
mod records;
mod sessions;
mod single_bids;
mod windows;

use timely::communication::Config as Communication;
use timely::worker::{Config as WorkerConfig, Worker};

use super::built_in;
use crate::BoxError;
use crate::nexmark::engine::QueryEngine;
use crate::nexmark::query_task::QueryTask;
use crate::peer::locked_version;

/// Name of timely in options and in the table.
pub const NAME: &str = "timely";

/// timely as an engine.
pub fn engine() -> QueryEngine {
    QueryEngine {
        name: NAME,
        version: locked_version("timely"),
        settings: "a worker for each core, blocks of the file by turns, exchange by key",
        queries: &[0, 1, 2, 3, 5, 7, 8, 11, 18, 20],
        command: |task| built_in::command(NAME, task),
    }
}

/// Runs a query to the end of its events.
///
/// # Errors
/// A file cannot be read or written, or a line is no event.
pub fn run(task: &QueryTask) -> Result<(), BoxError> {
    let config = timely::Config {
        communication: match task.cores {
            1 => Communication::Thread,
            cores => Communication::Process(cores),
        },
        worker: WorkerConfig::default(),
    };
    let task = task.clone();
    let workers = timely::execute(config, move |worker| {
        run_worker(worker, &task).map_err(|failure| failure.to_string())
    })?;
    for end in workers.join() {
        end??;
    }
    Ok(())
}

fn run_worker(worker: &mut Worker, task: &QueryTask) -> Result<(), BoxError> {
    match task.query {
        0 => single_bids::pass_through(worker, task),
        1 => single_bids::in_euros(worker, task),
        2 => single_bids::selection(worker, task),
        3 => joins::local_items(worker, task),
        5 => windows::hot_items(worker, task),
        7 => windows::highest_bids(worker, task),
        8 => windows::new_sellers(worker, task),
        11 => sessions::sessions(worker, task),
        18 => last_bids::last_bids(worker, task),
        20 => joins::expanded_bids(worker, task),
        other => Err(format!("query {other} is not written for timely").into()),
    }
}
