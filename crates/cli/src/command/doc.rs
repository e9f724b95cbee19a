//! `thalweg doc`: descriptions of operators and functions, made from their models.

use clap::Args as ClapArgs;

use crate::failure::CommandFailure;
use crate::file_search::programs_of;
use crate::output::write_stdout;
use crate::program::toolkit_folders;

/// Arguments of `thalweg doc`.
#[derive(Debug, ClapArgs)]
pub struct DocArgs {
    /// The operator, function, type or topic: `Aggregate`, `spl.math::sqrt`, `timestamp`, `windows`
    pub name: Option<String>,

    /// List the operators, functions and topics with this text in their names or descriptions
    #[arg(long, value_name = "TEXT", conflicts_with = "name")]
    pub search: Option<String>,

    /// Toolkit directories, separated by colons: describe what they define, or list it
    #[arg(short = 't', long, value_name = "DIRS", conflicts_with = "search")]
    pub toolkit_path: Vec<String>,
}

/// Describes one operator, function, type or topic, or lists all of them.
pub fn run(args: DocArgs) -> Result<(), CommandFailure> {
    let described = match (&args.search, &args.name) {
        (Some(text), _) => engine::doc_search(text),
        (None, name) if !args.toolkit_path.is_empty() => {
            let files = programs_of(&toolkit_folders(&args.toolkit_path))?;
            engine::doc_toolkit(&files, name.as_deref())?
        }
        (None, Some(name)) => engine::doc(name),
        (None, None) => Ok(engine::doc_index()),
    };
    write_stdout(&described.map_err(CommandFailure::Program)?)
}
