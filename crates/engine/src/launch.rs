//! From a program to a running job in this process.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

use eval::TraceLevel;
use graph::{Plan, Program};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::crossing::{CrossingEnds, ENTRIES};
use runtime::{FailureReport, OperatorCounts, OperatorEntry, Pe, PeOptions, TraceLevels};
use serde::{Deserialize, Serialize};

use crate::crossing::Crossings;
use crate::monitor::{JobMetadata, Sampler};
use crate::unfired_windows::{self, UnfiredWindows};
use crate::{
    Compilation, Error, HostSpec, IdleStrategy, Job, JobProcesses, failure_text, hosts, launcher,
    source_files,
};

/// How a program is run.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Where relative file names begin.
    pub data_dir: PathBuf,
    /// Where the application lies.
    pub application_dir: PathBuf,
    /// What is traced.
    pub trace: TraceLevel,
    /// What is logged.
    pub log: TraceLevel,
    /// What makes expressions run.
    pub backend: BackendKind,
    /// Write a map of the compiled code for the perf tool.
    pub perf_map: bool,
    /// Shut down after so long.
    pub kill_after: Option<Duration>,
    /// Called with what the job is about to write to standard output or error: whoever draws on the
    /// terminal makes way.
    pub before_print: fn(&[u8]),
    /// Write what is printed at once: standard output is a terminal, and somebody looks at it.
    pub unbuffered: bool,
    /// Put the PE's name before each line of standard output, if there are several PEs.
    pub tag_output: bool,
    /// Measure how long tuples are under way between PEs.
    pub latency: bool,
    /// The job's counters are to be seen while it runs: [`crate::samples`].
    pub counters: bool,
    /// What starts the process of a PE: its number and the job's name. The process has to call
    /// [`crate::serve`], and to ignore signals that ask it to end: those are the launcher's
    /// business.
    pub pe_command: fn(u32, &str) -> Command,
    /// What threads without work do.
    pub idle: IdleStrategy,
    /// The hosts that the plan names.
    pub hosts: Vec<HostSpec>,
    /// Where the processes of PEs are noted, so that the caller can kill them.
    pub processes: JobProcesses,
}

/// What makes expressions run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum BackendKind {
    /// The reference interpreter.
    Interpreted,
    /// Machine code.
    Compiled,
}

impl Default for LaunchOptions {
    /// Compiled code in the current folder, with the levels of the command.
    fn default() -> LaunchOptions {
        LaunchOptions {
            data_dir: PathBuf::from("."),
            application_dir: PathBuf::from("."),
            trace: TraceLevel::Error,
            log: TraceLevel::Warn,
            backend: BackendKind::Compiled,
            perf_map: false,
            kill_after: None,
            before_print: |_| {},
            unbuffered: false,
            tag_output: false,
            latency: false,
            counters: false,
            pe_command: launcher::own_binary,
            idle: IdleStrategy::default(),
            hosts: Vec::new(),
            processes: JobProcesses::default(),
        }
    }
}

/// Runs a compiled program as its plan says: here if there is one PE, else in a process for each.
///
/// # Errors
/// What cannot be set up here: a parameter out of range, a file that cannot be opened, ... What
/// other processes cannot set up is said when the job ends.
pub fn run(
    compilation: &Compilation,
    program: &Program,
    plan: &Plan,
    launch: &LaunchOptions,
) -> Result<Job, Error> {
    hosts::check_hosts(plan, &launch.hosts)?;
    match &plan.pes[..] {
        [] => launch_in_process(program, launch, PartOptions::default()),
        [only] if only.host.is_none() => {
            let part = planner::cut(program, plan, 0);
            let mut part_options = PartOptions {
                cores: only.cores.clone(),
                pins: part.pins.clone(),
                ..PartOptions::default()
            };
            // Nobody from outside comes to its rings: there is no secret.
            let rings = Crossings::new(plan, program, [0; 16], &[]);
            let within = rings.open_rings(&part, 0, &mut part_options.crossing_ends);
            within.map_err(Error::Program)?;
            launch_in_process(&part.program, launch, part_options)
        }
        _ => launcher::launch(compilation, program, plan, launch),
    }
}

/// Runs a program in this process, everything fused.
///
/// # Errors
/// As [`run`].
pub fn launch(program: &Program, launch: &LaunchOptions) -> Result<Job, Error> {
    launch_in_process(program, launch, PartOptions::default())
}

fn launch_in_process(
    program: &Program,
    launch: &LaunchOptions,
    border: PartOptions,
) -> Result<Job, Error> {
    let failed = |report: FailureReport| failure_text::job_error(&program.files, &report);
    let pe = wire(program, launch, border)?.map_err(failed)?;
    if let Some(time) = launch.kill_after {
        let later = pe.stop_signal().request_after(time.as_secs_f64());
        later.map_err(|error| Error::system("start a thread", error))?;
    }
    let stop = pe.stop_signal();
    let running = pe.start().map_err(failed)?;
    let tallies = running.operator_counts_handle();
    let (sender, ended) = channel();
    let files = program.files.clone();
    let note = launch.counters.then(|| JobMetadata::new(&program.name, 1));
    let leftovers = running.leftovers();
    let sampler = note.and_then(|note| Sampler::start(note, 0, program, &running));
    let stopped = stop.clone();
    let wait = move || {
        let outcome = running.join();
        drop(sampler);
        let said = |_| {
            let leftovers = leftovers();
            let leftovers = leftovers
                .iter()
                .map(|left| UnfiredWindows::new(&files, left));
            unfired_windows::unfired_sentences(&leftovers.collect::<Vec<_>>())
        };
        sender.send(
            outcome
                .map(said)
                .map_err(|r| failure_text::job_error(&files, &r)),
        )
    };
    let waiting = Builder::new().name("job".to_owned()).spawn(wait);
    waiting.map_err(|error| {
        // Nobody would ever know how it ends.
        stopped.request();
        Error::system("start a thread", error)
    })?;
    let names = source_names(program);
    Ok(Job::new(
        stop,
        Box::new(move || source_counts(&names, &tallies())),
        ended,
    ))
}

/// What a part of a program has that a whole one has not.
#[derive(Default)]
pub(crate) struct PartOptions {
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
pub(crate) fn wire(
    program: &Program,
    launch: &LaunchOptions,
    border: PartOptions,
) -> Result<Result<Pe, FailureReport>, Error> {
    let data_directory = std::path::absolute(&launch.data_dir).unwrap_or(launch.data_dir.clone());
    if !source_files::is_folder(&data_directory)? {
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
        conditions: Some(crate::condition::condition_holds),
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
            let mut backend = crate::codegen::jit_backend(program, code)?;
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
pub(crate) fn source_names(program: &Program) -> Vec<String> {
    let operators = program.operators.iter();
    let sources = operators.filter(|operator| operator.inputs.is_empty());
    sources.map(|operator| operator.name.to_string()).collect()
}

/// How many tuples each of these operators has sent.
pub(crate) fn source_counts(names: &[String], tallies: &[OperatorCounts]) -> Vec<(String, u64)> {
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

/// A stream that tells somebody before each write.
pub(crate) struct NotifyingWriter<W>(pub W, pub fn(&[u8]));

impl<W: Write> Write for NotifyingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1(bytes);
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}
