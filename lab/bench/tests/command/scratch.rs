//! A folder of one test, and the command run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A new folder, removed with all that is in it when the test ends.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder with a new name.
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thalweg-bench-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file as text.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Exit status and output of a run.
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

/// Byte that glibc writes over freed memory, so that a program which still reads it fails.
const FREED_BYTE: &str = "165";

/// The `thalweg` command beside `thalweg-bench`. The first test that asks builds it from this tree,
/// since cargo builds only the commands of the package under test. It is built as tests of the
/// whole workspace build it, with the features that all packages ask of their libraries together:
/// after those nothing is left to build.
pub fn thalweg_command() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_thalweg-bench"))
            .parent()
            .unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args([
            "build",
            "--quiet",
            "--workspace",
            "--bin",
            "thalweg",
            "--test",
            "run",
        ]);
        build.arg("--target-dir").arg(folder.parent().unwrap());
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let status = build.current_dir(root()).status().unwrap();
        assert!(status.success(), "thalweg-cli is not built: {status}");
        folder.join("thalweg")
    });
    &BUILT
}

/// The `thalweg` command with these arguments, to be started in the project's folder.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(thalweg_command());
    command
        .args(args)
        .env_remove("THALWEG_TOOLKIT_PATH")
        .env("MALLOC_PERTURB_", FREED_BYTE)
        .current_dir(root());
    command
}

/// Runs the `thalweg` command to its end.
pub fn thalweg(args: &[&str]) -> Run {
    command(args).output().unwrap().into()
}

/// The folder of the project.
fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap()
}
