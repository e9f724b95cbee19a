//! How `thalweg bench` finds `thalweg-bench`, and `thalweg-bench` the command that it measures.

use std::path::Path;
use std::process::Command;

use crate::scratch::{Run, Scratch, command, thalweg_command};

const BENCH: &str = env!("CARGO_BIN_EXE_thalweg-bench");

/// Copies a command into a folder of the test, so that no other command lies beside it.
fn copy_alone(scratch: &Scratch, binary: &Path) -> Command {
    let copy = scratch.path(binary.file_name().unwrap().to_str().unwrap());
    std::fs::copy(binary, &copy).unwrap();
    Command::new(copy)
}

#[test]
fn without_the_binary_it_is_said_how_to_build_it() {
    let scratch = Scratch::new();
    for word in ["bench", "calibrate", "perf"] {
        let mut alone = copy_alone(&scratch, thalweg_command());
        let alone = alone.args([word, "--help"]).env("PATH", "/nonexistent");
        let said = Run::from(alone.output().unwrap()).fails(1);
        assert_eq!(
            said,
            "thalweg: there is no `thalweg-bench` beside this command or in PATH; build it with \
             `cargo build --release -p thalweg-bench`\n"
        );
    }
}

#[test]
fn the_binary_is_found_in_path() {
    let scratch = Scratch::new();
    let mut alone = copy_alone(&scratch, thalweg_command());
    let alone = alone.args(["bench", "--help"]);
    let alone = alone.env("PATH", Path::new(BENCH).parent().unwrap());
    let help = Run::from(alone.output().unwrap()).ok();
    assert!(help.contains("Usage: thalweg bench <COMMAND>"), "{help}");
}

#[test]
fn a_benchmark_without_thalweg_says_how_to_build_it() {
    let scratch = Scratch::new();
    let mut alone = copy_alone(&scratch, Path::new(BENCH));
    let alone = alone.arg("operators").env("PATH", "/nonexistent");
    let said = Run::from(alone.output().unwrap()).fails(1);
    let says = "thalweg: there is no `thalweg` beside this command or in PATH";
    assert!(said.starts_with(says), "{said}");
}

#[test]
fn the_command_that_was_called_is_the_one_that_is_measured() {
    let measured = command(&["bench", "throughput", "--path", "shm", "--json"])
        .args(["--size", "64", "--codec", "facade", "--tuples", "2000"])
        .env("THALWEG_COMMAND", "/nonexistent/thalweg")
        .output()
        .unwrap();
    let printed = Run::from(measured).ok();
    assert!(printed.contains("\"bench\": \"throughput\""), "{printed}");
}
