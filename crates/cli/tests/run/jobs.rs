//! Jobs of several PEs: how they begin, stop and fail, and that nothing is left of them.

use std::process::Command;

use rustix::process::Signal;

use crate::processes::{Live, Process, media, until};
use crate::scratch::{Scratch, thalweg};

/// Three PEs in a row; says when it runs, and goes on.
const ENDLESS: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() {
            param period : 0.001;
            output In : n = IterationCount();
        }
        stream<In> Middle = Functor(In) {}
        () as Out = Custom(Middle) {
            logic onTuple Middle : {
                if (n == 0ul) { printStringLn("running"); }
            }
        }
        () as File = FileSink(Middle) { param file : "out.csv"; flush : 1u; }
}"#;

/// A job of the program, from when it runs.
fn started(scratch: &Scratch, program: &str, args: &[&str]) -> (Live, Vec<Process>) {
    let file = scratch.write("Main.spl", program);
    let folder = scratch.path("");
    let common = [
        "run",
        file.to_str().unwrap(),
        "--data-dir",
        folder.to_str().unwrap(),
        "--fuse",
        "none",
    ];
    let mut live = Live::start(scratch, &[&common, args].concat());
    assert_eq!(live.line(), "running\n");
    let pes = live.pes();
    (live, pes)
}

#[test]
fn a_pe_that_is_killed_ends_the_job_with_one_sentence() {
    let who = ["(In)", "(Middle)", "(Out)", "(File)"];
    for medium in media() {
        for (number, operators) in who.iter().enumerate() {
            let scratch = Scratch::new();
            let (live, pes) = started(&scratch, ENDLESS, &["-F", medium]);
            assert_eq!(pes.len(), who.len());
            pes[number].signal(Signal::KILL);
            let stderr = live.end().fails(1);
            let sentence =
                format!("thalweg: pe {number} {operators}: killed by signal 9 (SIGKILL)\n");
            assert_eq!(stderr, sentence, "{medium}");
            pes.iter().for_each(Process::is_gone);
        }
    }
}

#[test]
fn a_launcher_that_is_killed_takes_its_pes_with_it() {
    let scratch = Scratch::new();
    let (live, pes) = started(&scratch, ENDLESS, &[]);
    live.signal(Signal::KILL);
    live.end();
    pes.iter().for_each(Process::is_gone);
}

#[test]
fn a_pe_that_does_not_react_is_killed_after_a_failure() {
    let scratch = Scratch::new();
    let (live, pes) = started(&scratch, ENDLESS, &[]);
    pes[0].signal(Signal::STOP);
    pes[1].signal(Signal::ABORT);
    let stderr = live.end().fails(1);
    let sentence = "thalweg: pe 1 (Middle): killed by signal 6 (SIGABRT)\n";
    assert_eq!(stderr, sentence);
    pes.iter().for_each(Process::is_gone);
}

#[test]
fn an_interrupt_drains_the_job() {
    for medium in media() {
        let scratch = Scratch::new();
        let (live, pes) = started(&scratch, ENDLESS, &["-F", medium]);
        live.signal(Signal::INT);
        live.end().ok();
        pes.iter().for_each(Process::is_gone);
        let written = scratch.read("out.csv");
        let expected: String = (0..written.lines().count())
            .map(|n| format!("{n}\n"))
            .collect();
        assert!(written == expected && !written.is_empty(), "{medium}");
    }
}

#[test]
fn a_signal_for_all_processes_drains_the_job() {
    for signal in [Signal::INT, Signal::TERM, Signal::QUIT] {
        let scratch = Scratch::new();
        let (live, pes) = started(&scratch, ENDLESS, &[]);
        pes.iter().for_each(|pe| pe.signal(signal));
        live.signal(signal);
        live.end().ok();
        pes.iter().for_each(Process::is_gone);
    }
}

/// `env` gives the signal back to a command that was started with it ignored, as `nohup` starts
/// tests.
#[test]
fn a_terminal_that_is_closed_drains_the_job() {
    for (given, is_drained) in [
        ("--default-signal=HUP", true),
        ("--ignore-signal=HUP", false),
    ] {
        let scratch = Scratch::new();
        let file = scratch.write("Main.spl", ENDLESS);
        let mut command = Command::new("env");
        command.args([given, env!("CARGO_BIN_EXE_thalweg"), "run", "--data-dir"]);
        command.arg(scratch.path("")).arg(file);
        let mut live = Live::of(&scratch, command);
        assert_eq!(live.line(), "running\n");
        live.signal(Signal::HUP);
        if !is_drained {
            // Were it heard, this would be a second signal, which ends the job at once.
            live.signal(Signal::TERM);
        }
        live.end().ok();
        assert!(!scratch.read("out.csv").is_empty(), "all is written");
    }
}

#[test]
fn a_signal_for_one_pe_drains_the_job() {
    for (pe, signal) in [(0, Signal::TERM), (1, Signal::INT), (2, Signal::QUIT)] {
        let scratch = Scratch::new();
        let (live, pes) = started(&scratch, ENDLESS, &[]);
        pes[pe].signal(signal);
        live.end().ok();
        pes.iter().for_each(Process::is_gone);
        assert!(!scratch.read("out.csv").is_empty(), "all is written");
    }
}

#[test]
fn a_second_interrupt_kills_the_job() {
    let scratch = Scratch::new();
    let (live, pes) = started(&scratch, ENDLESS, &[]);
    pes[1].signal(Signal::STOP);
    live.signal(Signal::INT);
    live.signal(Signal::INT);
    live.signal(Signal::TERM);
    let status = live.end().status;
    assert!(status == 130 || status == 143, "{status}");
    assert!(
        !pes.iter().any(Process::is_alive),
        "they end before it does"
    );
}

/// PEs that do not run cannot answer; they end all the same, and before the launcher does.
#[test]
fn a_further_signal_ends_pes_that_are_stopped() {
    for medium in media() {
        let scratch = Scratch::new();
        let (live, pes) = started(&scratch, ENDLESS, &["-F", medium]);
        pes.iter().for_each(|pe| pe.signal(Signal::STOP));
        live.signal(Signal::INT);
        live.signal(Signal::TERM);
        let run = live.end();
        assert!(!pes.iter().any(Process::is_alive), "{medium}");
        // Either may be heard first.
        assert!([130, 143].contains(&run.status), "{medium}: {run:?}");
        assert_eq!((&*run.stdout, &*run.stderr), ("", ""), "{medium}");
    }
}

/// Before a PE has asked to end with its launcher, or has read anything.
#[test]
fn a_further_signal_ends_pes_that_have_just_been_started() {
    for _ in 0..10 {
        let scratch = Scratch::new();
        let file = scratch.write("Main.spl", ENDLESS);
        let (file, folder) = (file.to_str().unwrap(), scratch.path(""));
        // A PE may get as far as its file.
        let data = ["--data-dir", folder.to_str().unwrap()];
        let args = ["run", file, "--fuse", "none"];
        let live = Live::start(&scratch, &[&args[..], &data].concat());
        let mut seen: Vec<Process> = Vec::new();
        until("there is a PE", || {
            seen = live.children();
            !seen.is_empty()
        });
        seen.iter().for_each(|pe| pe.signal(Signal::STOP));
        live.signal(Signal::INT);
        live.signal(Signal::TERM);
        live.end();
        assert!(!seen.iter().any(Process::is_alive));
    }
}

#[test]
fn a_shutdown_in_one_pe_ends_the_job() {
    let program = ENDLESS.replace(r#""running");"#, r#""running"); shutdownPE();"#);
    let scratch = Scratch::new();
    let (live, pes) = started(&scratch, &program, &[]);
    live.end().ok();
    pes.iter().for_each(Process::is_gone);
}

#[test]
fn kill_after_shuts_all_pes_down() {
    let scratch = Scratch::new();
    let args = ["--fuse", "none", "--kill-after", "0.2"];
    let printed = scratch.run(ENDLESS, &args).ok();
    // On a slow machine nothing may have been sent by then.
    assert!(["", "running\n"].contains(&&*printed), "{printed}");
    let written = scratch.read("out.csv");
    let first = "0\n1\n";
    assert!(written.starts_with(first) || first.starts_with(&written));
}

#[test]
fn a_fault_has_the_same_sentence_and_the_pe() {
    let program = r#"composite Main {
        graph
            stream<int32 n> In = Beacon() { param iterations : 10; output In : n = (int32) IterationCount(); }
            stream<int32 n> Bad = Functor(In) { output Bad : n = 10 / (5 - n); }
            () as Out = Custom(Bad) { logic onTuple Bad : println(n); }
    }"#;
    let scratch = Scratch::new();
    let fused = scratch.run(program, &[]).fails(1);
    let sentence = fused.strip_prefix("thalweg: ").unwrap();
    for medium in media() {
        let run = scratch.run(program, &["--fuse", "none", "-F", medium]);
        assert_eq!(
            run.fails(1),
            format!("thalweg: pe 1: {sentence}"),
            "{medium}"
        );
    }
}

#[test]
fn what_cannot_be_set_up_is_said_before_anything_runs() {
    let program = r#"composite Main {
        graph
            stream<int32 n> In = Beacon() { param iterations : 1; }
            () as Said = Custom(In) { logic onTuple In : printStringLn("ran"); }
            () as Out = FileSink(In) { param file : "no/such/folder/out.csv"; }
    }"#;
    let scratch = Scratch::new();
    let fused = scratch.run(program, &[]).fails(1);
    let sentence = fused.strip_prefix("thalweg: ").unwrap();
    let run = scratch.run(program, &["--fuse", "none"]);
    assert_eq!((run.stdout.as_str(), run.status), ("", 1));
    assert_eq!(run.stderr, format!("thalweg: pe 2: {sentence}"));
}

#[test]
fn output_is_tagged_on_request_and_messages_always() {
    let program = r#"composite Main {
        graph
            stream<int32 n> In = Beacon() { param iterations : 2; output In : n = (int32) IterationCount(); }
            () as Out = Custom(In) {
                logic onTuple In : {
                    println(n);
                    if (n == 1) { appTrc(Trace.error, "odd"); }
                }
            }
    }"#;
    let scratch = Scratch::new();
    let run = scratch.run(program, &["--fuse", "none"]);
    assert_eq!(run.stdout, "0\n1\n");
    assert!(run.stderr.starts_with("[pe 1] "), "{}", run.stderr);
    assert!(run.stderr.ends_with(" ERROR Out odd\n"), "{}", run.stderr);
    let run = scratch.run(program, &["--fuse", "none", "--tag-output"]);
    assert_eq!(run.stdout, "[pe 1] 0\n[pe 1] 1\n");
}

#[test]
fn a_reader_that_goes_away_ends_all_pes_quietly() {
    let program = r#"composite Main { graph
        stream<uint64 n> In = Beacon() { output In : n = IterationCount(); }
        () as Out = Custom(In) { logic onTuple In : println(n); }
    }"#;
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", program);
    let mut child = crate::scratch::command(&["run", file.to_str().unwrap(), "--fuse", "none"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_pe_is_not_started_by_hand() {
    let stderr = thalweg(&["pe", "0", "Main"]).fails(1);
    assert_eq!(stderr, "thalweg: this command is for `thalweg run`\n");
}
