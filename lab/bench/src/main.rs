//! `thalweg-bench`: the system benchmark, its reports and comparisons, and smx_perf's tools.
//!
//! ```text
//!   thalweg bench ARGS  ──becomes──>  thalweg-bench ARGS  ──starts──>  thalweg run PROGRAM ...
//!   thalweg calibrate   ──becomes──>  thalweg-bench calibrate
//!   thalweg perf ARGS   ──becomes──>  thalweg-bench perf ARGS          thalweg-bench control ...
//! ```
//! The `thalweg` command replaces itself by this one, so that whoever only runs programs builds no
//! benchmark. Help and messages name the command that the user typed, `thalweg bench`. The exit
//! status is 0, 1 when a measurement fails, 2 for bad usage.

mod args;
mod calibrate;
mod cases;
mod commands;
mod compare;
mod failure;
mod history;
mod nexmark_args;
mod nexmark_events;
mod output;
mod paths;
mod perf;
mod perf_args;
mod plans_args;
mod plans_summary;
mod report;
mod result_tables;
mod run_lengths;
mod session;
mod text_columns;
mod vwap_args;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{BenchCommand, BenchCommandLine};
use calibrate::CalibrationArgs;
use clap::Parser;
use failure::BenchFailure;
use perf_args::PerfCommandLine;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let first = words
        .get(1)
        .and_then(|word| word.to_str())
        .map(str::to_owned);
    if let Some("perf" | "calibrate") = first.as_deref() {
        words.remove(1);
    }
    let done = match first.as_deref() {
        Some("perf") => PerfCommandLine::try_parse_from(words).map(|line| perf::perf(line.command)),
        Some("calibrate") => {
            CalibrationArgs::try_parse_from(words).map(|args| calibrate::calibrate(&args))
        }
        _ => BenchCommandLine::try_parse_from(words).map(|line| execute(line.command)),
    };
    match done {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            output::write_stderr(&format!("thalweg: {failure}\n"));
            ExitCode::from(failure.exit_status())
        }
        Err(error) => {
            // Help and version are no errors and go to standard output.
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
    }
}

fn execute(command: BenchCommand) -> Result<(), BenchFailure> {
    match command {
        BenchCommand::Compare(args) => compare::compare(&args),
        BenchCommand::Report(args) => report::report(&args),
        BenchCommand::Control(args) => Ok(suite::serve_control(&args.what)?),
        BenchCommand::NexmarkEvents(args) => nexmark_events::nexmark_events(&args),
        measured => session::measure(measured),
    }
}
