//! Source files on a real file system.

use std::ffi::OsString;
use std::io::ErrorKind::{
    InvalidFilename, InvalidInput, NotADirectory, NotFound, PermissionDenied,
};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use compiler::SourceText;
use runtime::retry_interrupted;
use rustix::fs::{Dir, Mode, OFlags, open};

use super::bounded;
use super::mixed_mode::{self, is_mixed};
use crate::error::Error;

/// The `.spl` and `.splmm` files of a folder, in order; none if it is not there, or not for us to
/// read.
///
/// # Errors
/// What else the system says: names would be missing, and nobody would know why.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let names = match retry_interrupted(|| folder_entries(here)) {
        Err(error) if is_absent(&error) || error.kind() == PermissionDenied => Vec::new(),
        names => names?,
    };
    let mut files: Vec<_> = names
        .into_iter()
        .filter(|name| name.extension().is_some_and(|e| e == "spl") || is_mixed(name))
        .map(|name| folder.join(name))
        .collect();
    files.sort();
    Ok(files)
}

/// What is in a folder. The standard library panics where closing it fails.
fn folder_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = Dir::new(open(folder, flags, Mode::empty())?)?;
    let name = |entry: rustix::io::Result<rustix::fs::DirEntry>| {
        let name = entry?.file_name().to_bytes().to_vec();
        Ok(PathBuf::from(OsString::from_vec(name)))
    };
    entries.map(name).collect()
}

/// Whether a folder of that name is there.
///
/// # Errors
/// The system cannot tell.
pub fn is_folder(path: &Path) -> Result<bool, Error> {
    match retry_interrupted(|| fs::metadata(path)) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(Error::system(format!("look at {}", path.display()), error)),
    }
}

/// Whether there is nothing of that name.
fn is_absent(error: &io::Error) -> bool {
    let kinds = [NotFound, NotADirectory, InvalidFilename, InvalidInput];
    kinds.contains(&error.kind())
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
pub fn read_toolkit_file(path: &Path, mixed_args: &[String]) -> Result<SourceText, String> {
    read_source(path, mixed_args).map_err(|error| error.to_string())
}

/// The text of a source file, generated if it is one of mixed mode; bytes that are not UTF-8 are
/// replaced.
pub fn read_source_file(path: &Path, mixed_args: &[String]) -> Result<SourceText, Error> {
    read_source(path, mixed_args).map_err(|error| Error::read(path, error))
}

fn read_source(path: &Path, mixed_args: &[String]) -> io::Result<SourceText> {
    let text = String::from_utf8_lossy(&bounded::read(path)?).into_owned();
    Ok(match is_mixed(path) {
        true => mixed_mode::generate(path, text, mixed_args),
        false => text.into(),
    })
}
