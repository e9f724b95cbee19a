//! Every program below `examples/` gives what its `expected.txt` says, compiled and interpreted;
//! every file there is in the canonical layout.

use std::fs;
use std::path::PathBuf;

use crate::scratch::{root, thalweg};

/// Paths of the example programs with an `expected.txt`, in order of their names. The queries of
/// `examples/nexmark`, which have none, are tested in `nexmark`; the VWAP application with 332
/// operators, which would be 332 processes in many tests, in `vwap`.
pub fn programs() -> Vec<PathBuf> {
    let mut programs = files();
    programs.retain(|program| {
        program.with_file_name("expected.txt").exists() && !program.ends_with("Vwap332.spl")
    });
    assert!(programs.len() >= 9, "{programs:?}");
    programs
}

/// Paths of all SPL files below `examples/`, in order of their names.
fn files() -> Vec<PathBuf> {
    let folders = fs::read_dir(root().join("examples")).unwrap().flatten();
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "spl"))
        .collect();
    files.sort();
    files
}

fn check(options: &[&str]) {
    for program in programs() {
        let expected = fs::read_to_string(program.with_file_name("expected.txt")).unwrap();
        let run = thalweg(&[&["run", program.to_str().unwrap()], options].concat());
        assert_eq!(run.stderr, "", "{program:?}");
        assert_eq!(run.status, 0, "{program:?}");
        assert!(run.stdout == expected, "{program:?} gives\n{}", run.stdout);
    }
}

#[test]
fn compiled_examples_give_what_they_should() {
    check(&[]);
}

#[test]
fn interpreted_examples_give_what_they_should() {
    check(&["--interpret"]);
}

#[test]
fn examples_are_in_the_canonical_layout() {
    let files = files();
    let files: Vec<_> = files.iter().map(|path| path.to_str().unwrap()).collect();
    let run = thalweg(&[&["fmt", "--check"], &files[..]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[test]
fn every_stage_of_every_example_can_be_printed() {
    for program in programs() {
        for stage in ["tokens", "tree", "typed", "graph", "plan", "clif", "asm"] {
            let run = thalweg(&["dump", "--stage", stage, program.to_str().unwrap()]);
            assert_eq!(run.status, 0, "{stage} of {program:?}: {}", run.stderr);
            assert!(!run.stdout.is_empty(), "{stage} of {program:?}");
        }
        for format in ["dot", "svg"] {
            let program = program.to_str().unwrap();
            let run = thalweg(&["dump", "--stage", "graph", "--format", format, program]);
            assert_eq!(run.status, 0, "{format} of {program:?}: {}", run.stderr);
        }
    }
}
