//! The sub-commands: a file or folder each, with the arguments of its command line and the function
//! that runs it.

pub mod bench;
pub mod calibrate;
pub mod check;
pub mod completions;
pub mod doc;
pub mod dump;
pub mod explain;
pub mod fmt;
mod lab_command;
pub mod lsp;
pub mod man;
pub mod medium;
mod medium_build;
pub mod new;
pub mod pe;
pub mod perf;
pub mod plan;
pub mod profile;
pub mod run;
pub mod tap;
pub mod test;
pub mod top;
