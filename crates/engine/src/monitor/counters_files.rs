//! Finds the counters files of this user's processes.

use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ring::counters::PROC_LINK_TARGET;

/// Paths of all counters files, below `/proc/PID/fd`. Processes that end meanwhile are left out.
pub fn counters_files() -> Vec<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let is_own = |entry: &DirEntry| entry.metadata().is_ok_and(|found| found.uid() == user);
    let processes = folder_entries(Path::new("/proc"))
        .filter(is_process)
        .filter(is_own);
    let descriptors = processes.flat_map(|process| folder_entries(&process.path().join("fd")));
    let paths = descriptors.map(|descriptor| descriptor.path());
    paths
        .filter(|path| leads_to(path, PROC_LINK_TARGET))
        .collect()
}

fn is_process(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
}

fn leads_to(path: &Path, name: &str) -> bool {
    fs::read_link(path).is_ok_and(|target| target == Path::new(name))
}

/// The entries of a folder; none if it cannot be read.
fn folder_entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use ring::counters::{CountersReader, CountersWriter};

    use super::*;

    #[test]
    fn a_file_of_this_process_is_found_as_long_as_it_is_there() {
        let metadata = format!("search test of {}", std::process::id());
        let found = || {
            let readers = counters_files()
                .into_iter()
                .filter_map(|path| CountersReader::open(&path).ok());
            readers.filter(|reader| reader.legend() == metadata).count()
        };
        assert_eq!(found(), 0);
        let writer = CountersWriter::create(1, &metadata).unwrap();
        assert_eq!(found(), 1);
        drop(writer);
        assert_eq!(found(), 0);
    }
}
