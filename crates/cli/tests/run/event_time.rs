//! Watermarks stand where they stand fused, whatever carries them: the golden programs of event
//! time on every medium, with a thread for each port, and compiled or not.

use crate::processes::media;
use crate::scratch::{root, thalweg};

/// The programs. Lines of several operators come in any order.
fn programs() -> Vec<String> {
    let folder = root().join("tests/programs/eventtime");
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let paths = files.map(|file| file.path().to_str().unwrap().to_owned());
    let mut programs: Vec<_> = paths.filter(|path| path.ends_with(".spl")).collect();
    programs.sort();
    assert!(!programs.is_empty());
    programs
}

fn lines(program: &str, options: &[&str]) -> Vec<String> {
    let run = thalweg(&[&["run", program], options].concat());
    let mut lines: Vec<_> = run.stdout.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines.push(format!("status {}", run.status));
    lines
}

fn check(options: &[&str]) {
    for program in programs() {
        let fused = lines(&program, &[]);
        assert_eq!(lines(&program, options), fused, "{program} {options:?}");
    }
}

#[test]
fn watermarks_cross_every_medium() {
    for medium in media() {
        check(&["--fuse", "none", "-F", medium]);
        check(&["--fuse", "none", "-F", medium, "--codec", "normal"]);
    }
}

#[test]
fn watermarks_pass_queues() {
    check(&["--threading", "dedicated"]);
    check(&["--threading", "dedicated", "--interpret"]);
    check(&["--threading", "dedicated", "--fuse", "none"]);
}
