//! `compile()` and `launch()`: where the compiler and the run time meet.
//!
//! The compiler is handed the toolkit's models and prototypes, files and values; the run time is
//! handed the program, the toolkit's behaviours and a backend. Nobody else knows both.
//!
//! ```text
//!   Request -> compile -> Compilation { program, findings } -> launch -> Job -> join
//! ```

mod code;
mod compilation;
mod doc;
mod dump;
mod error;
mod files;
mod findings;
mod job;
mod launch;
mod models;

pub use compilation::{Compilation, Request, check, compile};
pub use compiler::{Choice, Fuse, MediumFacts, Transport};
pub use doc::{doc, doc_index};
pub use dump::{
    dump_asm, dump_clif, dump_dot, dump_graph, dump_plan, dump_svg, dump_tokens, dump_tree,
    dump_typed,
};
pub use error::Error;
pub use findings::{Findings, format};
pub use graph::TraceLevel;
pub use job::{Job, StopHandle};
pub use launch::{Backend, Launch, launch};
