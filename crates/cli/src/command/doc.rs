//! `thalweg doc`: operators and functions, from their models.

use clap::Args as ClapArgs;

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// `thalweg doc`
#[derive(Debug, ClapArgs)]
pub struct DocArgs {
    /// Operator or function: `Aggregate`, `spl.math::sqrt`
    pub name: Option<String>,
}

/// Describes one name, or lists all.
pub fn run(args: DocArgs) -> Result<(), CommandFailure> {
    match args.name {
        None => write_stdout(&engine::doc_index()),
        Some(name) => match engine::doc(&name) {
            Ok(text) => write_stdout(&text),
            Err(message) => Err(CommandFailure::Program(message)),
        },
    }
}
