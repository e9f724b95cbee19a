//! The suite against the medium `mpi`: in one process, and with 2 to 4 ranks under mpirun.
//!
//! Where OpenMPI's mpicc and mpirun are missing (Debian: openmpi-bin, libopenmpi-dev), the tests
//! say `PASSED OVER` and test nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longest time in seconds that a step, and a whole behaviour, may take.
const LONG: [&str; 4] = ["--timeout", "300", "--deadline", "1800"];

/// Behaviours in which a process dies.
const DEATHS: usize = 9;

/// The library, compiled once; `None`: OpenMPI is missing, which is said.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let is_there = |program: &str| {
            let version = Command::new(program).arg("--version").output();
            version.is_ok_and(|done| done.status.success())
        };
        (is_there("mpicc") && is_there("mpirun")).then(compile)
    });
    if library.is_none() {
        eprintln!("PASSED OVER: mpicc or mpirun is missing (Debian: openmpi-bin, libopenmpi-dev)");
    }
    library.as_deref()
}

fn compile() -> PathBuf {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/plugin");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libthalweg_medium_mpi.so");
    let done = Command::new("mpicc")
        .args([
            "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I",
        ])
        .arg(plugin.join("include"))
        .arg(plugin.join("media/mpi.c"))
        .arg("-o")
        .arg(&library)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    library
}

/// A folder for what MPI keeps while it runs: its sockets and segments of memory.
struct SessionFolder(PathBuf);

impl SessionFolder {
    fn new() -> SessionFolder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thalweg-mpi-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        SessionFolder(folder)
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        // A killed process leaves files of MPI in it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks the library; the behaviours that passed.
fn passes(options: &[&str], level: &str, passed_over: usize) -> usize {
    let Some(library) = library() else {
        return usize::MAX;
    };
    let session = SessionFolder::new();
    let done = Command::new(env!("CARGO_BIN_EXE_thalweg-conformance"))
        .arg("check")
        .arg(library)
        .args(LONG)
        .args(options)
        .env("THALWEG_MPI_THREADS", level)
        .env("TMPDIR", &session.0)
        .env("OMPI_MCA_btl_vader_backing_directory", &session.0)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .unwrap();
    let report = String::from_utf8(done.stdout).unwrap();
    assert!(
        done.status.success(),
        "{report}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let count = |word: &str| report.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!(count("PASSED OVER"), passed_over, "{report}");
    count("passed   ")
}

#[test]
fn one_process_shows_every_behaviour_of_one() {
    assert!(passes(&[], "serialized", DEATHS + 3) >= 45);
}

#[test]
fn four_ranks_show_every_behaviour() {
    let ranks = ["--launcher", "mpirun --oversubscribe -n 4"];
    assert!(passes(&ranks, "serialized", DEATHS) >= 48);
}

#[test]
fn ranks_exchange_frames_by_one_thread() {
    let ranks = [
        "--launcher",
        "mpirun --oversubscribe -n 2",
        "--only",
        "a_child_",
    ];
    assert!(passes(&ranks, "funneled", 0) >= 3);
}

#[test]
fn one_process_wakes_its_ends_by_one_thread() {
    assert!(passes(&["--only", "_wakes_"], "funneled", 0) >= 5);
}
