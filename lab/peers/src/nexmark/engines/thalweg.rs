//! Thalweg itself: the SPL programs of `examples/nexmark`, as `thalweg run` runs them.
//!
//! # Settings
//! None: one process, compiled code, and as many threads as the program has sources, which is one.
//! The rest of the two cores is the system's.

use std::fs;

use engine::{CompileRequest, LaunchOptions};

use super::built_in;
use crate::BoxError;
use crate::nexmark::engine::QueryEngine;
use crate::nexmark::query_task::QueryTask;

/// Name of Thalweg in options and in the table.
pub const NAME: &str = "thalweg";

/// Thalweg as an engine.
pub fn engine() -> QueryEngine {
    QueryEngine {
        name: NAME,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: "the program in SPL with default options, one thread",
        queries: &[0, 1, 2, 3, 5, 7, 8, 11, 18, 20],
        command: |task| {
            write_programs(task)?;
            built_in::command(NAME, task)
        },
    }
}

/// Folder of the programs beside that of the events, named as their namespace.
const PROGRAMS_FOLDER: &str = "examples/nexmark";

fn write_programs(task: &QueryTask) -> Result<(), BoxError> {
    let folder = task.events.with_file_name(PROGRAMS_FOLDER);
    fs::create_dir_all(&folder)?;
    for (name, text) in suite::NEXMARK_PROGRAMS {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Compiles the program of a query and runs it to the end of its events.
///
/// # Errors
/// The job fails.
pub fn run(task: &QueryTask) -> Result<(), BoxError> {
    let folder = task.events.with_file_name(PROGRAMS_FOLDER);
    let results = task.results.to_string_lossy().into_owned();
    let request = CompileRequest {
        file: folder.join(format!("Q{}.spl", task.query)),
        submission_values: Some(vec![("output".to_owned(), results)]),
        ..CompileRequest::default()
    };
    let compilation = engine::compile(&request)?;
    let Some(program) = &compilation.program else {
        return Err(compilation.findings.to_text(false).into());
    };
    let plan = engine::plan(program, &engine::PlanOptions::default())?;
    let launch = LaunchOptions {
        data_dir: task.events.clone(),
        ..LaunchOptions::default()
    };
    engine::run(&compilation, program, &plan, &launch)?.join()?;
    Ok(())
}
