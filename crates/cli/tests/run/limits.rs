//! Pipes with a name that nobody opens, and files that may not grow: what holds a program up or
//! stops it, and how it ends.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::Signal;

use crate::processes::Live;
use crate::scratch::{Run, Scratch, root};

/// A pipe that processes find by its name.
fn pipe(scratch: &Scratch) -> PathBuf {
    let path = scratch.path("pipe");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    path
}

fn start(scratch: &Scratch, program: &str, args: &[&str]) -> Live {
    let file = scratch.write("Main.spl", program);
    let folder = scratch.path("");
    let fixed = [
        "run",
        file.to_str().unwrap(),
        "--data-dir",
        folder.to_str().unwrap(),
    ];
    Live::start(scratch, &[&fixed, args].concat())
}

/// Interrupts a run once and waits for its end.
fn interrupted(live: Live) -> Run {
    live.signal(Signal::INT);
    live.end()
}

const PLANS: [&[&str]; 2] = [&[], &["--fuse", "none"]];

/// Says that it runs, and reads the pipe.
const SOURCE: &str = r#"composite Main { graph
    () as Said = Custom() { logic onProcess : printStringLn("running"); }
    stream<rstring line> In = FileSource() { param file : "pipe"; format : line; OPTIONS }
    () as Out = Custom(In) { logic onTuple In : printStringLn(line); }
}"#;

#[test]
fn a_source_whose_pipe_nobody_writes_is_interrupted_in_order() {
    for options in ["", "compression : gzip;", "hotFile : false;"] {
        for plan in PLANS {
            let scratch = Scratch::new();
            pipe(&scratch);
            let mut live = start(&scratch, &SOURCE.replace("OPTIONS", options), plan);
            assert_eq!(live.line(), "running\n");
            assert_eq!(interrupted(live).ok(), "", "{options} {plan:?}");
        }
    }
}

#[test]
fn a_source_reads_a_pipe_that_is_written_later() {
    let scratch = Scratch::new();
    let path = pipe(&scratch);
    let mut live = start(&scratch, &SOURCE.replace("OPTIONS", ""), &[]);
    assert_eq!(live.line(), "running\n");
    std::fs::write(&path, "one\ntwo\n").unwrap();
    assert_eq!(live.end().ok(), "one\ntwo\n");
}

#[test]
fn a_hot_pipe_is_read_from_one_writer_after_the_other() {
    let scratch = Scratch::new();
    let path = pipe(&scratch);
    let mut live = start(&scratch, &SOURCE.replace("OPTIONS", "hotFile : true;"), &[]);
    assert_eq!(live.line(), "running\n");
    for line in ["one\n", "two\n"] {
        std::fs::write(&path, line).unwrap();
        assert_eq!(live.line(), line);
    }
    interrupted(live).ok();
}

/// Says that it runs, and writes lines into the pipe until it is interrupted, or so many.
const SINK: &str = r#"composite Main { graph
    () as Said = Custom() { logic onProcess : printStringLn("running"); }
    stream<rstring line> Lines = Beacon() { ITERATIONS output Lines : line = "x" * 1000; }
    () as Out = FileSink(Lines) { param file : "pipe"; format : line; }
}"#;

fn sink(iterations: &str) -> String {
    let line = format!("\"{}\"", "x".repeat(1000));
    SINK.replace("\"x\" * 1000", &line)
        .replace("ITERATIONS", iterations)
}

#[test]
fn a_sink_whose_pipe_nobody_reads_is_interrupted_in_order() {
    for iterations in ["", "param iterations : 0;", "param iterations : 1;"] {
        for plan in PLANS {
            let scratch = Scratch::new();
            pipe(&scratch);
            let mut live = start(&scratch, &sink(iterations), plan);
            assert_eq!(live.line(), "running\n");
            let run = interrupted(live);
            let why = "nobody has opened the pipe pipe for reading: nothing is written";
            assert!(run.stderr.contains(why), "{iterations} {plan:?}: {run:?}");
            run.ok();
        }
    }
}

/// Waits until a pipe that has a reader takes no more.
fn wait_until_full(path: &Path) {
    let pipe = OpenOptions::new().write(true).open(path).unwrap();
    let has_room = || {
        let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLOUT)];
        poll(&mut fds, PollTimeout::ZERO).unwrap() > 0
    };
    while has_room() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// One whose reader is there and does not read: it gets what fits.
#[test]
fn a_sink_whose_pipe_is_full_is_interrupted_in_order() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let path = pipe(&scratch);
        let mut live = start(&scratch, &sink(""), plan);
        assert_eq!(live.line(), "running\n");
        let _reader = File::open(&path).unwrap();
        wait_until_full(&path);
        let stderr = interrupted(live).fails(1);
        assert!(
            stderr.contains("the peer does not read, and a shutdown"),
            "{stderr}"
        );
    }
}

#[test]
fn a_sink_waits_for_who_reads_its_pipe() {
    for (iterations, count) in [
        ("param iterations : 5000;", 5000),
        ("param iterations : 0;", 0),
    ] {
        let scratch = Scratch::new();
        let path = pipe(&scratch);
        let mut live = start(&scratch, &sink(iterations), &[]);
        assert_eq!(live.line(), "running\n");
        let mut text = String::new();
        File::open(&path)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text.lines().count(), count);
        live.end().ok();
    }
}

/// Runs a program that may write so many kilobytes into a file.
fn limited(scratch: &Scratch, program: &Path, args: &[&str]) -> Run {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -f 64; exec \"$@\"", "sh"])
        .args([env!("CARGO_BIN_EXE_thalweg"), "run"])
        .arg(program)
        .args(["--data-dir", scratch.path("").to_str().unwrap()])
        .args(args)
        .current_dir(root());
    command.output().unwrap().into()
}

#[test]
fn a_file_that_may_not_grow_is_a_fault() {
    let program = sink("param iterations : 1000;").replace("\"pipe\"", "\"out\"");
    for plan in [&[][..], &["--fuse", "none", "-F", "tcp"]] {
        let scratch = Scratch::new();
        let file = scratch.write("Main.spl", &program);
        let stderr = limited(&scratch, &file, plan).fails(1);
        assert!(
            stderr.contains("/out: File too large"),
            "{plan:?}: {stderr}"
        );
        assert!(!scratch.read("out").is_empty(), "what fits is there");
    }
    // The memory that processes share is a file, too.
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", &program);
    let stderr = limited(&scratch, &file, &["--fuse", "none", "-F", "shm"]).fails(1);
    assert!(stderr.contains("File too large"), "{stderr}");
}
