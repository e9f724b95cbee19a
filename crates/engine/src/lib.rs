//! Compiles and runs SPL programs: the compiler, the planner and the run time behind one API.
//!
//! [`compile`] gives the compiler the source files and the toolkit's operator models. [`plan()`]
//! decides which operators share a process. [`run()`] gives the run time the program, the toolkit's
//! operators and a backend. No other crate knows both the compiler and the run time.
//!
//! ```text
//! CompileRequest -> compile -> Compilation { program, findings } -> plan -> run -> Job -> join
//!                                                                            |
//!                                         several PEs: a process each, which calls serve
//! ```
//!
//! # Processes and threads
//!
//! A plan with one PE runs on threads of the calling process. With several PEs, or a PE with a
//! host, a process is started for each: the command [`LaunchOptions::pe_command`], by default the
//! binary of the calling process again. So a program that runs such plans has to call [`serve`]
//! first thing when it is started as `pe NUMBER NAME`. No thread of the caller is used: a [`Job`]
//! runs by itself until its sources end or a [`StopHandle`] asks it to.
//!
//! # Example
//!
//! ```
//! use thalweg_engine::{CompileRequest, LaunchOptions, PlanOptions, compile, plan, run};
//!
//! # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
//! let request = CompileRequest {
//!     file: HELLO.into(),
//!     submission_values: Some(Vec::new()),
//!     ..CompileRequest::default()
//! };
//! let compilation = compile(&request)?;
//! let program = compilation.program.as_ref().expect("the program has no errors");
//! let plan = plan(program, &PlanOptions::default())?;
//! let job = run(&compilation, program, &plan, &LaunchOptions::default())?;
//! let warnings = job.join()?;
//! assert!(warnings.is_empty());
//! # Ok::<(), thalweg_engine::Error>(())
//! ```

mod calibration_file;
mod compilation;
mod condition;
mod control;
mod cores;
mod cpu_caches;
mod deep_stack;
mod doc;
mod doc_functions;
mod doc_toolkit;
mod doc_topics;
mod dump;
mod error;
mod fabrics;
mod findings;
mod job;
mod launcher;
mod media_list;
mod monitor;
mod part;
mod pe;
mod plan;
mod profile_file;
mod profiling;
mod run;
mod sources;

pub use calibration_file::{LoadedCalibration, load_calibration};
pub use compilation::{
    Analysis, Compilation, CompileRequest, analyse, check, compile, is_library_name,
};
pub use compiler::codes as diagnostic_codes;
pub use cores::missing_core;
pub use cpu_caches::cache_domains;
pub use deep_stack::with_deep_stack;
pub use doc::{doc, doc_index, doc_search};
pub use doc_toolkit::doc_toolkit;
pub use dump::{
    dump_asm, dump_clif, dump_instances, dump_plan, dump_symbols, dump_tokens, dump_tree,
    dump_typed, source_text,
};
pub use error::Error;
pub use eval::TraceLevel;
pub use fabrics::{JobFabrics, fabric_lines};
pub use findings::{Findings, ReportedFindings, format};
pub use graph::{CrossingCodec, Plan, Program};
pub use job::{
    BackendKind, HostSpec, Job, JobProcesses, LaunchOptions, RankEnvironment, RankOptions,
    StopHandle,
};
pub use media_list::{ListedCapabilities, ListedMedium, list_media};
pub use monitor::{
    CrossingSample, JobSample, LatencySample, LibraryCallSample, MarkerSample, OperatorSample,
    PeSample, QueueSample, RailSample, SenderSample, StreamTap, TapText, apply_plan, sample_jobs,
};
pub use pe::{serve, serve_rank};
pub use plan::{
    MEDIUM_OF_RANKS, available_media, check_medium_settings, explain_plan, media, missing_medium,
    optimise, own_medium_name, parse_plan, pin_pes, plan, plan_notes, prediction_text,
    program_threads, usable_core_count, with_media_search,
};
pub use planner::{
    Calibration, CandidateKind, FusionPolicy, MediumCapabilities, Optimisation, OptimisedPlan,
    PlanExplanation, PlanGoal, PlanHost, PlanOptions, PlanPrediction, Profile, ProgramThread,
    ThreadingPolicy, TransportPolicy, choose_cores, predict,
};
pub use profile_file::{LoadedProfile, load_profile};
pub use profiling::{ProfileCollector, ProfileRequest};
pub use run::{launch, run};
pub use sources::{OpenTexts, RecordedSources, bounded, is_folder, is_mixed};
pub use syntax::nearest;
pub use transport::IdleStrategy;
pub use tuple::text::RecordFormat;
