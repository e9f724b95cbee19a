//! A folder for one run of a test, removed afterwards.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new folder among the temporary files.
pub struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Makes a new, empty folder.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new() -> io::Result<ScratchDir> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thalweg-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(ScratchDir(path))
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Copies the files of a folder and of the folders in it.
    ///
    /// # Errors
    /// The error of the system, with the file.
    pub fn copy_from(&self, folder: &Path) -> Result<(), String> {
        copy(folder, &self.0)
    }

    /// Writes a file, and makes the folders that its name leads through.
    ///
    /// # Errors
    /// The error of the system, with the file; the name leads out of the folder.
    pub fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.file(name)?;
        let folder = path.parent().unwrap_or(&self.0);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("cannot write the file `{name}`: {error}"))
    }

    /// The path of a file in it.
    ///
    /// # Errors
    /// The name leads out of the folder.
    pub fn file(&self, name: &str) -> Result<PathBuf, String> {
        let is_inside = Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        match is_inside && !name.is_empty() {
            true => Ok(self.0.join(name)),
            false => Err(format!(
                "`{name}` is not the name of a file in the data directory"
            )),
        }
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // A file that cannot be removed fails no test.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed =
        |error: io::Error| format!("cannot copy from the folder `{}`: {error}", from.display());
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => {
                fs::create_dir_all(&target).map_err(failed)?;
                copy(&entry.path(), &target)?;
            }
            false => fs::copy(entry.path(), target).map(drop).map_err(failed)?,
        }
    }
    Ok(())
}
