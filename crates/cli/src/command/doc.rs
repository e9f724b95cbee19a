//! `thalweg doc`: operators and functions, from their models.

use super::{Failure, print};
use crate::args::DocArgs;

/// Describes one name, or lists all.
pub fn doc(args: DocArgs) -> Result<(), Failure> {
    match args.name {
        None => print(&engine::doc_index()),
        Some(name) => match engine::doc(&name) {
            Ok(text) => print(&text),
            Err(message) => Err(Failure::Program(message)),
        },
    }
}
