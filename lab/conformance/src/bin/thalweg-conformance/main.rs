//! `thalweg-conformance`: runs the conformance suite against a library that is a medium.
//!
//! ```text
//!   thalweg medium check LIBRARY  ──becomes──>  thalweg-conformance check LIBRARY
//!                                                 starts  list LIBRARY       what to test
//!                                                         test LIBRARY NAME  one behaviour
//! ```
//! A library is loaded in child processes alone, so one that crashes or blocks ends a child and is
//! reported with the behaviour in which it did. The exit status is 0, 1 if the library fails, 2 for
//! bad usage.

extern crate thalweg_conformance as conformance;

mod args;
mod check;
mod isolated;
mod verdict;

use std::alloc::System;
use std::process::ExitCode;

use args::{ConformanceCommand, ConformanceCommandLine};
use clap::Parser;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts allocations, of which a warm edge has none.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let Some(exit) = conformance::play_child(&words) {
        return exit;
    }
    let args = match ConformanceCommandLine::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors and go to standard output.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match args.command {
        ConformanceCommand::Check(args) => check::check(&args),
        ConformanceCommand::List(args) => isolated::list(&args),
        ConformanceCommand::Test(args) => isolated::test(&args),
    }
}
