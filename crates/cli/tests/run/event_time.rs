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

fn check(plans: &[Vec<&str>]) {
    for program in programs() {
        let fused = lines(&program, &[]);
        for options in plans {
            assert_eq!(lines(&program, options), fused, "{program} {options:?}");
        }
    }
}

#[test]
fn watermarks_cross_every_medium() {
    let mut plans: Vec<_> = media()
        .map(|medium| vec!["--fuse", "none", "-F", medium])
        .collect();
    // Frames of both codecs are bytes to a medium: one that batches and one that does not.
    plans.extend(["shm", "rum"].map(|medium| {
        let mut options = vec!["--fuse", "none", "-F", medium];
        options.extend(["--codec", "normal"]);
        options
    }));
    check(&plans);
}

#[test]
fn watermarks_pass_queues() {
    let dedicated = vec!["--threading", "dedicated"];
    check(&[
        dedicated.clone(),
        [&dedicated[..], &["--interpret"]].concat(),
        [&dedicated[..], &["--fuse", "none"]].concat(),
    ]);
}
