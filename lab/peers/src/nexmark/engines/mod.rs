//! All engines, one per file, with the settings that their own people recommend.

mod built_in;
mod by_hand;
mod bytewax;
mod java;
mod search_path;
mod thalweg;
#[cfg(feature = "timely")]
mod timely;

use super::engine::EngineEntry;
use super::query_task::QueryTask;
use crate::BoxError;

/// Name of Thalweg, with which the others are compared.
pub const OWN: &str = thalweg::NAME;

/// Every engine, available or not, in the order of the table.
pub fn all_engines() -> Vec<EngineEntry> {
    vec![
        EngineEntry::available(thalweg::engine()),
        EngineEntry::available(by_hand::engine()),
        timely_entry(),
        java::flink::flink(),
        java::jet::jet(),
        bytewax::bytewax(),
    ]
}

/// Runs a query of an engine that is built in, in this process.
///
/// # Errors
/// The engine is not built in, or fails.
pub fn run_query(engine: &str, task: &QueryTask) -> Result<(), BoxError> {
    match engine {
        thalweg::NAME => thalweg::run(task),
        by_hand::NAME => by_hand::run(task),
        #[cfg(feature = "timely")]
        timely::NAME => timely::run(task),
        _ => Err(format!("no engine `{engine}` is built in").into()),
    }
}

#[cfg(feature = "timely")]
fn timely_entry() -> EngineEntry {
    EngineEntry::available(timely::engine())
}
#[cfg(not(feature = "timely"))]
fn timely_entry() -> EngineEntry {
    EngineEntry::missing(
        "timely",
        "not built in: build with --features timely".to_owned(),
    )
}
