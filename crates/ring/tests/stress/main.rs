//! Rings under load: random frames, random pauses, sleeping and waking; every byte is checked.
//!
//! `THALWEG_STRESS_SECONDS` says how long (2), `THALWEG_STRESS_SEED` which run (of the clock).
#![cfg(not(any(loom, miri)))]

mod flow;
mod random;
mod wakeup_socket;

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use flow::Plan;
use thalweg_ring::{RingShape, join_ring, private_ring, shared_ring};
use wakeup_socket::WakeupSocket;

/// Set in the processes that read: which ring, which reader, which plan.
const CHILD: &str = "THALWEG_STRESS_READER";

/// The ring between processes.
const SHARED_BYTES: usize = 1 << 15;

/// A wake-up, or room, that takes longer never comes.
const PATIENCE: Duration = Duration::from_secs(300);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A plan for a ring of `bytes` bytes and a part of the time. Its seed is the given one or of the
/// clock, and printed in case it fails.
fn plan(bytes: usize, part: u32) -> Plan {
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let clock = clock.map_or(0, |time| time.as_nanos() as u64);
    let seed = number("THALWEG_STRESS_SEED").unwrap_or(clock);
    let seconds = number("THALWEG_STRESS_SECONDS").unwrap_or(2);
    println!("THALWEG_STRESS_SEED={seed} cargo test -p thalweg-ring --test stress");
    Plan {
        seed,
        time: Duration::from_secs(seconds) / part,
        len_max: bytes / 2 - 8,
    }
}

/// A writer and its readers as threads, for a part of the time.
fn threads(bytes: usize, readers: u32) {
    let plan = plan(bytes, 3);
    let (writer, ends) = private_ring(RingShape { bytes, readers }).expect("memory");
    let (bells, mut far) = WakeupSocket::pairs(readers);
    let count = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (reader, bell) in ends.into_iter().zip(far.drain(..)) {
            threads.push(scope.spawn(move || flow::receive(plan, reader, bell)));
        }
        let sent = flow::send(plan, writer, bells);
        for thread in threads {
            assert_eq!(thread.join().expect("a reader"), sent);
        }
        sent
    });
    assert!(count > 0);
}

#[test]
fn threads_with_one_reader() {
    threads(1 << 16, 1);
}

#[test]
fn threads_with_a_tiny_ring() {
    threads(256, 1);
}

#[test]
fn threads_with_three_readers() {
    threads(1 << 13, 3);
}

/// A reader in a process of its own: the same test again, told by the environment.
fn start(test: &str, fd: &impl AsFd, reader: u32, plan: Plan, bell: UnixStream) -> Child {
    use std::os::fd::AsRawFd;
    let (pid, fd) = (std::process::id(), fd.as_fd().as_raw_fd());
    let told = format!("/proc/{pid}/fd/{fd} {reader} {}", plan.seed);
    Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", test])
        .env(CHILD, told)
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(bell)))
        .stdout(Stdio::null())
        .spawn()
        .expect("a process")
}

/// Runs the part of the test that a child process has.
fn read_as_told(told: &str) {
    let told: Vec<&str> = told.split(' ').collect();
    let [path, reader, seed] = told[..] else {
        panic!("told {told:?}");
    };
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path);
    let reader = join_ring(
        file.expect("a segment").as_fd(),
        reader.parse().expect("a number"),
    );
    let plan = Plan {
        seed: seed.parse().expect("a number"),
        time: Duration::ZERO,
        len_max: SHARED_BYTES / 2 - 8,
    };
    let bell = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .expect("a bell");
    flow::receive(
        plan,
        reader.expect("a ring"),
        WakeupSocket::new(UnixStream::from(bell)),
    );
}

/// A writer here and each of its readers in a process of its own. The test has that name.
fn processes(test: &str, readers: u32) {
    if let Ok(told) = std::env::var(CHILD) {
        return read_as_told(&told);
    }
    let bytes = SHARED_BYTES;
    let plan = plan(bytes, 1);
    let start_time = Instant::now();
    let (writer, fd) = shared_ring(RingShape { bytes, readers }).expect("memory");
    let (bells, far) = WakeupSocket::pairs(readers);
    let far = (0..).zip(far.into_iter().map(WakeupSocket::into_stream));
    let processes = far.map(|(reader, bell)| start(test, &fd, reader, plan, bell));
    let mut processes: Vec<Child> = processes.collect();
    let sent = flow::send(plan, writer, bells);
    for process in &mut processes {
        assert!(process.wait().expect("a process").success());
    }
    assert!(sent > 0 && start_time.elapsed() >= plan.time);
}

#[test]
fn processes_with_one_reader() {
    processes("processes_with_one_reader", 1);
}

#[test]
fn processes_with_two_readers() {
    processes("processes_with_two_readers", 2);
}
