//! What `thalweg top` shows of jobs.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::processes::{Live, Process, until};
use crate::scratch::{Run, Scratch, command};

/// The second operator takes no tuple but the first, until the job is stopped.
const STUCK: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() { output In : n = IterationCount(); }
        () as Out = Custom(In) {
            logic onTuple In : {
                if (n == 0ul) { printStringLn("running"); }
                block(1000000.0);
            }
        }
}"#;

fn started(scratch: &Scratch, args: &[&str]) -> Live {
    let file = scratch.write("Main.spl", STUCK);
    let mut live = Live::start(scratch, &[&["run", file.to_str().unwrap()], args].concat());
    assert_eq!(live.line(), "running\n");
    live
}

fn top(scratch: &Scratch, args: &[&str]) -> Run {
    let mut command = command(&[&["top", "--once"], args].concat());
    let command = command.env("XDG_RUNTIME_DIR", scratch.path(""));
    command.output().unwrap().into()
}

fn json(scratch: &Scratch) -> Value {
    serde_json::from_str(&top(scratch, &["--json"]).ok()).unwrap()
}

#[test]
fn a_slow_consumer_is_seen_with_who_waits_for_it() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--fuse", "none"]);
    let sender = |sample: &Value| sample["jobs"][0]["pes"][0]["links"][0].clone();
    let mut sample = Value::Null;
    until("the ring is full and that is seen", || {
        sample = json(&scratch);
        let link = sender(&sample);
        link["waiting_ns"].is_u64() && link["frames"].as_u64() > Some(0)
    });
    let job = &sample["jobs"][0];
    assert_eq!(job["job"].as_i64(), Some(live.pid().into()));
    assert_eq!(
        (&job["name"], &job["pe_count"]),
        (&"Main".into(), &2.into())
    );
    let link = sender(&sample);
    assert_eq!(
        (&link["stream"], &link["to"]),
        (&"In".into(), &vec![1].into())
    );
    assert!(link["bytes"].as_u64() > Some(0), "{link}");
    let source = &job["pes"][0]["operators"][0];
    assert_eq!(
        (&source["name"], &source["processed"]),
        (&"In".into(), &Value::Array(Vec::new()))
    );
    assert!(source["submitted"][0].as_u64() > Some(0), "{source}");

    let pid = live.pid().to_string();
    let text = top(&scratch, &[&pid]).ok();
    assert!(
        text.starts_with(&format!("Main   job {pid}   2 PEs   ")),
        "{text}"
    );
    assert!(
        text.contains("\npe 0 waits for pe 1: In is full for "),
        "{text}"
    );
    live.signal(Signal::INT);
    live.end().ok();
    assert_eq!(top(&scratch, &[]).ok(), "no job runs\n");
    let stderr = top(&scratch, &["Main"]).fails(1);
    assert_eq!(stderr, "thalweg: there is no job Main; none runs\n");
}

#[test]
fn a_job_of_one_process_is_seen_too() {
    let scratch = Scratch::new();
    let live = started(&scratch, &[]);
    until("its counters are there", || {
        json(&scratch)["jobs"][0]["pes"]
            .as_array()
            .is_some_and(|pes| pes.len() == 1)
    });
    let text = top(&scratch, &["Main"]).ok();
    assert!(text.contains("   1 PE   "), "{text}");
    assert!(text.contains("\n0   Out       Custom "), "{text}");
    live.signal(Signal::INT);
    live.end().ok();
    assert!(!scratch.path("thalweg").exists());
}

#[test]
fn what_a_killed_job_leaves_is_not_shown_and_removed_by_the_next() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--fuse", "none"]);
    let pes = live.pes();
    live.signal(Signal::KILL);
    live.end();
    pes.iter().for_each(Process::is_gone);
    let jobs = || fs::read_dir(scratch.path("thalweg")).unwrap().count();
    assert_eq!(
        (jobs(), top(&scratch, &[]).ok().as_str()),
        (1, "no job runs\n")
    );
    let live = started(&scratch, &[]);
    let own = format!("{}-", live.pid());
    until("the new job alone is left", || {
        let names = fs::read_dir(scratch.path("thalweg")).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().into_string().unwrap());
        names
            .collect::<Vec<_>>()
            .iter()
            .all(|name| name.starts_with(&own))
    });
    live.signal(Signal::INT);
    live.end().ok();
    assert!(!scratch.path("thalweg").exists());
}
