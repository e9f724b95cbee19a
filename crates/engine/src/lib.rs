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
mod code;
mod compilation;
mod condition;
mod control;
mod cores;
mod crossing;
mod deep;
mod doc;
mod dump;
mod error;
mod failure;
mod files;
mod findings;
mod hosts;
mod job;
mod launch;
mod launcher;
mod leftover;
mod mixed;
mod models;
mod monitor;
mod pe;
mod plan;
mod sources;

pub use compilation::{Compilation, Request, check, compile};
pub use compiler::{Choice, Fuse, MediumFacts, Threading, Transport};
pub use cores::missing_core;
pub use deep::deep;
pub use doc::{doc, doc_index};
pub use dump::{
    dump_asm, dump_clif, dump_dot, dump_graph, dump_plan, dump_svg, dump_tokens, dump_tree,
    dump_typed, source_text,
};
pub use error::Error;
pub use files::is_folder;
pub use findings::{Findings, format};
pub use graph::{Codec, Plan, Program, TraceLevel};
pub use hosts::Host;
pub use job::{Job, StopHandle};
pub use launch::{Backend, Launch, launch, run};
pub use launcher::Processes;
pub use mixed::is_mixed;
pub use models::is_library_name;
pub use monitor::{
    EndSample, JobSample, LatencySample, LinkSample, MarksSample, OperatorSample, PeSample,
    QueueSample, samples,
};
pub use pe::serve;
pub use plan::{cores, media, pin, plan, plan_notes, read_plan};
pub use sources::Sources;
pub use transport::Strategy;
