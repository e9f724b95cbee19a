//! Output of `thalweg top` for running jobs.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};
use serde_json::Value;

use crate::processes::{Live, Process, media, terminal, until};
use crate::scratch::{Run, Scratch, command, thalweg};

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

/// The output of `thalweg top` for one job: jobs of equal names may run at the same time.
fn top(pid: i32, args: &[&str]) -> Run {
    let pid = pid.to_string();
    thalweg(&[&["top", "--once", &pid], args].concat())
}

/// The output of `thalweg top --json`; null if the job has no counters yet.
fn json(live: &Live) -> Value {
    let run = top(live.pid(), &["--json"]);
    serde_json::from_str(&run.stdout).unwrap_or_default()
}

#[test]
fn a_slow_consumer_is_seen_with_who_waits_for_it() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--fuse", "none"]);
    let sender = |sample: &Value| sample["jobs"][0]["pes"][0]["links"][0].clone();
    let mut sample = Value::Null;
    until("the ring is full and that is seen", || {
        sample = json(&live);
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
    let text = top(live.pid(), &[]).ok();
    assert!(
        text.starts_with(&format!("Main   job {pid}   2 PEs   ")),
        "{text}"
    );
    assert!(
        text.contains("\npe 0 waits for pe 1: In is full for "),
        "{text}"
    );
    let number = live.pid();
    live.signal(Signal::INT);
    live.end().ok();
    let stderr = top(number, &[]).fails(1);
    let sentence = format!("thalweg: there is no job {pid}; ");
    assert!(stderr.starts_with(&sentence), "{stderr}");
}

/// Three PEs in a row: the last one takes nothing but the first tuple until the job is stopped.
#[test]
fn whoever_waits_is_seen_with_whom_for_since_when_and_who_is_to_blame() {
    let middle = "stream<In> Middle = Functor(In) {}\n        () as Out = Custom(Middle as In)";
    let program = STUCK.replace("() as Out = Custom(In)", middle);
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", program);
    let mut live = Live::start(&scratch, &["run", file.to_str().unwrap(), "--fuse", "none"]);
    assert_eq!(live.line(), "running\n");
    let waiting = |sample: &Value, pe: usize| {
        let links = sample["jobs"][0]["pes"][pe]["links"].as_array().cloned();
        let mut links = links.unwrap_or_default().into_iter();
        let link = links.find(|link| link["is_sender"] == true)?;
        link["waiting_ns"].as_u64()
    };
    let (mut sample, mut before) = (Value::Null, [None; 2]);
    until("both wait, for longer and longer", || {
        sample = json(&live);
        let now = [0, 1].map(|pe| waiting(&sample, pe));
        let mut times = std::mem::replace(&mut before, now).into_iter().zip(now);
        times.all(|(before, now)| before.is_some() && before < now)
    });
    until("who waits for whom is said", || {
        let text = top(live.pid(), &[]).ok();
        let lines = [
            "\npe 0 waits for pe 1: In is full for ",
            "\npe 1 waits for pe 2: Middle is full for ",
            "\npe 2 holds up pe 0, pe 1\n",
        ];
        lines.iter().all(|line| text.contains(line))
    });
    let end = &sample["jobs"][0]["pes"][0]["links"][0]["end"];
    assert_eq!(end["slowest"], 1, "{end}");
    assert!(end["queued_bytes"].as_u64() > Some(0), "{end}");
    live.signal(Signal::INT);
    live.end().ok();
}

/// Counts tuples, markers and something of its own, then goes on without doing more.
const COUNTED: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Custom() {
            logic onProcess : {
                for (int32 i in range(100)) {
                    submit({ n = (uint64) i }, In);
                    if (i % 10 == 9) { submit(Sys.WindowMarker, In); }
                }
                createCustomMetric("below zero", "of its own", Sys.Gauge, 0l - 3l);
                while (!isShutdown()) { block(1000000.0); }
            }
        }
        () as Out = Custom(In) {
            logic onTuple In : if (n == 99ul) { printStringLn("running"); }
            config threadedPort : queue(In, Sys.Wait, 200);
        }
}"#;

fn find<'a>(sample: &'a Value, list: &str, field: &str, name: &str) -> &'a Value {
    let pes = sample["jobs"][0]["pes"].as_array();
    let all = pes
        .into_iter()
        .flatten()
        .filter_map(|pe| pe[list].as_array());
    let found = all.flatten().find(|one| one[field] == name);
    found.unwrap_or(&Value::Null)
}

#[test]
fn markers_metrics_and_bytes_are_seen() {
    for plan in ["all", "none"] {
        let scratch = Scratch::new();
        let file = scratch.write("Main.spl", COUNTED);
        let mut live = Live::start(&scratch, &["run", file.to_str().unwrap(), "--fuse", plan]);
        assert_eq!(live.line(), "running\n");
        let mut sample = Value::Null;
        until("all is counted", || {
            sample = json(&live);
            let operator = |name| find(&sample, "operators", "name", name);
            let has_windows = operator("Out")["marks_in"][0]["windows"] == 10;
            has_windows && operator("In")["metrics"]["below zero"] == -3
        });
        let operator = |name| find(&sample, "operators", "name", name);
        assert_eq!(operator("In")["marks_out"][0]["windows"], 10);
        assert_eq!(operator("In")["marks_out"][0]["finals"], 0);
        assert_eq!(operator("Out")["processed"][0], 100);
        let queue = find(&sample, "queues", "operator", "queue of Out.0");
        assert_eq!((&queue["sent"], &queue["items"]), (&110.into(), &0.into()));
        assert_eq!(queue["bytes"], 800, "{queue}");
        assert_eq!(operator("queue of Out.0")["metrics"]["queueSize"], 200);
        let text = top(live.pid(), &[]).ok();
        assert!(text.contains("In        below zero     -3\n"), "{text}");
        live.signal(Signal::INT);
        live.end().ok();
    }
}

#[test]
fn latencies_are_measured_if_that_is_asked_for() {
    let program = r#"composite Main {
        graph
            stream<uint64 n> In = Beacon() { output In : n = IterationCount(); }
            () as Out = Custom(In) {
                logic onTuple In : if (n == 10000ul) { printStringLn("running"); }
            }
    }"#;
    let flags: [&[&str]; 3] = [&["--latency"], &["--latency", "--interpret"], &[]];
    for (medium, flags) in media().flat_map(|medium| flags.map(|flags| (medium, flags))) {
        let scratch = Scratch::new();
        let file = scratch.write("Main.spl", program);
        let args = [
            "run",
            file.to_str().unwrap(),
            "--fuse",
            "none",
            "-F",
            medium,
        ];
        let mut live = Live::start(&scratch, &[&args, flags].concat());
        assert_eq!(live.line(), "running\n");
        let (mut sample, mut latency) = (Value::Null, Value::Null);
        let is_asked = !flags.is_empty();
        until("it is there", || {
            sample = json(&live);
            let receiver = &sample["jobs"][0]["pes"][1]["links"][0];
            latency = receiver["latency"].clone();
            receiver["frames"].as_u64() > Some(0)
                && (!is_asked || latency["count"].as_u64() > Some(0))
        });
        assert_eq!(latency.is_object(), is_asked, "{medium}: {latency}");
        assert!(sample["jobs"][0]["pes"][0]["links"][0]["latency"].is_null());
        let names = ["ns_p50", "ns_p90", "ns_p99", "ns_p999", "ns_max"];
        let times = names.map(|name| latency[name].as_u64());
        assert!(
            times.is_sorted() && (times[0] > Some(0)) == is_asked,
            "{latency}"
        );
        let text = top(live.pid(), &[]).ok();
        let head = "LATENCY  FROM  TO    MEASURED";
        assert_eq!(text.contains(head), is_asked, "{text}");
        live.signal(Signal::INT);
        live.end().ok();
    }
}

/// Tuples that come seldom are those whose latency is wanted most, and a ring has room for
/// thousands of them before compiled code has to ask.
#[test]
fn latencies_of_slow_streams_are_measured() {
    let program = r#"composite Main {
        graph
            stream<uint64 n> In = Beacon() {
                param period : 0.01;
                output In : n = IterationCount();
            }
            () as Out = Custom(In) {
                logic onTuple In : if (n == 0ul) { printStringLn("running"); }
            }
    }"#;
    for medium in media() {
        let scratch = Scratch::new();
        let file = scratch.write("Main.spl", program);
        let file = file.to_str().unwrap();
        let args = ["run", file, "--fuse", "none", "-F", medium, "--latency"];
        let mut live = Live::start(&scratch, &args);
        assert_eq!(live.line(), "running\n");
        until("many are measured", || {
            let receiver = &json(&live)["jobs"][0]["pes"][1]["links"][0];
            receiver["latency"]["count"].as_u64() > Some(25)
        });
        live.signal(Signal::INT);
        live.end().ok();
    }
}

#[test]
fn a_job_of_one_process_is_seen_too() {
    let scratch = Scratch::new();
    let live = started(&scratch, &[]);
    until("its counters are there", || {
        json(&live)["jobs"][0]["pes"]
            .as_array()
            .is_some_and(|pes| pes.len() == 1)
    });
    let text = top(live.pid(), &[]).ok();
    assert!(
        thalweg(&["top", "--once", "Main"])
            .ok()
            .contains(&text[..text.find("   1 PE").unwrap()])
    );
    assert!(text.contains("   1 PE   "), "{text}");
    assert!(text.contains("\n0   Out       Custom "), "{text}");
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn a_stopped_process_is_named() {
    let scratch = Scratch::new();
    let live = started(&scratch, &["--fuse", "none"]);
    until("its counters are there", || {
        let pes = &json(&live)["jobs"][0]["pes"];
        pes.as_array().is_some_and(|pes| pes.len() == 2)
    });
    let sink = &live.pes()[1];
    sink.signal(Signal::STOP);
    let line = format!("pe 1 (process {}) does not run: its numbers are ", sink.pid);
    until("it is missed", || {
        top(live.pid(), &[]).stdout.contains(&line)
    });
    sink.signal(Signal::CONT);
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn a_killed_job_leaves_nothing() {
    for args in [&["--fuse", "none"][..], &[]] {
        let scratch = Scratch::new();
        let live = started(&scratch, args);
        until("its counters are there", || {
            json(&live)["jobs"][0]["pes"].is_array()
        });
        let (pid, pes) = (live.pid(), live.pes());
        live.signal(Signal::KILL);
        live.end();
        pes.iter().for_each(Process::is_gone);
        top(pid, &[]).fails(1);
        let files = fs::read_dir(scratch.path("")).unwrap().flatten();
        let files: Vec<_> = files.map(|file| file.file_name()).collect();
        assert_eq!(
            files,
            ["Main.spl"],
            "no folder of counters, nor anything else"
        );
    }
}

/// A job with more operators than a small terminal has lines.
const LONG: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() { output In : n = IterationCount(); }
        @parallel(width = 30)
        stream<In> AnOperatorWithAVeryLongName = Custom(In as A) {
            logic onTuple A : {
                if (n == 0ul) { printStringLn("running"); }
                block(1000000.0);
            }
        }
        () as Out = Custom(AnOperatorWithAVeryLongName) {}
}"#;

/// The pictures that are drawn on a terminal.
struct Screen {
    terminal: BufReader<File>,
    size: Winsize,
}

impl Screen {
    /// A terminal, and the other end of it.
    fn new(columns: u16, lines: u16) -> (Screen, OwnedFd) {
        let (terminal, other) = terminal();
        let mut screen = Screen {
            size: tcgetwinsize(&terminal).unwrap(),
            terminal: BufReader::new(terminal),
        };
        screen.resize(columns, lines);
        (screen, other)
    }

    fn resize(&mut self, columns: u16, lines: u16) {
        (self.size.ws_col, self.size.ws_row) = (columns, lines);
        tcsetwinsize(self.terminal.get_ref(), self.size).unwrap();
    }

    /// The lines of the next picture.
    fn picture(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\x1b[J") {
            let read = self.terminal.read_until(b'J', &mut bytes).unwrap();
            assert!(read > 0, "there are no more pictures");
        }
        let text = String::from_utf8(bytes).unwrap();
        let text = text.strip_prefix("\x1b[H").unwrap().strip_suffix("\x1b[J");
        let lines = text.unwrap().lines();
        lines.map(|line| line.replace("\x1b[K", "")).collect()
    }

    /// Whether a picture keeps to a size, and has used what it could.
    fn fills(picture: &[String], columns: usize, lines: usize) -> bool {
        let widest = picture.iter().map(|line| line.chars().count()).max();
        picture.len() == lines - 1 && widest == Some(columns)
    }
}

#[test]
fn the_picture_keeps_to_the_size_of_the_terminal() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", LONG);
    let mut live = Live::start(&scratch, &["run", file.to_str().unwrap()]);
    assert_eq!(live.line(), "running\n");
    let (mut screen, other) = Screen::new(40, 12);
    until("the job is seen", || top(live.pid(), &[]).status == 0);
    let mut command = command(&["top", &live.pid().to_string()]);
    let mut shown = command.stdout(other).spawn().unwrap();
    // Nothing else holds the terminal open.
    drop(command);
    let small = screen.picture();
    assert!(Screen::fills(&small, 40, 12), "{small:#?}");
    assert!(
        small
            .iter()
            .any(|line| line.starts_with('+') && line.ends_with(" more"))
    );
    // Whatever was drawn before it noticed.
    screen.resize(60, 20);
    let process = rustix::process::Pid::from_child(&shown);
    rustix::process::kill_process(process, Signal::WINCH).unwrap();
    until("the picture has grown", || {
        Screen::fills(&screen.picture(), 60, 20)
    });
    shown.kill().unwrap();
    shown.wait().unwrap();
    let whole = top(live.pid(), &[]).ok();
    let names = whole
        .lines()
        .filter(|line| line.contains("AnOperatorWithAVeryLongName["));
    assert!(names.count() >= 30 && !whole.contains(" more"), "{whole}");
    drop(live);
}

/// `script` gives the command a terminal of its own, whose keys are what it is sent.
#[test]
fn keys_scroll_sort_and_end() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", LONG);
    let mut live = Live::start(&scratch, &["run", file.to_str().unwrap()]);
    assert_eq!(live.line(), "running\n");
    until("the job is seen", || top(live.pid(), &[]).status == 0);
    let shown = format!(
        "stty rows 12 cols 90; {} top {}",
        env!("CARGO_BIN_EXE_thalweg"),
        live.pid()
    );
    let mut script = Command::new("script");
    script
        .args(["-qec", &shown, "/dev/null"])
        .env("TERM", "xterm");
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().unwrap();
    let mut keys = script.stdin.take().unwrap();
    let mut output = BufReader::new(script.stdout.take().unwrap());
    let mut picture = |what: &str, is_it: &dyn Fn(&str) -> bool| {
        // One comes each second.
        let found = (0..100).any(|_| {
            let mut bytes = Vec::new();
            output.read_until(b'J', &mut bytes).unwrap();
            is_it(&String::from_utf8(bytes).unwrap())
        });
        assert!(found, "no picture {what}");
    };
    picture("is cut and says which keys there are", &|text| {
        let has_all = ["Main   job", " more", "q quit   s sort: plan"];
        has_all.iter().all(|part| text.contains(part))
    });
    keys.write_all(b"s").unwrap();
    picture("is sorted", &|text| text.contains("s sort: name"));
    keys.write_all(b"\x1b[6~").unwrap();
    picture("is scrolled", &|text| {
        text.contains("AnOperatorWithAVeryLong") && !text.contains(" more")
    });
    keys.write_all(b"g").unwrap();
    picture("is the first again", &|text| text.contains(" more"));
    keys.write_all(b"q").unwrap();
    assert!(script.wait().unwrap().success());
    drop(live);
}

#[test]
fn operators_are_listed_in_the_order_that_is_asked_for() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", LONG);
    let mut live = Live::start(&scratch, &["run", file.to_str().unwrap()]);
    assert_eq!(live.line(), "running\n");
    until("the job is seen", || top(live.pid(), &[]).status == 0);
    let names = |order: &str| -> Vec<String> {
        let text = top(live.pid(), &["--sort", order]).ok();
        let mut lines = text
            .lines()
            .skip_while(|line| !line.starts_with("PE  OPERATOR"));
        let kinds = lines.next().unwrap().find("KIND").unwrap();
        let names = lines.take_while(|line| !line.is_empty()).map(|line| {
            let name = line.chars().skip(4).take(kinds - 4).collect::<String>();
            name.trim().to_owned()
        });
        // Those that are shortened do not show what they are sorted by.
        names.filter(|name| !name.contains('\u{2026}')).collect()
    };
    let plan = names("plan");
    let mut sorted = plan.clone();
    sorted.sort();
    assert_ne!(plan, sorted);
    assert_eq!(names("name"), sorted);
    drop(live);
}

/// A consumer in compiled code that sleeps for each tuple, behind a queue or in a process of its
/// own.
const SLEEPER: &str = r#"composite Main { graph
    stream<int32 n> Numbers = Beacon() { param iterations : 1000; output Numbers : n = (int32) IterationCount(); }
    stream<int32 n> Slow = Custom(Numbers) { logic onTuple Numbers : { wait(); submit(Numbers, Slow); } }
    () as Out = FileSink(Slow) { param file : "/dev/null"; }
}
stateful void wait() { block(0.02); }
"#;

#[test]
fn how_far_a_slow_operator_has_come_is_seen_tuple_by_tuple() {
    for plan in [&["--fuse", "none"][..], &["--threading", "dedicated"]] {
        let scratch = Scratch::new();
        let file = scratch.write("Main.spl", SLEEPER);
        let args = [&["run", file.to_str().unwrap()], plan].concat();
        let live = Live::start(&scratch, &args);
        until("some tuples are through", || {
            let sample = json(&live);
            let pes = sample["jobs"][0]["pes"].as_array().cloned();
            let operators = pes.into_iter().flatten().flat_map(|pe| {
                let operators = pe["operators"].as_array().cloned();
                operators.unwrap_or_default()
            });
            let mut slow = operators.filter(|operator| operator["name"] == "Slow");
            slow.next().is_some_and(|slow| {
                let count = |way: &str| slow[way][0].as_u64().unwrap_or_default();
                let (processed, submitted) = (count("processed"), count("submitted"));
                assert!(
                    processed <= submitted + 1,
                    "{plan:?}: {processed} {submitted}"
                );
                submitted > 10 && processed > 10
            })
        });
    }
}
