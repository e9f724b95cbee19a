//! The folder of events, programs and results, which is gone when the benchmark is.

use std::fs;
use std::path::{Path, PathBuf};

use control::Error;
use nexmark::GeneratorOptions;

use super::programs::{MEMORY_SOURCES, PROGRAMS};

/// A folder in memory, if the system has one, else among temporary files.
pub struct EventFolder(PathBuf);

/// Folder of files in memory.
const MEMORY: &str = "/dev/shm";

impl EventFolder {
    /// Generates the events, and writes the programs: with sources that read all events first if
    /// `is_in_memory`.
    ///
    /// # Errors
    /// The system cannot write the files.
    pub fn new(options: &GeneratorOptions, is_in_memory: bool) -> Result<EventFolder, Error> {
        let memory = Path::new(MEMORY);
        let parent = match memory.is_dir() {
            true => memory.to_owned(),
            false => std::env::temp_dir(),
        };
        let folder = EventFolder(parent.join(format!("thalweg-nexmark-{}", std::process::id())));
        let failed = |error| Error::system("write events", error);
        for part in [
            folder.full(),
            folder.empty(),
            folder.programs(),
            folder.all_results(),
        ] {
            fs::create_dir_all(part).map_err(failed)?;
        }
        nexmark::write_folder(&folder.full(), options).map_err(failed)?;
        let none = GeneratorOptions {
            events: 0,
            ..options.clone()
        };
        nexmark::write_folder(&folder.empty(), &none).map_err(failed)?;
        for (name, text) in PROGRAMS {
            let path = folder.programs().join(name);
            let text = match *name {
                "Sources.spl" if is_in_memory => MEMORY_SOURCES,
                _ => text,
            };
            fs::write(path, text).map_err(failed)?;
        }
        Ok(folder)
    }

    /// Folder of all events.
    pub fn full(&self) -> PathBuf {
        self.0.join("full")
    }

    /// Folder of files without an event.
    pub fn empty(&self) -> PathBuf {
        self.0.join("empty")
    }

    /// Folder of the SPL programs, named as their namespace.
    pub fn programs(&self) -> PathBuf {
        self.0.join("examples/nexmark")
    }

    /// Beginning of the names of results.
    pub fn results(&self, of: &str) -> PathBuf {
        self.all_results().join(of)
    }

    fn all_results(&self) -> PathBuf {
        self.0.join("results")
    }
}

impl Drop for EventFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files whose names begin with a path, in the order of their names.
///
/// # Errors
/// The folder cannot be read.
pub fn files_of(prefix: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::system("list results", error);
    let folder = prefix.parent().unwrap_or(Path::new("."));
    let name = prefix.file_name().unwrap_or_default().to_string_lossy();
    let files = fs::read_dir(folder).map_err(failed)?;
    let files = files.map(|file| file.map(|file| file.path()));
    let mut files: Vec<PathBuf> = files.collect::<Result<_, _>>().map_err(failed)?;
    files.retain(|file| {
        let own = file.file_name().unwrap_or_default().to_string_lossy();
        own.starts_with(&*name)
    });
    files.sort();
    Ok(files)
}
