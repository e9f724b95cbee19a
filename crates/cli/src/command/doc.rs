//! `thalweg doc`: descriptions of operators and functions, made from their models.

use clap::Args as ClapArgs;

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// Arguments of `thalweg doc`.
#[derive(Debug, ClapArgs)]
pub struct DocArgs {
    /// The operator or function: `Aggregate`, `spl.math::sqrt`
    pub name: Option<String>,

    /// List the operators and functions with this text in their names or descriptions
    #[arg(long, value_name = "TEXT", conflicts_with = "name")]
    pub search: Option<String>,
}

/// Describes one operator or function, or lists all of them.
pub fn run(args: DocArgs) -> Result<(), CommandFailure> {
    if let Some(text) = &args.search {
        let found = engine::doc_search(text).map_err(CommandFailure::Program)?;
        return write_stdout(&found);
    }
    match args.name {
        None => write_stdout(&engine::doc_index()),
        Some(name) => match engine::doc(&name) {
            Ok(text) => write_stdout(&text),
            Err(message) => Err(CommandFailure::Program(message)),
        },
    }
}
