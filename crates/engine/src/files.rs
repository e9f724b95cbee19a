//! Source files on a real file system.

use std::path::{Path, PathBuf};
use std::{fs, io};

use compiler::Source;

use crate::mixed::{self, is_mixed};
use crate::{Error, bounded};

/// The `.spl` and `.splmm` files of a folder, in order.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(here).into_iter().flatten().flatten();
    let names = entries.map(|entry| PathBuf::from(entry.file_name()));
    let mut files: Vec<_> = names
        .filter(|name| name.extension().is_some_and(|e| e == "spl") || is_mixed(name))
        .map(|name| folder.join(name))
        .collect();
    files.sort();
    files
}

/// The absolute path without symbolic links; what is not there stays as it is.
pub fn canonical(path: &Path) -> PathBuf {
    let here = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    fs::canonicalize(here).unwrap_or_else(|_| path.to_owned())
}

/// The text of a toolkit's file, or why it cannot be read.
pub fn read(path: &Path, mixed_args: &[String]) -> Result<Source, String> {
    source(path, mixed_args).map_err(|error| error.to_string())
}

/// The text of a source file, generated if it is one of mixed mode; bytes that are not UTF-8 are
/// replaced.
pub fn text(path: &Path, mixed_args: &[String]) -> Result<Source, Error> {
    source(path, mixed_args).map_err(|error| Error::read(path, error))
}

fn source(path: &Path, mixed_args: &[String]) -> io::Result<Source> {
    let text = String::from_utf8_lossy(&bounded::read(path)?).into_owned();
    Ok(match is_mixed(path) {
        true => mixed::generate(path, text, mixed_args),
        false => text.into(),
    })
}
