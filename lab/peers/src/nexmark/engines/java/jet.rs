//! Hazelcast Jet's pipeline API, in one member.
//!
//! # Settings
//! Each core has a cooperative thread; there is no processing guarantee, and the member looks for
//! no other. A file has one reader; parsers and aggregations are parallel, as Jet chooses. The
//! order of the input is kept where it counts (query 18). The packages of Java are opened that
//! Hazelcast asks for.

use super::{command, entry, version};
use crate::nexmark::engine::{EngineEntry, QueryEngine};

/// Name of Jet in options and in the table.
pub const NAME: &str = "jet";

const OPTIONS: [&str; 6] = [
    "--add-modules=java.se",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.management/sun.management=ALL-UNNAMED",
    "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
];

/// Jet, or why it cannot run here.
pub fn jet() -> EngineEntry {
    entry(QueryEngine {
        name: NAME,
        version: version("hazelcast.version"),
        settings: "pipeline API, a cooperative thread for each core, no processing guarantee",
        queries: &[0, 1, 2, 3, 5, 7, 8, 11, 18, 20],
        command: |task| command(task, &OPTIONS, "thalweg.peers.jet.JetQuery"),
    })
}
