//! The files of events, of programs and of results, in memory where the system has files there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nexmark::GeneratorOptions;

use crate::{BoxError, ScratchFolder, scratch_folder};

/// Folders of a comparison, which are removed when it ends.
pub struct EventFiles {
    /// Removes the files when it is dropped.
    _scratch: ScratchFolder,
    folder: PathBuf,
    options: GeneratorOptions,
}

/// Folder of files in memory.
const MEMORY: &str = "/dev/shm";

impl EventFiles {
    /// Generates a number of events in the published settings, and an input without any.
    ///
    /// # Errors
    /// The system cannot write the files.
    pub fn new(events: u64) -> Result<EventFiles, BoxError> {
        let scratch = ScratchFolder::new()?;
        let folder = match Path::new(MEMORY).is_dir() {
            true => Path::new(MEMORY).join(format!("{}nexmark", scratch.name())),
            false => scratch_folder::folder(scratch.name()).join("nexmark"),
        };
        let options = GeneratorOptions {
            events,
            ..GeneratorOptions::default()
        };
        let files = EventFiles {
            _scratch: scratch,
            folder,
            options,
        };
        for (folder, events) in [(files.full(), events), (files.empty(), 0)] {
            fs::create_dir_all(&folder)?;
            let options = GeneratorOptions {
                events,
                ..files.options.clone()
            };
            nexmark::write_folder(&folder, &options)?;
        }
        fs::create_dir_all(files.results_folder())?;
        Ok(files)
    }

    /// Folder of all events.
    pub fn full(&self) -> PathBuf {
        self.folder.join("full")
    }

    /// Folder of files without an event.
    pub fn empty(&self) -> PathBuf {
        self.folder.join("empty")
    }

    /// Beginning of the names of results of an engine, of which there is none yet.
    ///
    /// # Errors
    /// Results of an earlier run cannot be removed.
    pub fn new_results(&self, engine: &str) -> io::Result<PathBuf> {
        self.remove_results()?;
        Ok(self.results_folder().join(engine))
    }

    /// Removes the results of all engines.
    ///
    /// # Errors
    /// The system cannot remove them.
    pub fn remove_results(&self) -> io::Result<()> {
        fs::remove_dir_all(self.results_folder())?;
        fs::create_dir_all(self.results_folder())
    }

    /// Event time of the last event, in milliseconds since 1970.
    pub fn last_ms(&self) -> i64 {
        let last = self.options.events.saturating_sub(1);
        self.options.start_ms + (last * 1000 / self.options.rate) as i64
    }

    fn results_folder(&self) -> PathBuf {
        self.folder.join("results")
    }
}
