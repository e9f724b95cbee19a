//! The sub-commands, their exit statuses and what they print.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::scratch::{Scratch, command, thalweg};

const ENDLESS: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() {
            param period : 0.01;
            output In : n = IterationCount();
        }
        () as Out = FileSink(In) { param file : "out.csv"; }
        () as Said = Custom(In) {
            logic onTuple In : if (n == 0ul) { printStringLn("running"); }
        }
}"#;

#[test]
fn bad_usage_has_status_two() {
    thalweg(&["run"]).fails(2);
    thalweg(&["run", "examples/hello/Hello.spl", "no-value"]).fails(2);
    thalweg(&["dump", "--stage", "soup", "examples/hello/Hello.spl"]).fails(2);
}

#[test]
fn stages_between_text_and_graph_are_printed() {
    let dump = |stage| thalweg(&["dump", "--stage", stage, "examples/hello/Hello.spl"]).ok();
    let symbols = dump("symbols");
    assert!(
        symbols.contains("composite Hello  examples/hello/Hello.spl:"),
        "{symbols}"
    );
    let instances = dump("instances");
    assert!(
        instances.contains("\n  in #0 as Greetings: rstring greeting"),
        "{instances}"
    );
    let scratch = Scratch::new();
    scratch.write("Main.spl", "composite Main { graph () as S = Custm() {} }");
    let file = scratch.path("Main.spl");
    let stderr = thalweg(&["dump", "--stage", "instances", file.to_str().unwrap()]).fails(1);
    assert!(stderr.contains("unknown-operator"), "{stderr}");
}

/// A value that cannot be is bad usage, and what could be is said.
#[test]
fn plans_that_cannot_be_are_bad_usage() {
    let wrong = [
        (
            ["--fuse", "nonee"],
            "--fuse takes all, none, spl, cola or a file with a plan",
        ),
        (
            ["-F", "shmem"],
            "there is no transport `shmem`; there are auto, shm, rum, tcp, rdma, rum-rdma",
        ),
        (
            ["-F", "ring"],
            "`ring` joins threads, not processes; there are auto, shm",
        ),
        (
            ["--rdma", "mode=best"],
            "there is no mode `best`; there are write, channel and batch",
        ),
        (
            ["--rdma", "provider=tcp,gid=3"],
            "`gid` is a setting of the provider verbs; the provider tcp has none",
        ),
        (
            ["--pin", "1-2"],
            "must be numbers of cores with commas between, as in `0,2`",
        ),
        (
            ["--pin", "5000"],
            "--pin: there is no core 5000 to run on; there are ",
        ),
        (
            ["--kill-after", "-1"],
            "must be a number of seconds, 0 or more",
        ),
    ];
    for (options, sentence) in wrong {
        let run = thalweg(&[&["run"], &options[..], &["examples/hello/Hello.spl"]].concat());
        let stderr = run.fails(2);
        assert!(stderr.contains(sentence), "{options:?}: {stderr}");
    }
    // As SPL writes it.
    thalweg(&[
        "run",
        "-F",
        "TCP",
        "--fuse",
        "none",
        "examples/hello/Hello.spl",
    ])
    .ok();
}

#[test]
fn a_missing_program_has_status_one() {
    let stderr = thalweg(&["run", "no/such/Program.spl"]).fails(1);
    assert_eq!(
        stderr,
        "thalweg: cannot read no/such/Program.spl: No such file or directory (os error 2)\n"
    );
}

#[test]
fn check_reports_every_error_of_a_file() {
    let scratch = Scratch::new();
    let file = scratch.write(
        "Wrong.spl",
        "composite Main {\n    graph\n        stream<int32 n> A = Beacn() {}\n        \
         stream<int32 n> B = Functor(C) {}\n}\n",
    );
    let stderr = thalweg(&["check", file.to_str().unwrap()]).fails(1);
    assert!(stderr.contains("did you mean `Beacon`?"), "{stderr}");
    assert!(stderr.contains("2 errors"), "{stderr}");
}

#[test]
fn check_speaks_json() {
    let scratch = Scratch::new();
    let file = scratch.write("Wrong.spl", "composite Main {\n    graph\n        x\n}\n");
    let run = thalweg(&["check", "--json", file.to_str().unwrap()]);
    assert_eq!(run.status, 1);
    let findings: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let first = &findings[0];
    assert_eq!(first["severity"], "error");
    assert_eq!(first["file"], file.to_str().unwrap());
    assert!(first["line"].is_u64() && first["column"].is_u64());
    let fine = thalweg(&["check", "--json", "examples/hello/Hello.spl"]);
    assert_eq!((fine.status, fine.stdout.trim()), (0, "[]"));
}

#[test]
fn fmt_rewrites_a_file_in_place() {
    let scratch = Scratch::new();
    let file = scratch.write(
        "A.spl",
        "composite Main{graph stream<int32 n> A=Beacon(){}}",
    );
    let name = file.to_str().unwrap();
    thalweg(&["fmt", "--check", name]).fails(1);
    thalweg(&["fmt", name]).ok();
    thalweg(&["fmt", "--check", name]).ok();
    assert!(
        scratch
            .read("A.spl")
            .starts_with("composite Main {\n    graph\n")
    );
}

#[test]
fn new_projects_run() {
    let scratch = Scratch::new();
    let folder = scratch.path("my-app");
    thalweg(&["new", folder.to_str().unwrap()]).ok();
    let program = folder.join("MyApp.spl");
    let program = program.to_str().unwrap();
    assert_eq!(thalweg(&["run", program]).ok(), "river 3\nvalley 2\n");
    assert_eq!(thalweg(&["run", program, "atLeast=3"]).ok(), "river 3\n");
    thalweg(&["fmt", "--check", program]).ok();
    thalweg(&["new", folder.to_str().unwrap()]).fails(1);
}

#[test]
fn doc_describes_operators_and_functions() {
    assert!(thalweg(&["doc", "Aggregate"]).ok().contains("Average"));
    let default_tuple = "defaultTuple: a tuple of output port 0 (evaluated once)";
    assert!(thalweg(&["doc", "FileSource"]).ok().contains(default_tuple));
    let default_tuple = "defaultTupleRHS: a tuple of input port 1 (evaluated once)";
    assert!(thalweg(&["doc", "Join"]).ok().contains(default_tuple));
    assert!(
        thalweg(&["doc", "sqrt"])
            .ok()
            .contains("<numeric T> T sqrt(T f)")
    );
    assert!(thalweg(&["doc"]).ok().contains("spl.relational::Join"));
    assert!(
        thalweg(&["doc", "Agregate"])
            .fails(1)
            .contains("did you mean Aggregate?")
    );
}

#[test]
fn submission_and_compile_time_values_reach_the_program() {
    let scratch = Scratch::new();
    let program = r#"composite Main {
        param expression<rstring> $who : getSubmissionTimeValue("who");
        graph
            () as Out = Custom() {
                logic onProcess : printStringLn($who + getCompileTimeValue("mark", "?"));
            }
    }"#;
    assert_eq!(
        scratch.run(program, &["who=you", "-D", "mark=!"]).ok(),
        "you!\n"
    );
    assert_eq!(scratch.run(program, &["who=you"]).ok(), "you?\n");
    let stderr = scratch.run(program, &[]).fails(1);
    assert!(stderr.contains("who"), "{stderr}");
}

#[test]
fn kill_after_shuts_down_in_order() {
    let scratch = Scratch::new();
    let begun = Instant::now();
    let printed = scratch.run(ENDLESS, &["--kill-after", "0.3"]).ok();
    assert!(begun.elapsed() >= Duration::from_millis(300));
    // On a slow machine nothing may have been sent by then; what was sent is written.
    let written = scratch.read("out.csv");
    let whole: String = (0..written.lines().count())
        .map(|n| format!("{n}\n"))
        .collect();
    assert_eq!(written, whole);
    assert!(["", "running\n"].contains(&&*printed), "{printed}");
    assert!(written.is_empty() || printed == "running\n");
}

#[test]
fn an_interrupt_shuts_down_in_order() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", ENDLESS);
    let folder = scratch.path("");
    let args = [
        "run",
        file.to_str().unwrap(),
        "--data-dir",
        folder.to_str().unwrap(),
    ];
    let mut child = command(&args).stdout(Stdio::piped()).spawn().unwrap();
    // It has begun once it says so.
    let mut line = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
    assert_eq!(line, "running\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(scratch.read("out.csv").starts_with("0\n"));
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let scratch = Scratch::new();
    let file = scratch.write(
        "Main.spl",
        r#"composite Main { graph
            stream<uint64 n> In = Beacon() { output In : n = IterationCount(); }
            () as Out = Custom(In) { logic onTuple In : println(n); }
        }"#,
    );
    let mut child = command(&["run", file.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(1));
}
