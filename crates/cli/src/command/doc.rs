//! `thalweg doc`: descriptions of operators and functions, made from their models.

use clap::Args as ClapArgs;

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// Arguments of `thalweg doc`.
#[derive(Debug, ClapArgs)]
pub struct DocArgs {
    /// The operator or function: `Aggregate`, `spl.math::sqrt`
    pub name: Option<String>,
}

/// Describes one operator or function, or lists all of them.
pub fn run(args: DocArgs) -> Result<(), CommandFailure> {
    match args.name {
        None => write_stdout(&engine::doc_index()),
        Some(name) => match engine::doc(&name) {
            Ok(text) => write_stdout(&text),
            Err(message) => Err(CommandFailure::Program(message)),
        },
    }
}
