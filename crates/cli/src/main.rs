//! The `thalweg` command.
//!
//! Reads the command line, hands it to one file of `command`, and turns what comes back into an
//! exit status: 0, 1 for a program's failure, 2 for bad usage.

mod args;
mod command;
mod progress_line;
mod terminal;
mod text_table;

use std::process::ExitCode;

use clap::Parser;

use args::{CliCommand, CommandLine};

fn main() -> ExitCode {
    command::ignore_file_size_signal();
    if is_pe() {
        return exit_code(command::pe());
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

fn exit_code(outcome: Result<(), command::CommandFailure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(command::CommandFailure::Reported) => ExitCode::from(1),
        Err(command::CommandFailure::Program(message)) => {
            command::write_stderr(&format!("thalweg: {message}\n"));
            ExitCode::from(1)
        }
        Err(command::CommandFailure::Usage(message)) => {
            command::write_stderr(&format!("thalweg: {message}\n"));
            ExitCode::from(2)
        }
    }
}

fn execute(command: CliCommand) -> Result<(), command::CommandFailure> {
    match command {
        CliCommand::Run(args) => command::run(args),
        CliCommand::Check(args) => command::check(args),
        CliCommand::Fmt(args) => command::fmt(args),
        CliCommand::Doc(args) => command::doc(args),
        CliCommand::Dump(args) => command::dump(args),
        CliCommand::Bench(args) => command::bench(args),
        CliCommand::New(args) => command::new(args),
        CliCommand::Top(args) => command::top(args),
        CliCommand::Perf(args) => command::perf(args),
    }
}
