//! Operators that read standard input, in the launcher's process and in others.

use std::fs::File;
use std::io::{Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::processes::{Live, terminal};
use crate::scratch::{Run, Scratch, command};

/// Prints what comes in, from another process if every operator has one.
const ECHO: &str = r#"composite Main { graph
    stream<rstring line> In = FileSource() { param file : "/dev/stdin"; format : line; }
    () as Out = Custom(In) { logic onTuple In : printStringLn(line); }
}"#;

const PLANS: [&str; 2] = ["all", "none"];

fn echo(scratch: &Scratch, plan: &str) -> Command {
    let file = scratch.write("Main.spl", ECHO);
    command(&["run", file.to_str().unwrap(), "--fuse", plan])
}

fn run(mut command: Command, stdin: impl Into<Stdio>) -> Run {
    command.stdin(stdin).output().unwrap().into()
}

#[test]
fn files_pipes_and_sockets_are_read_to_their_ends() {
    let text = b"one\ntwo\n";
    for plan in PLANS {
        let scratch = Scratch::new();
        let echo = || echo(&scratch, plan);
        let file = File::open(scratch.write("in.txt", text)).unwrap();
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(text).unwrap();
        drop(writer);
        let (socket, mut other) = UnixStream::pair().unwrap();
        other.write_all(text).unwrap();
        drop(other);
        assert_eq!(run(echo(), file).ok(), "one\ntwo\n");
        assert_eq!(run(echo(), reader).ok(), "one\ntwo\n");
        assert_eq!(run(echo(), OwnedFd::from(socket)).ok(), "one\ntwo\n");
        assert_eq!(run(echo(), Stdio::null()).ok(), "");
    }
}

#[test]
fn a_wait_for_input_ends_with_a_shutdown() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let (reader, mut writer) = pipe().unwrap();
        let mut echo = echo(&scratch, plan);
        echo.stdin(reader);
        let mut live = Live::of(&scratch, echo);
        // A line that has begun is no line yet.
        writer.write_all(b"one\ntw").unwrap();
        assert_eq!(live.line(), "one\n");
        live.signal(Signal::INT);
        assert_eq!(live.end().ok(), "");
    }
}

/// The command as the foreground job of a terminal.
fn on_terminal(scratch: &Scratch, plan: &str, terminal: OwnedFd) -> Live {
    let echo = echo(scratch, plan);
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(echo.get_program());
    command.args(echo.get_args()).stdin(terminal);
    Live::of(scratch, command)
}

#[test]
fn a_terminal_is_read_until_its_end_is_typed() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let (mut ours, theirs) = terminal();
        let live = on_terminal(&scratch, plan, theirs);
        ours.write_all(b"one\ntwo\n\x04").unwrap();
        assert_eq!(live.end().ok(), "one\ntwo\n");
    }
}

#[test]
fn ctrl_c_on_a_terminal_drains_the_job() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let (mut ours, theirs) = terminal();
        let mut live = on_terminal(&scratch, plan, theirs);
        ours.write_all(b"one\n").unwrap();
        assert_eq!(live.line(), "one\n");
        ours.write_all(b"\x03").unwrap();
        assert_eq!(live.end().ok(), "");
    }
}
