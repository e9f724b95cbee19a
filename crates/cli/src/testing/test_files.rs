//! The test files that a command line means.

use std::path::{Path, PathBuf};

use super::test_file::SUFFIX;
use crate::failure::CommandFailure;
use crate::file_search::search;

/// The test files of paths: those in a folder and the folders in it, those of a program, or the
/// file itself. In the order of their names, each once.
///
/// # Errors
/// A path does not exist, is no program or test file, or a folder cannot be read.
pub fn find_test_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandFailure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            search(path, is_test_file, &mut found)?;
        } else if is_test_file(path) {
            found.push(path.clone());
        } else {
            found.push(test_file_of(path)?);
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn is_test_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(SUFFIX)
}

/// The test file beside a program.
fn test_file_of(program: &Path) -> Result<PathBuf, CommandFailure> {
    let beside = program.with_extension(&SUFFIX[1..]);
    match beside.is_file() {
        true => Ok(beside),
        false => Err(CommandFailure::Usage(format!(
            "`{}` is no folder, and there is no test file `{}`",
            program.display(),
            beside.display()
        ))),
    }
}
