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
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors and go to standard output.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = match args.command {
        // It looks after itself.
        Command::Pe(_) => command::pe(),
        command => engine::deep(|| execute(command))
            .map_err(Into::into)
            .flatten(),
    };
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
        Command::Pe(_) => command::pe(),
    }
}
