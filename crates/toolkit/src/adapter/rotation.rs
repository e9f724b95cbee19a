//! The files that take the name of a file that is read, as when logs are rotated.
//!
//! Each is opened as soon as it is seen, even while it is empty: what is written into it is read
//! though it has lost the name again by then. The writer may go on with the file before it, which
//! counts as left only when a later one has something in it.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

use runtime::retry_interrupted;

use super::stop_waiter::{InodeId, InterruptibleFile, StopWaiter};

/// Number of empty successors that are kept open at most; when there are more, the first ones are
/// closed.
const SUCCESSORS_MAX: usize = 16;

/// Follows the name of a file that is read as it grows.
pub struct FileRotation {
    path: PathBuf,
    stop_waiter: StopWaiter,
    /// Ids of the file that is read and of its successors.
    known_ids: VecDeque<InodeId>,
    /// The successors of the file that is read, in the order in which they were seen.
    successors: VecDeque<InterruptibleFile>,
}

impl FileRotation {
    /// Follows a file that was opened by this name.
    pub fn new(path: PathBuf, file: InodeId, stop_waiter: &StopWaiter) -> FileRotation {
        FileRotation {
            path,
            stop_waiter: stop_waiter.clone(),
            known_ids: [file].into(),
            successors: VecDeque::new(),
        }
    }

    /// Looks what has the name; whether a later file has something in it. As long as the name leads
    /// nowhere, or to something that cannot be read on, nothing has changed.
    pub fn is_replaced(&mut self) -> bool {
        self.find_successor();
        self.successors.iter().any(has_bytes)
    }

    fn find_successor(&mut self) {
        let found = retry_interrupted(|| fs::metadata(&self.path));
        let Some(id) = found.ok().as_ref().and_then(InodeId::from_metadata) else {
            return;
        };
        if self.known_ids.contains(&id) {
            return;
        }
        let Ok(file) = InterruptibleFile::open(&self.path, &self.stop_waiter) else {
            return;
        };
        // Another file may have the name by now.
        let Ok(Some(id)) = file.id() else {
            return;
        };
        if self.known_ids.contains(&id) {
            return;
        }
        if self.successors.len() == SUCCESSORS_MAX {
            self.successors.pop_front();
            self.known_ids.remove(1);
        }
        self.known_ids.push_back(id);
        self.successors.push_back(file);
    }

    /// The first later file with something in it, and what came after that.
    pub fn into_next(mut self) -> Option<(InterruptibleFile, FileRotation)> {
        loop {
            let file = self.successors.pop_front()?;
            self.known_ids.pop_front();
            if has_bytes(&file) {
                return Some((file, self));
            }
        }
    }
}

fn has_bytes(file: &InterruptibleFile) -> bool {
    retry_interrupted(|| file.file.metadata()).is_ok_and(|found| found.len() > 0)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use runtime::StopSignal;

    use super::*;

    fn following(path: &Path, stop_waiter: &StopWaiter) -> FileRotation {
        let file = InterruptibleFile::open(path, stop_waiter).unwrap();
        FileRotation::new(path.to_owned(), file.id().unwrap().unwrap(), stop_waiter)
    }

    fn text(file: &mut InterruptibleFile) -> String {
        let mut text = String::new();
        file.file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_file_that_was_seen_empty_is_read_though_its_name_is_gone() {
        let folder = std::env::temp_dir().join(format!("thalweg-rotation-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        let stop_waiter = StopWaiter::new(&StopSignal::default()).unwrap();
        fs::write(at("log"), "a").unwrap();
        let mut rotation = following(&at("log"), &stop_waiter);
        assert!(!rotation.is_replaced());
        fs::rename(at("log"), at("log.1")).unwrap();
        assert!(!rotation.is_replaced(), "the name leads nowhere");
        fs::write(at("log"), "").unwrap();
        assert!(
            !rotation.is_replaced(),
            "the writer has not gone over to it"
        );
        fs::write(at("log"), "b").unwrap();
        fs::rename(at("log"), at("log.2")).unwrap();
        fs::write(at("log"), "c").unwrap();
        assert!(rotation.is_replaced());
        let (mut second, mut rotation) = rotation.into_next().unwrap();
        assert_eq!(text(&mut second), "b");
        assert!(rotation.is_replaced());
        let (mut third, mut rotation) = rotation.into_next().unwrap();
        assert_eq!(text(&mut third), "c");
        assert!(!rotation.is_replaced());
        fs::rename(at("log.1"), at("log")).unwrap();
        let mut back = following(&at("log"), &stop_waiter);
        assert!(!back.is_replaced(), "it is the file itself");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn empty_files_are_passed_over() {
        let folder = std::env::temp_dir().join(format!("thalweg-empty-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("log");
        let stop_waiter = StopWaiter::new(&StopSignal::default()).unwrap();
        fs::write(&path, "a").unwrap();
        let mut rotation = following(&path, &stop_waiter);
        for turn in 0..2 * SUCCESSORS_MAX {
            fs::rename(&path, folder.join(format!("log.{turn}"))).unwrap();
            fs::write(&path, "").unwrap();
            assert!(!rotation.is_replaced());
        }
        fs::write(&path, "b").unwrap();
        assert!(rotation.is_replaced());
        let (mut last, _) = rotation.into_next().unwrap();
        assert_eq!(text(&mut last), "b");
        fs::remove_dir_all(folder).unwrap();
    }
}
