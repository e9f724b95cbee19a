//! C programs as clients of libthalweg, compiled here: whether the header's promises are kept, and
//! the two tools against each other and against `thalweg perf`, whose lines they must print.
//!
//! A C compiler must be installed, as the README says: `cc`, or the one that `CC` names.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use perf::{CpuAffinity, PublishFlags, PublishOptions, SubscribeLimit, SubscribeOptions};
use rustix::thread::{CpuSet, sched_getaffinity};

/// Time longer than any step takes that works.
const PATIENCE: Duration = Duration::from_secs(300);

/// Way in which a program links the library.
#[derive(Clone, Copy, PartialEq)]
enum Library {
    Shared,
    Static,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Folder where cargo has put the library: beside this test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().to_owned();
    assert!(folder.join("libthalweg.so").exists(), "{folder:?}");
    assert!(folder.join("libthalweg.a").exists(), "{folder:?}");
    folder
}

/// Compiles a program of `tests/c`.
fn compile(name: &str, library: Library) -> PathBuf {
    let folder = library_folder();
    let kind = if library == Library::Static {
        "static"
    } else {
        "shared"
    };
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{kind}"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(here().join("tests/c").join(name).with_extension("c"))
        .arg("-I")
        .arg(here().join("include"));
    match library {
        Library::Shared => command
            .arg("-L")
            .arg(&folder)
            .arg(format!("-Wl,-rpath,{}", folder.display()))
            .arg("-lthalweg"),
        Library::Static => {
            command
                .arg(folder.join("libthalweg.a"))
                .args(["-lpthread", "-ldl", "-lm"])
        }
    };
    let done = command.output();
    let done = done.unwrap_or_else(|error| panic!("no C compiler, `{compiler}`: {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{name}: {said}");
    program
}

/// Path of a tool, which is compiled once.
fn tool(name: &'static str) -> &'static Path {
    static PUB: OnceLock<PathBuf> = OnceLock::new();
    static SUB: OnceLock<PathBuf> = OnceLock::new();
    let once = if name == "pub" { &PUB } else { &SUB };
    once.get_or_init(|| compile(name, Library::Shared))
}

fn topic() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("capi-{}-{number}", std::process::id())
}

/// Number of a processor that the test may use.
fn cpu() -> u32 {
    let set = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| set.is_set(cpu));
    first.unwrap() as u32
}

/// The running C subscriber, killed when it is dropped.
struct Sub {
    child: Child,
    lines: Receiver<String>,
}

impl Sub {
    fn start(topic: &str, args: &[&str]) -> Sub {
        let cpu = cpu().to_string();
        let mut child = Command::new(tool("sub"))
            .args(["-a", &cpu, "-t", topic])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // A test that does not listen any more has read enough.
                let _ = tell.send(line);
            }
        });
        Sub { child, lines }
    }

    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }
}

impl Drop for Sub {
    fn drop(&mut self) {
        // The child may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the C publisher and returns its lines.
fn run_pub(topic: &str, args: &[&str]) -> Vec<String> {
    let cpu = cpu().to_string();
    let done = Command::new(tool("pub"))
        .args(["-a", &cpu, "-t", topic, "-l", "0", "-w", "10"])
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    lines(done.stdout)
}

fn lines(text: Vec<u8>) -> Vec<String> {
    let text = String::from_utf8(text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Options of the Rust publisher, like those of the C one.
fn pub_options(topic: &str) -> PublishOptions {
    PublishOptions {
        affinity_cpu: CpuAffinity::Requested(cpu()),
        flags: PublishFlags(1),
        linger_ms: 0,
        msg_len: 100,
        num_msgs: 2000,
        rate: 100_000,
        topic: topic.to_owned(),
        warmup_loops: 10,
        ..PublishOptions::default()
    }
}

/// A line without its numbers, except those of options and counts.
fn shape(line: &str) -> String {
    let measured = [
        "duration_ns",
        "result_rate",
        "min_latency",
        "max_latency",
        "average latency",
    ];
    let parts = line.split(", ").map(|part| {
        let source = part
            .split_once("SHM:")
            .map(|(before, _)| format!("{before}SHM"));
        match part.split_once('=') {
            Some((name, _)) if measured.contains(&name) => name.to_owned(),
            _ => source.unwrap_or_else(|| part.to_owned()),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn shapes(lines: &[String]) -> Vec<String> {
    let theirs = lines.iter().filter(|line| !line.starts_with("+ "));
    theirs.map(|line| shape(line)).collect()
}

#[test]
fn the_header_keeps_its_promises() {
    for library in [Library::Shared, Library::Static] {
        let program = compile("contract", library);
        let done = Command::new(&program).arg(topic()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{said}");
        assert_eq!(done.stdout, b"all promises kept\n");
    }
}

#[test]
fn the_tools_print_the_same_lines_in_every_pairing() {
    let args = ["-f", "1", "-m", "100", "-n", "2000", "-r", "100000"];
    let of_subscriber = |sub: &Sub| [sub.line(), sub.line()];

    let mixed = topic();
    let sub = Sub::start(&mixed, &[]);
    let options = sub.line();
    let from_c = run_pub(&mixed, &args);
    let c_to_c = of_subscriber(&sub);
    let mut from_rust = Vec::new();
    perf::publish(&pub_options(&mixed), &mut from_rust).unwrap();
    let rust_to_c = of_subscriber(&sub);
    drop(sub);

    let (out, mut has_begun) = waiting_subscriber(&mixed);
    has_begun.wait();
    run_pub(&mixed, &args);
    let c_to_rust = lines(out.join().unwrap());

    assert_eq!(shapes(&from_c), shapes(&lines(from_rust)));
    assert_eq!(shapes(&c_to_c), shapes(&rust_to_c));
    assert_eq!(options, c_to_rust[0]);
    assert_eq!(shapes(&c_to_c), shapes(&c_to_rust[1..]));
    assert!(
        c_to_c[1].contains(", num_rcv_msgs=2010, min_latency="),
        "{}",
        c_to_c[1]
    );
    let due = |line: &String| line.starts_with("+ latency_corrected_ns");
    assert!(
        !c_to_rust.iter().any(due),
        "the tool does not say when messages were due"
    );
}

/// Starts a Rust subscriber. Returns its thread, which gives the output, and a signal that it waits
/// for its publisher.
fn waiting_subscriber(topic: &str) -> (std::thread::JoinHandle<Vec<u8>>, FirstLine) {
    let options = SubscribeOptions {
        affinity_cpu: CpuAffinity::Requested(cpu()),
        topic: topic.to_owned(),
        ..SubscribeOptions::default()
    };
    let (tell, told) = channel();
    let thread = std::thread::spawn(move || {
        let mut out = Watched {
            text: Vec::new(),
            tell,
        };
        perf::subscribe(&options, SubscribeLimit::EndedPublishers(1), &mut out).unwrap();
        out.text
    });
    (thread, FirstLine(told))
}

/// A writer that keeps the bytes and reports each write.
struct Watched {
    text: Vec<u8>,
    tell: std::sync::mpsc::Sender<()>,
}

impl std::io::Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        // A test that does not listen any more has read enough.
        let _ = self.tell.send(());
        Ok(())
    }
}

struct FirstLine(Receiver<()>);

impl FirstLine {
    #[track_caller]
    fn wait(&mut self) {
        self.0.recv_timeout(PATIENCE).expect("a line");
    }
}

#[test]
fn the_tools_send_copies_without_blocking_to_several_and_measure_jitter() {
    let topic = topic();
    let subs = [
        Sub::start(&topic, &["-f"]),
        Sub::start(&topic, &["-s", "100"]),
    ];
    subs.iter()
        .for_each(|sub| assert!(sub.line().starts_with("o_affinity_cpu=")));
    for flags in ["0", "2", "4", "6"] {
        let out = run_pub(&topic, &["-f", flags, "-r", "999999999", "-n", "50000"]);
        assert!(
            out[1].starts_with("actual_sends=50000, duration_ns="),
            "{}",
            out[1]
        );
        for sub in &subs {
            assert!(sub.line().starts_with("rcv event BOS, "));
            let end = sub.line();
            assert!(end.ends_with(", num_rcv_msgs=50010, "), "{end}");
        }
    }
    let out = run_pub(&topic, &["-j", "1000"]);
    assert_eq!(out.len(), 2);
    assert!(
        out[1].starts_with("ts_min_ns=") && out[1].contains(", ts_max_ns="),
        "{}",
        out[1]
    );
}
