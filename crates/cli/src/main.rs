//! The `thalweg` command.
//!
//! Reads the command line, hands it to one file of `command`, and turns what comes back into an
//! exit status: 0, 1 for a program's failure, 2 for bad usage.

mod command;
mod drawing;
mod failure;
mod output;
mod program;
mod progress_line;
mod signals;
mod terminal;
mod text_table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::{bench, check, doc, dump, explain, fmt, new, pe, perf, run, top};
use failure::CommandFailure;

/// Runs stream programs written in SPL.
#[derive(Debug, Parser)]
#[command(name = "thalweg", version, about, max_term_width = 100)]
struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    command: CliCommand,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Compile a program and run it until its sources end
    Run(run::RunArgs),
    /// Say what is wrong with programs, without running them
    Check(check::CheckArgs),
    /// Write programs in the canonical layout, in place; with --check or --stdout they stay as they
    /// are
    Fmt(fmt::FmtArgs),
    /// Describe an operator or a function; without a name, list all
    Doc(doc::DocArgs),
    /// Explain the code of an error or a warning; without a code, list all
    Explain(explain::ExplainArgs),
    /// Print what a stage of the compiler makes of a program
    Dump(dump::DumpArgs),
    /// Show what jobs are doing
    Top(top::TopArgs),
    /// Measure how fast streams are on this machine, beside raw controls
    Bench(bench::BenchArgs),
    /// Start a project that runs
    New(new::NewArgs),
    /// Measure rates and latencies of one-to-many shared memory, as smx_perf does
    Perf(perf::PerfArgs),
}

fn main() -> ExitCode {
    signals::ignore_file_size_signal();
    if is_pe() {
        return exit_code(pe::run());
    }
    let args = match CommandLine::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors and go to standard output.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = engine::with_deep_stack(|| execute(args.command));
    exit_code(outcome.map_err(Into::into).flatten())
}

/// Whether the launcher of a job has started this as one of its PEs: `thalweg pe NUMBER JOB`. What
/// follows the word is for those who look at the list of processes. It is not among the
/// sub-commands, as those are listed, and proposed for words that are like them.
fn is_pe() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "pe")
}

fn exit_code(outcome: Result<(), CommandFailure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandFailure::Reported) => ExitCode::from(1),
        Err(CommandFailure::Program(message)) => {
            output::write_stderr(&format!("thalweg: {message}\n"));
            ExitCode::from(1)
        }
        Err(CommandFailure::Usage(message)) => {
            output::write_stderr(&format!("thalweg: {message}\n"));
            ExitCode::from(2)
        }
    }
}

fn execute(command: CliCommand) -> Result<(), CommandFailure> {
    match command {
        CliCommand::Run(args) => run::run(args),
        CliCommand::Check(args) => check::run(args),
        CliCommand::Fmt(args) => fmt::run(args),
        CliCommand::Doc(args) => doc::run(args),
        CliCommand::Explain(args) => explain::run(args),
        CliCommand::Dump(args) => dump::run(args),
        CliCommand::Bench(args) => bench::run(args),
        CliCommand::New(args) => new::run(args),
        CliCommand::Top(args) => top::run(args),
        CliCommand::Perf(args) => perf::run(args),
    }
}
