//! Source files on a real file system.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, bounded};

/// The `.spl` files of a folder, in order.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(here).into_iter().flatten().flatten();
    let names = entries.map(|entry| PathBuf::from(entry.file_name()));
    let mut files: Vec<_> = names
        .filter(|name| name.extension().is_some_and(|extension| extension == "spl"))
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
pub fn read(path: &Path) -> Result<String, String> {
    let bytes = bounded::read(path).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of a source file; bytes that are not UTF-8 are replaced.
pub fn text(path: &Path) -> Result<String, Error> {
    let bytes = bounded::read(path).map_err(|error| Error::read(path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
