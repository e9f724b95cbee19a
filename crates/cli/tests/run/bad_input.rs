//! Bad input gets one clear sentence that says where, a failing status, and loses nothing that was
//! written before.

use std::fs::File;

use crate::scratch::{Run, Scratch, command, thalweg};

/// Copies a csv file of an int32 and an rstring to another one.
fn copy(parsing: &str) -> String {
    format!(
        r#"composite Main {{
            graph
                stream<int32 n, rstring s> In = FileSource() {{
                    param file : "in.csv"; {parsing}
                }}
                () as Out = FileSink(In) {{ param file : "out.csv"; }}
        }}"#
    )
}

const INPUT: &str = "1,one\n2,two\nthree,\"3\"\n4,four\n";

#[test]
fn strict_parsing_says_file_line_column_attribute_and_text() {
    let scratch = Scratch::new();
    scratch.write("in.csv", INPUT);
    let stderr = scratch.run(&copy(""), &[]).fails(1);
    assert!(
        stderr.contains("in.csv:3:1: attribute n: expected a value of type int32, found 'three'\n"),
        "{stderr}"
    );
    assert_eq!(scratch.read("out.csv"), "1,\"one\"\n2,\"two\"\n");
}

#[test]
fn permissive_parsing_logs_and_goes_on() {
    let scratch = Scratch::new();
    scratch.write("in.csv", INPUT);
    let run = scratch.run(&copy("parsing : permissive;"), &[]);
    assert!(run.stderr.contains("in.csv:3:1"), "{}", run.stderr);
    run.ok();
    assert_eq!(
        scratch.read("out.csv"),
        "1,\"one\"\n2,\"two\"\n4,\"four\"\n"
    );
}

#[test]
fn fast_parsing_does_not_look() {
    let scratch = Scratch::new();
    scratch.write("in.csv", INPUT);
    let run = scratch.run(&copy("parsing : fast;"), &[]);
    run.ok();
    assert_eq!(scratch.read("out.csv").lines().count(), 4);
}

#[test]
fn missing_files_are_named() {
    let scratch = Scratch::new();
    let stderr = scratch.run(&copy(""), &[]).fails(1);
    assert!(
        stderr.contains("in.csv for reading: No such file or directory"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn folders_are_not_files() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("in.csv")).unwrap();
    let stderr = scratch.run(&copy(""), &[]).fails(1);
    assert!(stderr.contains("in.csv for reading"), "{stderr}");
    assert!(stderr.contains("directory"), "{stderr}");
}

#[test]
fn a_missing_data_directory_is_bad_usage() {
    let stderr = thalweg(&["run", "examples/hello/Hello.spl", "-d", "/no/such/folder"]).fails(2);
    assert!(stderr.contains("/no/such/folder"), "{stderr}");
}

#[test]
fn a_full_disk_ends_the_program() {
    let scratch = Scratch::new();
    scratch.write("in.csv", "1,one\n");
    let program = copy("").replace("out.csv", "/dev/full");
    let stderr = scratch.run(&program, &[]).fails(1);
    assert!(
        stderr.contains("cannot write to /dev/full: No space left on device"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

/// The writer may be the operator's own process or the launcher.
#[test]
fn a_full_standard_output_is_said_on_every_plan() {
    let scratch = Scratch::new();
    let program = r#"composite Main {
        graph
            stream<int32 n> In = Beacon() { param iterations : 1000; }
            () as Out = Custom(In) { logic onTuple In : println(n); }
    }"#;
    let program = scratch.write("Main.spl", program);
    for fuse in ["all", "none"] {
        let mut run = command(&["run", program.to_str().unwrap(), "--fuse", fuse]);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let stderr = Run::from(run.stdout(full).output().unwrap()).fails(1);
        assert!(
            stderr.contains("cannot write to standard output: No space left on device"),
            "{fuse}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{fuse}: {stderr}");
    }
}

/// A standard error on a full disk, as by `2>log`: only what is written to it is lost.
#[test]
fn a_full_standard_error_changes_nothing() {
    let scratch = Scratch::new();
    let noted = r#"composite Main {
        graph
            stream<uint64 n> In = Beacon() {
                param iterations : 3000000;
                output In : n = IterationCount();
            }
            () as Out = Custom(In) {
                logic
                    state : mutable uint64 seen = 0lu;
                    onTuple In : { seen++; if (n == 0lu) { appTrc(Trace.error, "the first"); } }
                    onPunct In : if (currentPunct() == Sys.FinalMarker) { println(seen); }
            }
    }"#;
    let noted = scratch.write("Main.spl", noted);
    let wrong = scratch.write(
        "Wrong.spl",
        "composite Wrong { graph stream<int32 n> In = }",
    );
    let none = scratch.path("none.spl");
    let run = |what: &str, args: &[&str]| {
        let mut run = command(&[&[what], args].concat());
        let full = File::options().write(true).open("/dev/full").unwrap();
        Run::from(run.stderr(full).output().unwrap())
    };
    let noted = noted.to_str().unwrap();
    for fuse in ["all", "none"] {
        let args = [noted, "--fuse", fuse, "nobody=1"];
        // A job that is shut down early has fewer.
        assert_eq!(run("run", &args).ok(), "3000000\n", "{fuse}");
        // Something is said before the run, and at its beginning.
        let said = thalweg(&[&["run"], &args[..]].concat()).stderr;
        assert!(said.contains("warning[unused-value]"), "{fuse}: {said}");
        assert!(said.contains("the first"), "{fuse}: {said}");
    }
    assert_eq!(run("run", &["--nonsense"]).status, 2);
    for (what, program) in [("run", wrong.as_path()), ("check", &wrong), ("run", &none)] {
        let failed = run(what, &[program.to_str().unwrap()]);
        assert_eq!(failed.status, 1, "{what} {}", program.display());
    }
}

#[test]
fn a_full_disk_is_ignored_if_the_program_says_so() {
    let scratch = Scratch::new();
    scratch.write("in.csv", "1,one\n");
    let program = copy("").replace("\"out.csv\"", "\"/dev/full\"; writeFailureAction : ignore");
    scratch.run(&program, &[]).ok();
}

#[test]
fn a_fault_in_one_operator_loses_nothing_that_others_accepted() {
    let scratch = Scratch::new();
    let program = r#"composite Main {
        graph
            stream<int32 n> In = Beacon() {
                param iterations : 10;
                output In : n = (int32) IterationCount();
            }
            () as Kept = FileSink(In) { param file : "kept.csv"; }
            stream<int32 n> Divided = Functor(In) {
                output Divided : n = 12 / (5 - n);
            }
            () as Out = FileSink(Divided) { param file : "out.csv"; }
    }"#;
    for backend in [&[][..], &["--interpret"]] {
        let stderr = scratch.run(program, backend).fails(1);
        assert!(stderr.contains("Main.spl:9:38"), "{stderr}");
        assert!(stderr.contains("division by zero"), "{stderr}");
        assert_eq!(scratch.read("kept.csv"), "0\n1\n2\n3\n4\n5\n");
        assert_eq!(scratch.read("out.csv"), "2\n3\n4\n6\n12\n");
    }
}

/// A plan or program that has no end is reported, and the command does not wait for it.
#[test]
fn files_without_an_end_are_given_up() {
    let scratch = Scratch::new();
    let program = copy("");
    let stderr = scratch.run(&program, &["--fuse", "/dev/zero"]).fails(2);
    let why = "cannot read the plan /dev/zero: it has more than 64 MB, or no end; --fuse takes";
    assert!(stderr.contains(why), "{stderr}");
    let stderr = scratch.run(&program, &["--fuse", "/"]).fails(2);
    assert!(
        stderr.contains("cannot read the plan /: is a directory"),
        "{stderr}"
    );
    for (args, why) in [
        (["run", "/dev/zero"], "it has more than 64 MB, or no end"),
        (["check", "/dev/zero"], "it has more than 64 MB, or no end"),
        (["fmt", "/dev/zero"], "it has more than 64 MB, or no end"),
        (["run", "/"], "is a directory"),
    ] {
        let run = thalweg(&args);
        assert_ne!(run.status, 0, "{args:?}");
        assert!(run.stderr.contains(why), "{args:?}: {}", run.stderr);
    }
}
