//! The files that take the name of one that is followed, as logs are rotated.
//!
//! Each is opened as soon as it is seen, even while it is empty: what is written into it is read though
//! it has lost the name again by then. The writer may go on with the file before it, which counts as
//! left only when a later one has something in it.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

use runtime::uninterrupted;

use super::alarm::{Alarm, FileId, Watched};

/// Files that are kept open while nothing is in any of them; of more the first are given up.
const KEPT_MAX: usize = 16;

/// What has taken the name of a file.
pub struct Rotation {
    path: PathBuf,
    alarm: Alarm,
    /// The file that is followed, and those that came after it.
    known: VecDeque<FileId>,
    /// Those that came after it, in the order in which they were seen.
    kept: VecDeque<Watched>,
}

impl Rotation {
    /// Of a file that was opened by this name.
    pub fn new(path: PathBuf, file: FileId, alarm: &Alarm) -> Rotation {
        Rotation {
            path,
            alarm: alarm.clone(),
            known: [file].into(),
            kept: VecDeque::new(),
        }
    }

    /// Looks what has the name; whether a later file has something in it. As long as the name leads
    /// nowhere, or to something that cannot be read on, nothing has changed.
    pub fn is_replaced(&mut self) -> bool {
        self.look();
        self.kept.iter().any(has_bytes)
    }

    fn look(&mut self) {
        let found = uninterrupted(|| fs::metadata(&self.path));
        let Some(id) = found.ok().as_ref().and_then(FileId::of) else {
            return;
        };
        if self.known.contains(&id) {
            return;
        }
        let Ok(file) = Watched::open(&self.path, &self.alarm) else {
            return;
        };
        // Another one may have the name by now.
        let Ok(Some(id)) = file.id() else {
            return;
        };
        if self.known.contains(&id) {
            return;
        }
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
            self.known.remove(1);
        }
        self.known.push_back(id);
        self.kept.push_back(file);
    }

    /// The first later file with something in it, and what came after that.
    pub fn next(mut self) -> Option<(Watched, Rotation)> {
        loop {
            let file = self.kept.pop_front()?;
            self.known.pop_front();
            if has_bytes(&file) {
                return Some((file, self));
            }
        }
    }
}

fn has_bytes(file: &Watched) -> bool {
    uninterrupted(|| file.file.metadata()).is_ok_and(|found| found.len() > 0)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use runtime::Stop;

    use super::*;

    fn following(path: &Path, alarm: &Alarm) -> Rotation {
        let file = Watched::open(path, alarm).unwrap();
        Rotation::new(path.to_owned(), file.id().unwrap().unwrap(), alarm)
    }

    fn text(file: &mut Watched) -> String {
        let mut text = String::new();
        file.file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_file_that_was_seen_empty_is_read_though_its_name_is_gone() {
        let folder = std::env::temp_dir().join(format!("thalweg-rotation-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        let alarm = Alarm::new(&Stop::default()).unwrap();
        fs::write(at("log"), "a").unwrap();
        let mut rotation = following(&at("log"), &alarm);
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
        let (mut second, mut rotation) = rotation.next().unwrap();
        assert_eq!(text(&mut second), "b");
        assert!(rotation.is_replaced());
        let (mut third, mut rotation) = rotation.next().unwrap();
        assert_eq!(text(&mut third), "c");
        assert!(!rotation.is_replaced());
        fs::rename(at("log.1"), at("log")).unwrap();
        let mut back = following(&at("log"), &alarm);
        assert!(!back.is_replaced(), "it is the file itself");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn empty_files_are_passed_over() {
        let folder = std::env::temp_dir().join(format!("thalweg-empty-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("log");
        let alarm = Alarm::new(&Stop::default()).unwrap();
        fs::write(&path, "a").unwrap();
        let mut rotation = following(&path, &alarm);
        for turn in 0..2 * KEPT_MAX {
            fs::rename(&path, folder.join(format!("log.{turn}"))).unwrap();
            fs::write(&path, "").unwrap();
            assert!(!rotation.is_replaced());
        }
        fs::write(&path, "b").unwrap();
        assert!(rotation.is_replaced());
        let (mut last, _) = rotation.next().unwrap();
        assert_eq!(text(&mut last), "b");
        fs::remove_dir_all(folder).unwrap();
    }
}
