//! Flink's DataStream API, in a cluster inside one process.
//!
//! # Settings
//! Parallelism is the number of cores. A text file has one reader, to which the parser of lines
//! is chained; queries on single bids are one chain. Objects are reused between chained operators,
//! state is on the heap, and there are no checkpoints. Parsers read the columns that a query needs,
//! and the sink writes large pieces. The packages of Java that Flink looks into are opened, as its
//! own scripts do.

use super::{command, entry, version};
use crate::nexmark::engine::{EngineEntry, QueryEngine};

/// Name of Flink in options and in the table.
pub const NAME: &str = "flink";

const OPTIONS: [&str; 2] = [
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
];

/// Flink, or why it cannot run here.
pub fn flink() -> EngineEntry {
    entry(QueryEngine {
        name: NAME,
        version: version("flink.version"),
        settings: "DataStream API, parallelism of the cores, object reuse, heap state, no checkpoints",
        queries: &[0, 1, 2, 3, 5, 7, 8, 11, 18, 20],
        command: |task| command(task, &OPTIONS, "thalweg.peers.flink.FlinkQuery"),
    })
}
