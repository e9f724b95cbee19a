//! A file that a command writes at its end: there whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::CommandFailure;

/// A file to be written later. That it can be written is found out at once, by a file beside it,
/// which is removed again unless it is renamed to the wanted one.
pub struct OutputFile {
    file: PathBuf,
    beside: PathBuf,
}

impl OutputFile {
    /// Makes the file beside the wanted one.
    ///
    /// # Errors
    /// The folder does not exist or cannot be written.
    pub fn create(file: &Path) -> Result<OutputFile, CommandFailure> {
        let mut beside = file.as_os_str().to_owned();
        beside.push(format!(".{}.part", std::process::id()));
        let output = OutputFile {
            file: file.to_owned(),
            beside: beside.into(),
        };
        let made = match file.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => fs::write(&output.beside, ""),
        };
        made.map_err(|error| output.failure(&error))?;
        Ok(output)
    }

    /// Writes the text, and replaces a file of this name.
    ///
    /// # Errors
    /// The disk is full, for instance.
    pub fn write(self, text: &str) -> Result<(), CommandFailure> {
        let written = fs::write(&self.beside, text);
        let written = written.and_then(|()| fs::rename(&self.beside, &self.file));
        written.map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &io::Error) -> CommandFailure {
        CommandFailure::Program(format!("cannot write {}: {error}", self.file.display()))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // After the renaming it is not there.
        let _ = fs::remove_file(&self.beside);
    }
}
