//! Wiring the operators of a program, or of one PE's part of it, without starting them. The program
//! of a job's only PE is also cut here.

use std::sync::LazyLock;

use graph::{PeId, Plan, Program};
use planner::PlanOptions;
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::crossing::{CrossingEnds, ENTRIES};
use runtime::{FailureReport, OperatorCounts, OperatorEntry, Pe, PeOptions, TraceLevels};

use super::codegen;
use super::crossings::Crossings;
use crate::condition;
use crate::error::Error;
use crate::job::{BackendKind, LaunchOptions, NotifyingWriter};
use crate::sources::is_folder;

/// Options of a PE that runs only a part of a program.
#[derive(Default)]
pub struct PartOptions {
    /// Ends of the crossings to and from other PEs, and of rings within this one.
    pub crossing_ends: CrossingEnds,
    /// Cores that the PE's threads may run on; empty: any.
    pub cores: Vec<u32>,
    /// Operators whose threads have a core of their own: the operator's number, and the core.
    pub pins: Vec<(u32, u32)>,
    /// Properties besides those of every program, such as `PEID`.
    pub properties: Vec<(String, String)>,
}

/// The program of a plan's only PE, and what else wiring it takes. A plan without PEs has a program
/// without operators.
///
/// # Errors
/// [`Error::Program`] if a ring cannot be opened.
pub fn cut_only_pe(program: &Program, plan: &Plan) -> Result<(Program, PartOptions), Error> {
    let mut options = PartOptions::default();
    let [only] = &plan.pes[..] else {
        assert!(plan.pes.is_empty(), "the plan has more PEs than one");
        return Ok((program.clone(), options));
    };
    let part = planner::cut(program, plan, PeId(0));
    options.cores = only.cores.clone();
    options.pins = part.pins.clone();
    // No other process reaches the rings of a single PE: they need no secret.
    let rings = Crossings::new(plan, program, [0; 16], &[]);
    let opened = rings.open_rings(&part, PeId(0), &mut options.crossing_ends);
    opened.map_err(Error::Program)?;
    Ok((part.program, options))
}

/// The program of a PE that has all operators, by the default plan, and what else wiring it takes.
///
/// # Errors
/// [`Error::Plan`], or [`Error::Program`] if a ring cannot be opened.
pub fn fuse_all(program: &Program) -> Result<(Program, PartOptions), Error> {
    cut_only_pe(program, &default_plan(program)?)
}

/// The plan in which one PE has all operators, as default options give it.
///
/// # Errors
/// [`Error::Plan`].
pub fn default_plan(program: &Program) -> Result<Plan, Error> {
    let plan = planner::plan(program, &PlanOptions::default());
    plan.map_err(|errors| Error::plan(program, &errors))
}

/// Makes and connects the operators of a program or a part of one.
///
/// # Errors
/// [`Error::DataDirectory`] if the data directory does not exist, [`Error::Codegen`] if machine
/// code cannot be made. The inner result has the failures of operators.
pub fn wire(
    program: &Program,
    launch: &LaunchOptions,
    part: PartOptions,
) -> Result<Result<Pe, FailureReport>, Error> {
    let data_directory = std::path::absolute(&launch.data_dir).unwrap_or(launch.data_dir.clone());
    if !is_folder(&data_directory)? {
        return Err(Error::DataDirectory(launch.data_dir.clone()));
    }
    let mut properties = properties(program, launch);
    properties.extend(part.properties);
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
        crossing_ends: part.crossing_ends,
        cores: part.cores,
        idle_strategy: launch.idle,
        conditions: Some(condition::condition_holds),
        samples_per_second: launch
            .profile
            .as_ref()
            .map(|p| p.request().samples_per_second),
        // Interpreted code submits each tuple through the outlet, where it is seen.
        taps: launch.taps || launch.backend == BackendKind::Interpreted,
    };
    let registry = registry();
    let threads = planner::pe_threads(program, &part.pins);
    Ok(match launch.backend {
        BackendKind::Interpreted => {
            let mut backend = InterpreterBackend::new(&program.functions, toolkit::functions());
            Pe::wire(program, &threads, registry, &mut backend, options)
        }
        BackendKind::Compiled => {
            let code = jit::JitOptions {
                perf_map: launch.perf_map,
                for_samples: launch.profile.is_some(),
                ..jit::JitOptions::default()
            };
            let mut backend = codegen::jit_backend(program, code)?;
            Pe::wire(program, &threads, registry, &mut backend, options)
        }
    })
}

/// Implementations of the toolkit's operators, and of the operators that plans insert.
pub(super) fn registry() -> &'static [OperatorEntry] {
    static REGISTRY: LazyLock<Vec<OperatorEntry>> =
        LazyLock::new(|| [toolkit::operators(), ENTRIES].concat());
    &REGISTRY
}

/// Names of a program's sources: operators without input ports.
pub fn source_names(program: &Program) -> Vec<String> {
    let operators = program.operators.iter();
    let sources = operators.filter(|operator| operator.inputs.is_empty());
    sources.map(|operator| operator.name.to_string()).collect()
}

/// Number of tuples that each of the operators `names` has submitted.
pub fn source_counts(names: &[String], counts: &[OperatorCounts]) -> Vec<(String, u64)> {
    let submitted = |name: &String| {
        let operator = counts.iter().find(|counts| *counts.operator == **name);
        operator.map_or(0, |counts| counts.submitted.iter().sum())
    };
    let names = names.iter();
    names.map(|name| (name.clone(), submitted(name))).collect()
}

/// The properties that [`eval::Services::property`] returns to every program.
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
