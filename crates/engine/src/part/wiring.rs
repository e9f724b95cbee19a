//! The operators of a program, or of one PE's part of it, wired but not started.

use std::sync::LazyLock;

use graph::Program;
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::crossing::{CrossingEnds, ENTRIES};
use runtime::{FailureReport, OperatorCounts, OperatorEntry, Pe, PeOptions, TraceLevels};

use super::codegen;
use crate::condition;
use crate::error::Error;
use crate::job::{BackendKind, LaunchOptions, NotifyingWriter};
use crate::sources::is_folder;

/// What a part of a program has that a whole one has not.
#[derive(Default)]
pub struct PartOptions {
    /// The ends of streams that cross its border.
    pub crossing_ends: CrossingEnds,
    /// The cores that its threads may run on; empty: any.
    pub cores: Vec<u32>,
    /// Operators whose threads have a core of their own, and the core.
    pub pins: Vec<(u32, u32)>,
    /// What further properties it has.
    pub properties: Vec<(String, String)>,
}

/// Makes the operators of a program, or of a part of one.
pub fn wire(
    program: &Program,
    launch: &LaunchOptions,
    border: PartOptions,
) -> Result<Result<Pe, FailureReport>, Error> {
    let data_directory = std::path::absolute(&launch.data_dir).unwrap_or(launch.data_dir.clone());
    if !is_folder(&data_directory)? {
        return Err(Error::DataDirectory(launch.data_dir.clone()));
    }
    let mut properties = properties(program, launch);
    properties.extend(border.properties);
    let options = PeOptions {
        data_directory,
        levels: TraceLevels {
            trace: launch.trace,
            log: launch.log,
        },
        properties,
        stdout: Box::new(NotifyingWriter(std::io::stdout(), launch.before_print)),
        unbuffered: launch.unbuffered,
        stderr: Box::new(NotifyingWriter(std::io::stderr(), launch.before_print)),
        crossing_ends: border.crossing_ends,
        cores: border.cores,
        pins: border.pins,
        idle_strategy: launch.idle,
        conditions: Some(condition::condition_holds),
    };
    let registry = registry();
    Ok(match launch.backend {
        BackendKind::Interpreted => {
            let mut backend = InterpreterBackend::new(&program.functions, toolkit::functions());
            Pe::wire(program, registry, &mut backend, options)
        }
        BackendKind::Compiled => {
            let code = jit::JitOptions {
                perf_map: launch.perf_map,
                ..jit::JitOptions::default()
            };
            let mut backend = codegen::jit_backend(program, code)?;
            Pe::wire(program, registry, &mut backend, options)
        }
    })
}

/// The behaviours of the toolkit's operators, and of those that plans insert.
fn registry() -> &'static [OperatorEntry] {
    static REGISTRY: LazyLock<Vec<OperatorEntry>> =
        LazyLock::new(|| [toolkit::operators(), ENTRIES].concat());
    &REGISTRY
}

/// The names of a program's sources.
pub fn source_names(program: &Program) -> Vec<String> {
    let operators = program.operators.iter();
    let sources = operators.filter(|operator| operator.inputs.is_empty());
    sources.map(|operator| operator.name.to_string()).collect()
}

/// How many tuples each of these operators has sent.
pub fn source_counts(names: &[String], tallies: &[OperatorCounts]) -> Vec<(String, u64)> {
    let of = |name: &String| {
        let tally = tallies.iter().find(|tally| *tally.operator == **name);
        tally.map_or(0, |tally| tally.submitted.iter().sum())
    };
    names.iter().map(|name| (name.clone(), of(name))).collect()
}

/// What [`eval::Services::property`] answers.
fn properties(program: &Program, launch: &LaunchOptions) -> Vec<(String, String)> {
    let application_dir = std::path::absolute(&launch.application_dir);
    let application_dir = application_dir.unwrap_or(launch.application_dir.clone());
    let name = program.name.to_string();
    vec![
        ("jobName".to_owned(), name.clone()),
        ("applicationName".to_owned(), name),
        (
            "applicationDir".to_owned(),
            application_dir.to_string_lossy().into_owned(),
        ),
    ]
}
