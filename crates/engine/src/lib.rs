//! `compile()` and `launch()`: where the compiler and the run time meet.
//!
//! The compiler is handed the toolkit's models and prototypes, files and values; the run time is
//! handed the program, the toolkit's behaviours and a backend. Nobody else knows both.
//!
//! ```text
//!   Request -> compile -> Compilation { program, findings } -> plan -> run -> Job -> join
//!                                                                       |
//!                                      several PEs: a process each, which calls serve
//! ```

pub mod bounded;
mod bundle;
mod codegen;
mod compilation;
mod condition;
mod control;
mod cores;
mod crossing;
mod deep_stack;
mod doc;
mod dump;
mod error;
mod failure_text;
mod findings;
mod hosts;
mod job;
mod launch;
mod launcher;
mod mixed_mode;
mod models;
mod monitor;
mod pe;
mod plan;
mod recorded_sources;
mod source_files;
mod unfired_windows;

pub use compilation::{Compilation, CompileRequest, check, compile};
pub use compiler::codes as diagnostic_codes;
pub use cores::missing_core;
pub use deep_stack::with_deep_stack;
pub use doc::{doc, doc_index};
pub use dump::{
    dump_asm, dump_clif, dump_dot, dump_graph, dump_plan, dump_svg, dump_tokens, dump_tree,
    dump_typed, source_text,
};
pub use error::Error;
pub use eval::TraceLevel;
pub use findings::{Findings, format};
pub use graph::{CrossingCodec, Plan, Program};
pub use hosts::HostSpec;
pub use job::{Job, StopHandle};
pub use launch::{BackendKind, LaunchOptions, launch, run};
pub use launcher::JobProcesses;
pub use mixed_mode::is_mixed;
pub use models::is_library_name;
pub use monitor::{
    CrossingSample, JobSample, LatencySample, MarkerSample, OperatorSample, PeSample, QueueSample,
    SenderSample, sample_jobs,
};
pub use pe::serve;
pub use plan::{media, parse_plan, pin_pes, plan, plan_notes, usable_core_count};
pub use planner::{
    FusionPolicy, MediumCapabilities, PlanOptions, ThreadingPolicy, TransportPolicy,
};
pub use recorded_sources::RecordedSources;
pub use source_files::is_folder;
pub use transport::IdleStrategy;
