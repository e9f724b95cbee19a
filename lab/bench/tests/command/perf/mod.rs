//! `thalweg perf`: the programs as their user starts them, each in a process of its own.

mod lifecycle;
mod scenarios;
mod strangers;
mod wrong;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::scratch::{Run, Scratch, command};

/// Longer than anything takes that works.
const PATIENCE: Duration = Duration::from_secs(300);

/// The last line that a subscriber prints of a publisher.
const LAST: &str = "+ receiver: ";

/// A topic that nobody else has.
fn topic() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("test-{}-{number}", std::process::id())
}

/// Two processors for the time-critical threads; the same one twice if there is but one.
fn cpus() -> [String; 2] {
    let set = sched_getaffinity(None).expect("an affinity");
    let mut all = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    let first = all.next().expect("a processor");
    [first, all.next().unwrap_or(first)].map(|cpu| cpu.to_string())
}

/// A program of `thalweg perf` that runs, and its lines. Killed when it is dropped.
struct Live {
    child: Child,
    lines: Receiver<String>,
}

impl Live {
    fn start(args: &[&str]) -> Live {
        Live::spawn(command(&[&["perf"], args].concat()))
    }

    fn spawn(mut command: Command) -> Live {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the command");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // Whoever does not listen any more has heard enough.
                let _ = tell.send(line);
            }
        });
        Live { child, lines }
    }

    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    /// The lines up to one that begins so.
    #[track_caller]
    fn until(&self, start: &str) -> Vec<String> {
        let mut lines = vec![self.line()];
        while !lines.last().is_some_and(|line| line.starts_with(start)) {
            lines.push(self.line());
        }
        lines
    }

    fn kill(&mut self) {
        // One that is dead already is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A subscriber that waits for its publisher, and the line of its options.
#[track_caller]
fn subscribe(args: &[&str]) -> (Live, String) {
    let live = Live::start(&[&["sub"], args].concat());
    let options = live.line();
    (live, options)
}

/// A publisher that has run to its end.
fn publish(args: &[&str]) -> Run {
    crate::scratch::thalweg(&[&["perf", "pub"], args].concat())
}

/// The configuration of the document's runs, as far as it is ours.
fn config(scratch: &Scratch) -> String {
    let file = scratch.write("smx.cfg", "ring_bytes = 8388608\nreceivers = 4\n");
    file.to_str().expect("a plain path").to_owned()
}

/// Names and values of a line of results.
fn values(line: &str) -> Vec<(&str, &str)> {
    let line = line
        .strip_suffix(", ")
        .expect("a comma and a space at the end");
    line.split(", ")
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .collect()
}

fn names(line: &str) -> Vec<&str> {
    values(line).into_iter().map(|(name, _)| name).collect()
}

/// The number of this name in a line.
#[track_caller]
fn number(line: &str, name: &str) -> u64 {
    let found = values(line).into_iter().find(|(of, _)| *of == name);
    let (_, value) = found.unwrap_or_else(|| panic!("no {name} in {line}"));
    value.parse().unwrap_or_else(|_| panic!("{name} in {line}"))
}
