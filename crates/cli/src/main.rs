//! The `thalweg` command.
//!
//! Reads the command line, hands it to one file of `command`, and turns what comes back into an exit
//! status: 0, 1 for a program's failure, 2 for bad usage.

mod args;
mod command;
mod progress;
mod table;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    command::outlive_size_limits();
    if is_pe() {
        return status(command::pe());
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors and go to standard output.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = engine::deep(|| execute(args.command));
    status(outcome.map_err(Into::into).flatten())
}

/// Whether the launcher of a job has started this as one of its PEs: `thalweg pe NUMBER JOB`. What
/// follows the word is for those who look at the list of processes. It is not among the sub-commands, as
/// those are listed, and proposed for words that are like them.
fn is_pe() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "pe")
}

fn status(outcome: Result<(), command::Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(command::Failure::Reported) => ExitCode::from(1),
        Err(command::Failure::Program(message)) => {
            command::tell(&format!("thalweg: {message}\n"));
            ExitCode::from(1)
        }
        Err(command::Failure::Usage(message)) => {
            command::tell(&format!("thalweg: {message}\n"));
            ExitCode::from(2)
        }
    }
}

fn execute(command: Command) -> Result<(), command::Failure> {
    match command {
        Command::Run(args) => command::run(args),
        Command::Check(args) => command::check(args),
        Command::Fmt(args) => command::fmt(args),
        Command::Doc(args) => command::doc(args),
        Command::Dump(args) => command::dump(args),
        Command::Bench(args) => command::bench(args),
        Command::New(args) => command::new(args),
        Command::Top(args) => command::top(args),
        Command::Perf(args) => command::perf(args),
    }
}
