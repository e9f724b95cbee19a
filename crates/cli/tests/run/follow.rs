//! Files, streams and terminals that are followed while a program writes or reads them.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, PipeWriter, Read, Write, pipe};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::processes::{Live, terminal};
use crate::scratch::{Scratch, command};

/// Everything in one process, and every operator in one of its own.
const PLANS: [&str; 2] = ["all", "none"];

/// Writes what comes in by standard input into a file, line by line.
fn copying(file: &str) -> String {
    format!(
        r#"composite Main {{ graph
            stream<rstring line> In = FileSource() {{ param file : "/dev/stdin"; format : line; }}
            () as Out = FileSink(In) {{ param file : "{file}"; format : line; }}
        }}"#
    )
}

/// The command that runs a program, and what writes to its standard input.
fn fed(scratch: &Scratch, program: &str, plan: &str) -> (std::process::Command, PipeWriter) {
    let file = scratch.write("Main.spl", program);
    let folder = scratch.path("");
    let mut run = command(&["run", file.to_str().unwrap(), "--fuse", plan]);
    let (reader, writer) = pipe().unwrap();
    run.args(["--data-dir", folder.to_str().unwrap()])
        .stdin(reader);
    (run, writer)
}

#[test]
fn what_a_sink_holds_gets_out_although_nothing_more_comes() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let fifo = scratch.path("out");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (run, mut writer) = fed(&scratch, &copying("out"), plan);
        let live = Live::of(&scratch, run);
        let mut out = BufReader::new(File::open(&fifo).unwrap());
        // Each line is written only when the one before it has come.
        for text in ["one\n", "two\n"] {
            writer.write_all(text.as_bytes()).unwrap();
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert_eq!(line, text);
        }
        drop(writer);
        live.end().ok();
    }
}

#[test]
fn a_sink_on_standard_output_gets_out_although_nothing_more_comes() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let (run, mut writer) = fed(&scratch, &copying("/dev/stdout"), plan);
        let mut live = Live::of(&scratch, run);
        for text in ["one\n", "two\n"] {
            writer.write_all(text.as_bytes()).unwrap();
            assert_eq!(live.line(), text);
        }
        drop(writer);
        live.end().ok();
    }
}

/// Prints a part of a line for each tuple.
const PARTS: &str = r#"composite Main { graph
    stream<rstring line> In = FileSource() { param file : "/dev/stdin"; format : line; }
    () as Out = Custom(In) { logic onTuple In : printString(line); }
}"#;

#[test]
fn a_terminal_shows_what_is_printed_at_once() {
    let scratch = Scratch::new();
    let (mut shown, screen) = terminal();
    let (mut run, mut writer) = fed(&scratch, PARTS, "all");
    let mut child = run.stdout(screen).spawn().unwrap();
    drop(run);
    for part in ["one", "two"] {
        writer.write_all(format!("{part}\n").as_bytes()).unwrap();
        let mut bytes = [0; 3];
        shown.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, part.as_bytes());
    }
    drop(writer);
    assert!(child.wait().unwrap().success());
}

#[test]
fn sinks_on_standard_error_leave_what_is_in_its_file() {
    let scratch = Scratch::new();
    let program = r#"composite Main { graph
        stream<uint64 n> In = Beacon() { param iterations : 2; output In : n = IterationCount(); }
        stream<In> Said = Custom(In) { logic onTuple In : {
            appLog(Log.warn, "before " + (rstring) n);
            submit(In, Said);
        } }
        () as Out = FileSink(Said) { param file : "/dev/stderr"; }
    }"#;
    let stderr = scratch.write("stderr", "what was there\n");
    let file = OpenOptions::new().append(true).open(&stderr).unwrap();
    let main = scratch.write("Main.spl", program);
    let mut run = command(&["run", main.to_str().unwrap()]);
    assert!(run.stderr(file).status().unwrap().success());
    let said = scratch.read("stderr");
    let ends: Vec<&str> = said
        .lines()
        .map(|line| line.rsplit("Said ").next().unwrap())
        .collect();
    assert_eq!(
        ends,
        ["what was there", "before 0", "0", "before 1", "1"],
        "{said}"
    );
}

/// Follows a file, and says what it reads and where a file ended.
const FOLLOWING: &str = r#"composite Main { graph
    (stream<rstring line, int64 number> In; stream<rstring name, int32 status> Ended) = FileSource() {
        param file : "log"; format : line; hotFile : true;
        output In : number = TupleNumber();
    }
    () as Out = Custom(In; Ended) { logic
        onTuple In : printStringLn(line + " " + (rstring) number);
        onPunct In : if (currentPunct() == Sys.WindowMarker) { printStringLn("marker"); }
        onTuple Ended : printStringLn("status " + (rstring) status);
    }
}"#;

/// Follows a file that begins with a text, and what writes to its standard input.
fn following(scratch: &Scratch, text: &str) -> (Live, PipeWriter) {
    append(scratch, "log", text);
    let (run, writer) = fed(scratch, FOLLOWING, "all");
    (Live::of(scratch, run), writer)
}

fn append(scratch: &Scratch, name: &str, text: &str) {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).open(scratch.path(name));
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_hot_file_that_is_renamed_is_read_to_its_end_and_then_the_new_one() {
    let scratch = Scratch::new();
    let (mut live, _writer) = following(&scratch, "a\nb\n");
    let mut expect = |lines: &[&str]| {
        for line in lines {
            assert_eq!(live.line(), format!("{line}\n"));
        }
    };
    expect(&["a 1", "b 2"]);
    std::fs::rename(scratch.path("log"), scratch.path("log.1")).unwrap();
    append(&scratch, "log.1", "c\n");
    expect(&["c 3"]);
    // The new file is there, but who writes has not gone over to it.
    append(&scratch, "log", "");
    append(&scratch, "log.1", "d\n");
    expect(&["d 4"]);
    append(&scratch, "log.1", "half");
    append(&scratch, "log", "e\n");
    expect(&["half 5", "marker", "status 0", "e 1"]);
    append(&scratch, "log", "f\n");
    expect(&["f 2"]);
    // And once more: the new one takes the name at once.
    append(&scratch, "new", "g\n");
    std::fs::rename(scratch.path("new"), scratch.path("log")).unwrap();
    expect(&["marker", "status 0", "g 1"]);
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn a_hot_file_whose_name_is_gone_goes_on() {
    let scratch = Scratch::new();
    let (mut live, _writer) = following(&scratch, "a\n");
    assert_eq!(live.line(), "a 1\n");
    let mut file = OpenOptions::new()
        .append(true)
        .open(scratch.path("log"))
        .unwrap();
    std::fs::remove_file(scratch.path("log")).unwrap();
    file.write_all(b"b\n").unwrap();
    assert_eq!(live.line(), "b 2\n");
    std::fs::create_dir(scratch.path("log")).unwrap();
    file.write_all(b"c\n").unwrap();
    assert_eq!(live.line(), "c 3\n");
    live.signal(Signal::INT);
    live.end().ok();
}
