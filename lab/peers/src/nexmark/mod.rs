//! NEXMark beside its peers: the same events and queries, each engine with its own idiom.
//!
//! ```text
//!   command ──> comparison      results first, then turns: every engine once, and again
//!                   |
//!              process_run      one run: a process on its cores; time, memory, first result
//!                   |
//!               engines/        thalweg, a loop by hand, timely, Flink, ...
//! ```
//! All engines read the same files and write lines to files. The lines of each have to be those of
//! Thalweg's program before a time of it counts.

mod command;
mod comparison;
mod engine;
mod engines;
mod event_files;
mod process_run;
mod query;
mod query_task;
mod result_lines;
mod results_table;

pub use command::{NexmarkPeersArgs, run_nexmark};
pub use engine::{EngineEntry, QueryEngine};
pub use engines::{all_engines, run_query};
pub use process_run::account_process;
pub use query::{PeerQuery, QUERIES};
pub use query_task::QueryTask;
pub use result_lines::{ResultDifference, compare_results, final_lines};

/// The sub-command of this program that runs a query of an engine that is built in.
pub const QUERY: &str = "nexmark-query";

/// The sub-command of this program that runs a command and says what it took.
pub const PROCESS: &str = "nexmark-process";
