//! Streams by MPI: the library is compiled by `thalweg medium build mpi`, and the PEs are ranks
//! under mpirun.
//!
//! Where OpenMPI's mpicc and mpirun are missing (Debian: openmpi-bin, libopenmpi-dev), the tests
//! say `PASSED OVER` and test nothing.

mod deaths;
mod hosts;
mod messages;
mod programs;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::scratch::{Run, Scratch, command, thalweg};

/// Words of a command that starts ranks; more ranks than cores, and by any user.
const MPIRUN: [&str; 2] = ["mpirun", "--oversubscribe"];

/// Folder with the library, compiled once for all tests; `None`: OpenMPI is missing, which is said.
fn library_folder() -> Option<&'static str> {
    static FOLDER: OnceLock<Option<String>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let is_there = |program: &str| {
            let version = Command::new(program).arg("--version").output();
            version.is_ok_and(|done| done.status.success())
        };
        if !is_there("mpicc") || !is_there("mpirun") {
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi");
        fs::create_dir_all(&folder).unwrap();
        let folder = folder.to_str().unwrap().to_owned();
        let built = thalweg(&["medium", "build", "mpi", "--out", &folder]).ok();
        assert_eq!(built, format!("{folder}/libthalweg_medium_mpi.so\n"));
        Some(folder)
    });
    if folder.is_none() {
        eprintln!("PASSED OVER: mpicc or mpirun is missing (Debian: openmpi-bin, libopenmpi-dev)");
    }
    folder.as_deref()
}

/// A command of mpirun with `ranks` ranks that run `thalweg` with these arguments. What OpenMPI
/// leaves behind when it is killed is in the test's folder.
fn mpirun(scratch: &Scratch, before: &[&str], ranks: usize, args: &[&str]) -> Command {
    let inner = command(args);
    let words = [before, &MPIRUN].concat();
    let mut mpirun = Command::new(words[0]);
    mpirun.args(&words[1..]);
    let folder = scratch.path("");
    mpirun
        .args(["--mca", "btl_vader_backing_directory"])
        .arg(&folder);
    mpirun.args(["-n", &ranks.to_string()]);
    mpirun.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => mpirun.env(name, value),
            None => mpirun.env_remove(name),
        };
    }
    mpirun.current_dir(crate::scratch::root());
    mpirun.env("TMPDIR", folder);
    for variable in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
        mpirun.env(variable, "1");
    }
    mpirun
}

/// Options that put streams on MPI.
fn by_mpi<'a>(folder: &'a str, fuse: &'a str) -> [&'a str; 6] {
    ["--media-path", folder, "-F", "mpi", "--fuse", fuse]
}

/// Runs a command to its end.
fn finish(mut command: Command) -> Run {
    command.output().unwrap().into()
}

/// Number of PEs of a plan for a program, by the options of the plan.
fn pe_count(file: &str, fuse: &str) -> usize {
    let plan = thalweg(&["dump", "--stage", "plan", "--fuse", fuse, file]);
    let pes = plan.stdout.lines().filter(|line| line.starts_with("pe "));
    pes.count().max(1)
}
