//! Files below folders that a command line names.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::CommandFailure;

/// Adds the files in a folder and the folders in it that are wanted, in the order of their names.
/// Hidden folders are left out, and links to folders are not followed: they may lead back.
///
/// # Errors
/// [`CommandFailure::Program`] for a folder that cannot be read.
pub fn search(
    folder: &Path,
    is_wanted: fn(&Path) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), CommandFailure> {
    let failed = |error: std::io::Error| {
        CommandFailure::Program(format!("cannot look into `{}`: {error}", folder.display()))
    };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let path = folder.join(entry.file_name());
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        if is_folder && !is_hidden {
            search(&path, is_wanted, found)?;
        } else if !is_folder && is_wanted(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// The files of a command line: each as it is, and for a folder the wanted files below it.
///
/// # Errors
/// A folder cannot be read, or has no such file: `kind` says of which.
pub fn files_of(
    paths: &[PathBuf],
    is_wanted: fn(&Path) -> bool,
    kind: &str,
) -> Result<Vec<PathBuf>, CommandFailure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        search(path, is_wanted, &mut files)?;
        if files.len() == before {
            let folder = path.display();
            let message = format!("there is no {kind} in the folder `{folder}`");
            return Err(CommandFailure::Usage(message));
        }
    }
    Ok(files)
}

/// The programs of a command line: each file as it is, and for a folder those below it.
///
/// # Errors
/// A folder cannot be read, or has no program.
pub fn programs_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandFailure> {
    files_of(paths, is_program, "program (`.spl` or `.splmm`)")
}

/// Whether a file is a program by its name.
fn is_program(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "spl") || engine::is_mixed(file)
}
