//! Where counters lie: one folder a user, in it one a job.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::legend::JobNote;
use super::process::Process;

/// The folder of a running job; removed with all that is in it when this is dropped.
pub struct JobFolder(PathBuf);

/// How often a folder is tried to be made.
const TRIES: u32 = 10;

/// What says who a job is.
pub const NOTE: &str = "job.json";

/// What the counters of PEs end in.
pub const COUNTERS: &str = "counters";

/// Where this user's jobs are: `$XDG_RUNTIME_DIR/thalweg`, or `thalweg-UID` below the temporary
/// folder.
pub fn runtime_folder() -> PathBuf {
    let given = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match given.filter(|folder| folder.is_absolute() && folder.is_dir()) {
        Some(folder) => folder.join("thalweg"),
        None => {
            let user = rustix::process::getuid().as_raw();
            std::env::temp_dir().join(format!("thalweg-{user}"))
        }
    }
}

impl JobFolder {
    /// Makes a folder for a job of this process, and removes those whose processes have ended.
    /// `None` if there can be none: the job runs without.
    pub fn new(all: &Path, name: &str, pes: u32) -> Option<JobFolder> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let process = Process::own()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = all.join(format!("{process}-{number}"));
        // A job that ends may remove the empty folder of all jobs in between.
        (0..TRIES).find(|_| private(all).and_then(|()| private(&path)).is_ok())?;
        let folder = JobFolder(path);
        remove_stale(all);
        let note = JobNote::new(process.pid, name, pes);
        // Whoever looks sees all of it or nothing.
        let half = folder.0.join("job.new");
        fs::write(&half, serde_json::to_vec(&note).ok()?).ok()?;
        fs::rename(half, folder.0.join(NOTE)).ok()?;
        Some(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// The counters file of a PE.
pub fn counters(job: &Path, pe: u32) -> PathBuf {
    job.join(format!("pe{pe}")).with_extension(COUNTERS)
}

/// The folders of jobs that run.
pub fn jobs(all: &Path) -> Vec<PathBuf> {
    let folders = folders(all).into_iter();
    let alive = folders.filter(|(_, process)| process.is_alive());
    alive.map(|(path, _)| path).collect()
}

impl Drop for JobFolder {
    fn drop(&mut self) {
        // What cannot be removed now, the next job removes.
        let _ = fs::remove_dir_all(&self.0);
        if let Some(all) = self.0.parent() {
            // Only the last job finds it empty.
            let _ = fs::remove_dir(all);
        }
    }
}

fn folders(all: &Path) -> Vec<(PathBuf, Process)> {
    let entries = fs::read_dir(all).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let process = Process::of_name(entry.file_name().to_str()?)?;
        Some((entry.path(), process))
    });
    named.collect()
}

fn remove_stale(all: &Path) {
    for (path, process) in folders(all) {
        if !process.is_alive() {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Makes a folder that is this user's alone, or finds that it is.
fn private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    let found = fs::symlink_metadata(path)?;
    let is_own = found.uid() == rustix::process::getuid().as_raw();
    if found.is_dir() && is_own && found.mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let name = format!("thalweg-folder-{}-{name}", std::process::id());
        std::env::temp_dir().join(name)
    }

    #[test]
    fn a_job_has_its_folder_while_it_lives_and_removes_dead_ones() {
        let all = scratch("life");
        private(&all).unwrap();
        let own = Process::own().unwrap();
        let dead = all.join(format!("{}-{}-0", own.pid, own.began - 1));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("pe0.counters"), "").unwrap();
        let one = JobFolder::new(&all, "One", 1).unwrap();
        let two = JobFolder::new(&all, "Two", 1).unwrap();
        assert!(!dead.exists());
        let mut found = jobs(&all);
        found.sort();
        assert_eq!(found, [one.path(), two.path()]);
        drop(one);
        assert_eq!(jobs(&all), [two.path()]);
        drop(two);
        assert!(!all.exists());
    }

    #[test]
    fn a_folder_that_others_can_reach_is_not_used() {
        let all = scratch("open");
        fs::create_dir(&all).unwrap();
        fs::set_permissions(&all, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(JobFolder::new(&all, "Job", 1).is_none());
        let link = scratch("link");
        symlink(&all, &link).unwrap();
        fs::set_permissions(&all, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(JobFolder::new(&link, "Job", 1).is_none());
        fs::remove_file(link).unwrap();
        fs::remove_dir(all).unwrap();
        assert!(JobFolder::new(&scratch("no/such"), "Job", 1).is_none());
    }
}
