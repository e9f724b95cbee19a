//! An engine as data: name, version, settings, queries, and the command of a run.

use std::process::Command;

use super::query_task::QueryTask;
use crate::BoxError;

/// An engine that can run queries here.
#[derive(Clone, Debug)]
pub struct QueryEngine {
    /// Name of the engine in options and in the table.
    pub name: &'static str,
    /// Version of the engine.
    pub version: String,
    /// Settings in one sentence; the doc of the engine's file says more.
    pub settings: &'static str,
    /// Numbers of the queries that the engine's idiom can state.
    pub queries: &'static [u32],
    /// Function that gives the command of a run. Building what it needs is not part of the run.
    pub command: fn(&QueryTask) -> Result<Command, BoxError>,
}

/// A line of the list: an engine, or the reason why it cannot run.
#[derive(Clone, Debug)]
pub struct EngineEntry {
    /// Name of the engine in the list.
    pub name: &'static str,
    /// The engine, or why it cannot run here and what would help.
    pub engine: Result<QueryEngine, String>,
}

impl EngineEntry {
    /// An engine that can run.
    pub fn available(engine: QueryEngine) -> EngineEntry {
        EngineEntry {
            name: engine.name,
            engine: Ok(engine),
        }
    }

    /// An engine that cannot run here.
    pub fn missing(name: &'static str, why: String) -> EngineEntry {
        EngineEntry {
            name,
            engine: Err(why),
        }
    }
}
