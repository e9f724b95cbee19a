//! `thalweg tap` for running jobs: on all plans, by compiled code and by operators in Rust.

use rustix::process::Signal;
use serde_json::Value;

use crate::processes::{Live, until};
use crate::scratch::{Run, Scratch, thalweg};

/// A source in compiled code, a stream that nothing but compiled code sees, one that an operator in
/// Rust sends, and a slow one of which no tuple may be missing.
const PROGRAM: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() { output In : n = IterationCount(); }
        stream<uint64 n, rstring s> Even = Custom(In) {
            logic onTuple In : { if (n % 2ul == 0ul) { submit({n = n, s = "n" + (rstring) n}, Even); } }
        }
        stream<Even> Delayed = Custom(Even) {
            logic state : mutable uint64 count = 0ul;
                  onTuple Even : { if (count++ % 100000ul == 0ul) { submit(Even, Delayed); } }
        }
        stream<Delayed> Kept = DeDuplicate(Delayed) { param timeOut : 1.0; }
        stream<uint64 i> Slow = Beacon() { param period : 0.05; output Slow : i = IterationCount(); }
        () as Out = Custom(Kept; Slow) { logic onTuple Kept : { } onTuple Slow : { if (i == 0ul) { printStringLn("running"); } } }
}"#;

const PLANS: [&[&str]; 5] = [
    &["--fuse", "all"],
    &["--fuse", "none"],
    &["--fuse", "all", "--threading", "dedicated"],
    &["--fuse", "all", "--threading", "dynamic"],
    &["--fuse", "all", "--interpret"],
];

fn started(scratch: &Scratch, args: &[&str]) -> Live {
    let file = scratch.write("Main.spl", PROGRAM);
    let args = [&["run", file.to_str().unwrap()], args].concat();
    let mut live = Live::start(scratch, &args);
    assert_eq!(live.line(), "running\n");
    until("the job has counters", || {
        let top = thalweg(&["top", "--once", &live.pid().to_string()]);
        top.status == 0
    });
    live
}

fn tap(live: &Live, args: &[&str]) -> Run {
    let job = live.pid().to_string();
    thalweg(&[&["tap", &job], args].concat())
}

fn json_lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.map(|line| line.expect("an object")).collect()
}

fn number(line: &Value, attribute: &str) -> u64 {
    line[attribute].as_u64().expect("a number")
}

#[test]
fn any_stream_of_any_plan_shows_tuples_as_they_were_submitted() {
    for plan in PLANS {
        let scratch = Scratch::new();
        let live = started(&scratch, &[plan, &["--taps"]].concat());
        for stream in ["In", "Even", "Delayed", "Kept"] {
            let run = tap(&live, &[stream, "-n", "5", "--format", "json"]);
            assert!(run.stderr.starts_with("note: 5 of "), "{}", run.stderr);
            let lines = json_lines(&run.ok());
            assert_eq!(lines.len(), 5, "{plan:?} {stream}");
            let numbers: Vec<u64> = lines.iter().map(|line| number(line, "n")).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{plan:?} {stream}");
            if stream != "In" {
                for line in &lines {
                    assert_eq!(line["s"], format!("n{}", number(line, "n")).as_str());
                }
            }
        }
        live.signal(Signal::INT);
        live.end().ok();
    }
}

#[test]
fn of_a_slow_stream_no_tuple_is_missing() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--taps"]);
    let lines = json_lines(&tap(&live, &["Slow", "-n", "12", "--format", "json"]).ok());
    let first = number(&lines[0], "i");
    let expected: Vec<u64> = (first..first + 12).collect();
    let numbers: Vec<u64> = lines.iter().map(|line| number(line, "i")).collect();
    assert_eq!(numbers, expected);
    let csv = tap(&live, &["Even", "-n", "1", "--format", "csv"]).ok();
    let (n, s) = csv.trim_end().split_once(',').expect("two values");
    assert_eq!(s, format!("\"n{n}\""));
    let txt = tap(&live, &["Even", "-n", "1"]).ok();
    assert!(txt.starts_with("{n=") && txt.ends_with("\"}\n"), "{txt}");
}

#[test]
fn eight_commands_may_tap_and_who_is_killed_leaves_a_free_place() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--taps"]);
    let job = live.pid().to_string();
    let endless = |_| Live::start(&scratch, &["tap", &job, "Slow"]);
    let mut taps: Vec<Live> = (0..8).map(endless).collect();
    for tap in &mut taps {
        assert!(tap.line().starts_with("{i="));
    }
    let error = tap(&live, &["Slow", "-n", "1"]).fails(1);
    let sentence = "the stream Slow cannot be tapped: 8 commands tap streams of its PE already\n";
    assert_eq!(error, format!("thalweg: {sentence}"));
    // A test kills what it has started when it drops it.
    drop(taps);
    until("a place is free again", || {
        tap(&live, &["Slow", "-n", "1"]).status == 0
    });
}

#[test]
fn a_tap_ends_with_its_job_and_says_how_much_it_has_shown() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--fuse", "none", "--taps"]);
    let job = live.pid().to_string();
    let mut tapping = Live::start(&scratch, &["tap", &job, "In", "--rate", "7"]);
    assert!(tapping.line().starts_with("{n="));
    live.signal(Signal::INT);
    live.end().ok();
    let run = tapping.end();
    assert!(
        run.stderr.contains(" tuples of In were shown"),
        "{}",
        run.stderr
    );
    run.ok();
}

#[test]
fn names_that_mean_no_stream_are_answered_with_those_that_there_are() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--taps"]);
    let error = tap(&live, &["Evn"]).fails(1);
    assert!(error.ends_with("; did you mean `Even`?\n"), "{error}");
    let error = tap(&live, &["nothing"]).fails(1);
    let names = "; there are In, Even, Delayed, Kept, Slow\n";
    assert!(error.ends_with(names), "{error}");
    let error = thalweg(&["tap", "NoSuchJob", "In"]).fails(1);
    assert!(
        error.starts_with("thalweg: there is no job NoSuchJob"),
        "{error}"
    );
    thalweg(&["tap", "Main", "In", "--rate", "0"]).fails(2);
}

#[test]
fn without_taps_streams_within_compiled_code_are_refused_and_others_are_seen() {
    let scratch = Scratch::new();
    let live = started(&scratch, &[]);
    let error = tap(&live, &["Even", "-n", "1"]).fails(1);
    let sentence = "thalweg: the stream Even cannot be tapped: its tuples stay within compiled code; \
                    a job that is started with `thalweg run --taps` shows them\n";
    assert_eq!(error, sentence);
    drop(live);
    let live = started(&scratch, &["--interpret"]);
    assert!(tap(&live, &["Even", "-n", "1"]).ok().starts_with("{n="));
}
