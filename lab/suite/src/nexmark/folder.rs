//! The folder of events, programs and results, which is removed when the benchmark ends. Folders of
//! benchmarks that were killed are removed by the next one.

use std::fs;
use std::path::{Path, PathBuf};

use control::Error;
use nexmark::GeneratorOptions;

use super::programs::{MEMORY_SOURCES, PROGRAMS};

/// A folder in memory, if the system has one, else among temporary files.
pub struct EventFolder(PathBuf);

/// Beginning of the folder's name, before the number of the process.
const PREFIX: &str = "thalweg-nexmark-";

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
        remove_left_folders(&parent);
        let folder = EventFolder(parent.join(format!("{PREFIX}{}", std::process::id())));
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

/// Removes folders of processes that are there no longer, as far as the system lets us.
fn remove_left_folders(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let process = process.and_then(|number| number.parse::<u32>().ok());
        if process.is_some_and(|number| !Path::new(&format!("/proc/{number}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_alone_are_removed() {
        let own = std::process::id();
        let parent = std::env::temp_dir().join(format!("thalweg-folders-{own}"));
        // No process has this number: it is above the most that the kernel gives.
        let names = ["4194305".to_owned(), own.to_string(), "x".to_owned()];
        let folders = names.map(|name| parent.join(format!("{PREFIX}{name}")));
        for folder in &folders {
            fs::create_dir_all(folder.join("full")).unwrap();
        }
        remove_left_folders(&parent);
        assert_eq!(
            folders.each_ref().map(|folder| folder.exists()),
            [false, true, true]
        );
        fs::remove_dir_all(&parent).unwrap();
    }
}
