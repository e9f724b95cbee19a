//! Processes as the system sees them: which children there are, and whether they are gone.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::scratch::{Run, Scratch, command};

/// Time after which a wait is taken to hang; no test depends on the machine's speed.
pub const LONG: Duration = Duration::from_secs(300);

/// A run of the command that goes on while the test does something to it. It is killed when the
/// test is done with it.
pub struct Live {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
}

/// A process at some time: numbers are given out again, start times are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub name: String,
    started: String,
}

impl Live {
    /// Starts the command. Should it make files of its own accord, they are in a folder of the
    /// test.
    pub fn start(scratch: &Scratch, args: &[&str]) -> Live {
        Live::of(scratch, command(args))
    }

    /// Starts a command that is set up already; see [`Live::start`].
    pub fn of(scratch: &Scratch, mut command: Command) -> Live {
        let mut child = command
            .env("XDG_RUNTIME_DIR", scratch.path(""))
            .env("TMPDIR", scratch.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Live { child, stdout }
    }

    /// The next line of output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    /// Process id of the launcher.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The processes of its PEs, in order.
    pub fn pes(&self) -> Vec<Process> {
        let mut pes: Vec<_> = processes()
            .into_iter()
            .filter(|(process, parent)| {
                *parent == self.pid() && process.name.starts_with("thalweg-pe")
            })
            .map(|(process, _)| process)
            .collect();
        pes.sort_by_key(|process| {
            process
                .name
                .trim_start_matches("thalweg-pe")
                .parse::<u32>()
                .unwrap()
        });
        pes
    }

    /// The processes that it has started, whatever they are called yet.
    pub fn children(&self) -> Vec<Process> {
        children_of(self.pid())
    }

    /// Waits until nothing runs in its process any more: every thread waits for something.
    #[track_caller]
    pub fn rests(&self) {
        let sleeps = |path: PathBuf| {
            let text = fs::read_to_string(path.join("stat")).unwrap_or_default();
            let (_, rest) = text.rsplit_once(") ").unwrap_or_default();
            let run = fs::read_to_string(path.join("schedstat")).unwrap_or_default();
            (rest.starts_with('S'), run)
        };
        let look = || {
            let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
            let looks = tasks.flatten().map(|task| sleeps(task.path()));
            looks.collect::<Vec<_>>()
        };
        until("every thread waits", || {
            let before = look();
            std::thread::sleep(Duration::from_millis(50));
            let after = look();
            before == after && after.iter().all(|(is_asleep, _)| *is_asleep)
        });
    }

    /// Reads the next line of standard error.
    pub fn said(&mut self) -> String {
        let stderr = self.child.stderr.as_mut().unwrap();
        let (mut line, mut byte) = (Vec::new(), [0]);
        while !line.ends_with(b"\n") && stderr.read(&mut byte).unwrap() == 1 {
            line.extend(byte);
        }
        String::from_utf8_lossy(&line).into_owned()
    }

    /// Sends the launcher a signal.
    pub fn signal(&self, signal: Signal) {
        send(self.pid(), signal).unwrap();
    }

    /// Waits for its end; what was printed since the last line.
    #[track_caller]
    pub fn end(mut self) -> Run {
        let stdout = read_all(self.stdout.take().unwrap());
        let stderr = read_all(self.child.stderr.take().unwrap());
        let mut status = None;
        until("the job ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let output = Output {
            status: status.unwrap(),
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
        };
        output.into()
    }
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Whether the process still runs.
    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|(process, _, state)| process == *self && state != "Z")
    }

    /// Sends it a signal, unless it has ended by itself.
    pub fn signal(&self, signal: Signal) {
        match send(self.pid, signal) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => panic!("signal {signal:?} to {}: {error}", self.name),
        }
    }

    /// Waits until it has ended.
    #[track_caller]
    pub fn is_gone(&self) {
        until("a process has ended", || !self.is_alive());
    }
}

/// Both ends of a terminal of its own.
pub fn terminal() -> (File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (ours.into(), theirs)
}

/// The media that cross processes, and `rdma` in mode `channel`, each as `-F` and plans have it.
pub fn media() -> impl Iterator<Item = &'static str> {
    let media = engine::available_media().into_iter();
    let media = media.filter(|medium| medium.crosses_processes);
    media.flat_map(|medium| {
        let channel = (medium.name == "rdma").then_some("rdma mode=channel");
        [medium.name].into_iter().chain(channel)
    })
}

/// Waits for a condition.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "in vain: {what}");
        std::thread::yield_now();
    }
}

fn send(pid: i32, signal: Signal) -> Result<(), Errno> {
    kill_process(Pid::from_raw(pid).unwrap(), signal)
}

/// All processes, each with its parent.
fn processes() -> Vec<(Process, i32)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let stats = pids.filter_map(stat);
    stats
        .map(|(process, parent, _)| (process, parent))
        .collect()
}

/// The processes that a process has started.
pub fn children_of(parent: i32) -> Vec<Process> {
    let all = processes().into_iter();
    let own = all.filter(|(_, of)| *of == parent);
    own.map(|(process, _)| process).collect()
}

/// A process, its parent and its state.
fn stat(pid: i32) -> Option<(Process, i32, String)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, rest) = text.rsplit_once(") ")?;
    let (_, name) = head.split_once(" (")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let process = Process {
        pid,
        name: name.to_owned(),
        started: fields[19].to_owned(),
    };
    Some((process, fields[1].parse().ok()?, fields[0].to_owned()))
}
