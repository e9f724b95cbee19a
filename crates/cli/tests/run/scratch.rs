//! A folder of one test, and the command run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new folder, removed with all that is in it when the test ends.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder of its own below the temporary one.
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thalweg-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in the folder, and returns its path.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes the program to `Main.spl` and runs it with the folder as data directory.
    pub fn run(&self, program: &str, args: &[&str]) -> Run {
        let file = self.write("Main.spl", program);
        let file = file.to_str().unwrap();
        let folder = self.0.to_str().unwrap();
        thalweg(&[&["run", file, "--data-dir", folder], args].concat())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Status and output of a run of the command.
#[derive(Debug)]
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Standard output of a run that has to succeed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.status, 0, "{}", self.stderr);
        self.stdout
    }

    /// Standard error of a run that has to fail with a status.
    #[track_caller]
    pub fn fails(self, status: i32) -> String {
        assert_eq!(
            self.status, status,
            "stdout: {}\nstderr: {}",
            self.stdout, self.stderr
        );
        self.stderr
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The byte that glibc writes over freed memory, so that a program that still reads it gives wrong
/// output.
const FREED_BYTE: &str = "165";

/// The command, to be started.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command
        .args(args)
        .env_remove("THALWEG_TOOLKIT_PATH")
        .env_remove("THALWEG_MEDIA_PATH")
        // The user's calibration would change which media `auto` takes.
        .env("XDG_CACHE_HOME", "/nonexistent")
        .env("MALLOC_PERTURB_", FREED_BYTE)
        .current_dir(root());
    command
}

/// Runs the command in the project's folder.
pub fn thalweg(args: &[&str]) -> Run {
    command(args).output().unwrap().into()
}

/// The root folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .parent()
        .unwrap()
}
