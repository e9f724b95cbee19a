//! Engines in Java: their classes are built by Maven when the first of them is asked to run.
//!
//! ```text
//!   lab/peers/java  ──mvn──>  a folder beside this program: classes, jars  ──java──>  a run
//! ```

mod build;
pub mod flink;
pub mod jet;

use std::process::Command;

use crate::BoxError;
use crate::nexmark::engine::{EngineEntry, QueryEngine};
use crate::nexmark::query::PeerQuery;
use crate::nexmark::query_task::QueryTask;

const POM: &str = include_str!("../../../../java/pom.xml");

/// Most memory of the heap, and the collector that costs least where pauses do not count.
const HEAP: [&str; 2] = ["-Xmx4g", "-XX:+UseParallelGC"];

/// An engine, or why Java cannot run here.
fn entry(engine: QueryEngine) -> EngineEntry {
    match build::missing_tool() {
        None => EngineEntry::available(engine),
        Some(tool) => EngineEntry::missing(
            engine.name,
            format!("there is no `{tool}`: install a JDK, 17 or newer, and Maven"),
        ),
    }
}

/// The command that runs a query with a main class: QUERY THREADS INPUT RESULTS.
fn command(task: &QueryTask, options: &[&str], main_class: &str) -> Result<Command, BoxError> {
    let folder = build::java_folder()?;
    let query = PeerQuery::of_number(task.query).ok_or("peers do not run this query")?;
    let mut class_path = folder.join("classes").into_os_string();
    class_path.push(":");
    class_path.push(folder.join("jars/*"));
    let mut command = Command::new("java");
    command.args(HEAP).args(options).arg("-cp").arg(class_path);
    command.args([main_class, &task.query.to_string(), &task.cores.to_string()]);
    command
        .arg(task.events.join(query.input()))
        .arg(&task.results);
    Ok(command)
}

/// The value of a property in `pom.xml`.
fn version(property: &str) -> String {
    let start = format!("<{property}>");
    let rest = POM.split_once(&start).map_or("", |(_, rest)| rest);
    let version = rest.split('<').next().unwrap_or_default();
    version.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_pom() {
        assert!(version("flink.version").starts_with("2."));
        assert!(version("hazelcast.version").starts_with("5."));
        assert_eq!(version("none"), "");
    }
}
