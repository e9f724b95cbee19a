//! `thalweg doc`: operators and functions, from their models.

use super::{CommandFailure, write_stdout};
use crate::args::DocArgs;

/// Describes one name, or lists all.
pub fn doc(args: DocArgs) -> Result<(), CommandFailure> {
    match args.name {
        None => write_stdout(&engine::doc_index()),
        Some(name) => match engine::doc(&name) {
            Ok(text) => write_stdout(&text),
            Err(message) => Err(CommandFailure::Program(message)),
        },
    }
}
