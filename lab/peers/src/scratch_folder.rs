//! The files of a turn, removed when the turn has ended, however it ends.
//!
//! A peer may create files below its [`folder`], and files in `/dev/shm` that begin with
//! the name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A unique name and a folder of that name; all files of the name are removed when it is dropped.
pub struct ScratchFolder {
    name: String,
}

/// The folder with named shared memory.
const SHM_FOLDER: &str = "/dev/shm";

static NEXT: AtomicU32 = AtomicU32::new(0);

impl ScratchFolder {
    /// Creates a folder with a new name.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new() -> io::Result<ScratchFolder> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thalweg-peers-{}-{number}.", std::process::id());
        fs::create_dir_all(folder(&name))?;
        Ok(ScratchFolder { name })
    }

    /// The name; it ends with a dot, so that no name begins with another.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The path of the folder of a name.
pub fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(folder(&self.name));
        for entry in fs::read_dir(SHM_FOLDER).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&self.name) {
                remove(&entry.path());
            }
        }
    }
}

/// Removes a file, or a folder with its content; a missing one is no error.
fn remove(path: &Path) {
    if path.is_dir() {
        let _ = fs::remove_dir_all(path);
    } else {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_cleared_away_and_nothing_else() {
        let (mine, other) = (ScratchFolder::new().unwrap(), ScratchFolder::new().unwrap());
        let left = [
            folder(mine.name()).join("socket"),
            Path::new(SHM_FOLDER).join(format!("{}data", mine.name())),
        ];
        left.iter().for_each(|path| fs::write(path, "x").unwrap());
        let kept = Path::new(SHM_FOLDER).join(format!("{}data", other.name()));
        fs::write(&kept, "x").unwrap();
        drop(mine);
        assert!(left.iter().all(|path| !path.exists()));
        assert!(kept.exists());
        drop(other);
        assert!(!kept.exists());
    }
}
