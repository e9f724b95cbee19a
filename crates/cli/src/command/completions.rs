//! `thalweg completions`: what a shell offers behind the command's name when Tab is pressed.

use clap::{Args as ClapArgs, Command};
use clap_complete::{Shell, generate};

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// Arguments of `thalweg completions`.
#[derive(Debug, ClapArgs)]
pub struct CompletionsArgs {
    /// The shell that asks for completions
    pub shell: Shell,
}

/// Prints the completions of the command line for a shell.
pub fn run(args: CompletionsArgs, mut command_line: Command) -> Result<(), CommandFailure> {
    let mut script = Vec::new();
    generate(args.shell, &mut command_line, "thalweg", &mut script);
    write_stdout(&String::from_utf8_lossy(&script))
}
