//! Child processes of a check: each loads the library and does one thing with it.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, io};

use conformance::child::TestFailure;
use conformance::{
    MediumTest, RankRole, RankSocket, Rig, TestOutcome, kill, needs_ranks, play_child, tests_of,
};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, set_parent_process_death_signal, waitid,
};
use transport::media::{self, plugin};

use crate::args::{ListArgs, TestArgs};

/// Last word of a child that has come to its end: the library has not ended the process.
const END: &str = "thalweg-conformance: end\n";

/// Most bytes of a child's output that are kept.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// Time between two looks whether a child has ended: short beside the start of a process.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Longest time that an end of the edges which the list of behaviours needs may take.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// Words for what a behaviour needs: nothing more, ranks, or ranks that die.
pub const NEEDS_NOTHING: &str = "nothing";
pub const NEEDS_RANKS: &str = "ranks";
pub const NEEDS_DEATHS: &str = "deaths";

/// How a child has ended.
pub enum ChildEnd {
    /// The child did what it was started for: its exit status, and what it wrote.
    Done(ExitStatus, ChildOutput),
    /// The library has ended the child's process.
    Crashed(ExitStatus),
    /// The child was killed, as it had not ended in time.
    Blocked,
}

/// Text that a child has written.
pub struct ChildOutput {
    pub stdout: String,
    pub stderr: String,
}

/// Prints the names of the behaviours to test, one a line, each with a word for what it needs:
/// `nothing`, `ranks`, or `deaths` of ranks.
pub fn list(args: &ListArgs) -> ExitCode {
    in_child(|| {
        let (rig, tests) = tests(&args.library, LIST_TIMEOUT)?;
        let has_ranks = plugin::ranks_of(rig.medium.name()).is_some();
        let kills = kill::all().map(|(name, _)| name);
        for (name, _) in tests {
            let needs = match has_ranks {
                true if kills.contains(&name) || name.contains("_killed") => NEEDS_DEATHS,
                true if needs_ranks(name) => NEEDS_RANKS,
                _ => NEEDS_NOTHING,
            };
            println!("{name} {needs}");
        }
        Ok(())
    })
}

/// Tests one behaviour of the library, as rank 0 or alone; plays roles as another rank.
pub fn test(args: &TestArgs) -> ExitCode {
    let Some(path) = &args.rank_socket else {
        return in_child(|| run_test(args));
    };
    let joined = media::plugin::load(&args.library).map_err(TestFailure::from);
    let joined = joined.and_then(|medium| {
        let ranks = plugin::ranks_of(medium.name()).ok_or("the library has no ranks")?;
        Ok((ranks.join()?.rank, ranks))
    });
    // The other ranks have these bytes only when rank 0 listens or cannot.
    let mut bytes = [0; plugin::SHARE_BYTES_MAX];
    match joined {
        Ok((0, ranks)) => in_child(|| {
            let socket = RankSocket::listen(path);
            ranks.share(&mut bytes)?;
            let _socket = socket?;
            run_test(args)
        }),
        Ok((_, ranks)) => {
            let shared = ranks.share(&mut bytes).map_err(TestFailure::from);
            let played = shared.and_then(|()| play_roles(path));
            played.unwrap_or_else(|failure| {
                eprintln!("{failure}");
                ExitCode::FAILURE
            })
        }
        Err(failure) => in_child(|| Err(failure)),
    }
}

/// Plays the roles that rank 0 gives, until the test is over or a role fails.
fn play_roles(path: &Path) -> Result<ExitCode, TestFailure> {
    while let Some(role) = RankRole::connect(path)? {
        let played = play_child(role.words()).ok_or("rank 0 gave no role")?;
        if played != ExitCode::SUCCESS {
            return Ok(played);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn run_test(args: &TestArgs) -> TestOutcome {
    let (rig, tests) = tests(&args.library, Duration::from_millis(args.timeout_ms))?;
    let found = tests.iter().find(|(name, _)| *name == args.name);
    let (_, run) = found.ok_or("there is no behaviour of this name")?;
    run(rig)
}

/// The tests of the library: behaviours, and deaths if it crosses processes.
fn tests(library: &Path, patience: Duration) -> Result<(Rig, Vec<MediumTest>), TestFailure> {
    let medium = media::plugin::load(library)?;
    let rig = Rig { medium, patience };
    let mut tests = tests_of(rig);
    if medium.caps().crosses_processes {
        tests.extend(kill::all());
    }
    Ok((rig, tests))
}

/// Runs in a child, and says at the end that it is one.
fn in_child(run: impl FnOnce() -> TestOutcome) -> ExitCode {
    let outcome = set_parent_process_death_signal(Some(Signal::KILL));
    let outcome = outcome.map_err(TestFailure::from).and_then(|()| run());
    if let Err(failure) = &outcome {
        eprintln!("{failure}");
    }
    print!("{END}");
    let _ = io::stdout().flush();
    ExitCode::from(u8::from(outcome.is_err()))
}

/// Starts this program again with these arguments, and waits until it has ended. The child and all
/// that it has started are gone afterwards.
pub fn run_child(
    launcher: &[&str],
    words: &[&str],
    library: &Path,
    more: &[&str],
    deadline: Duration,
) -> Result<ChildEnd, TestFailure> {
    let mut child = start(launcher, words, library, more)?;
    let out = collect(child.stdout.take());
    let err = collect(child.stderr.take());
    let is_ended = wait(&child, deadline);
    // Before the child is waited for, so that its number is nobody else's.
    let group = kill_group(&child);
    let status = child.wait()?;
    let is_ended = is_ended?;
    group?;
    let stdout = out.join().unwrap_or_default();
    let stderr = err.join().unwrap_or_default();
    let (stdout, is_done) = match stdout.strip_suffix(END) {
        Some(before) => (before.to_owned(), true),
        None => (stdout, false),
    };
    let output = ChildOutput { stdout, stderr };
    // The suite itself panics with this status.
    let is_done = is_done || status.code() == Some(101);
    // What the library does when the process ends may crash behind the last word.
    let is_done = is_done && status.signal().is_none();
    Ok(match (is_ended, is_done) {
        (false, _) => ChildEnd::Blocked,
        (true, true) => ChildEnd::Done(status, output),
        (true, false) => ChildEnd::Crashed(status),
    })
}

fn start(
    launcher: &[&str],
    words: &[&str],
    library: &Path,
    more: &[&str],
) -> Result<Child, TestFailure> {
    use std::os::unix::process::CommandExt;
    let own = env::current_exe()?;
    let mut command = match launcher {
        [] => Command::new(own),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(own);
            command
        }
    };
    let child = command
        .args(words)
        .arg(library)
        .args(more)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    Ok(child)
}

/// Reads what a child writes, on a thread, and keeps the beginning.
fn collect(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut from) = from {
            let _ = from.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut kept);
            let _ = io::copy(&mut from, &mut io::sink());
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

/// Waits until the child has ended. `false`: it has not, until the deadline.
fn wait(child: &Child, deadline: Duration) -> Result<bool, TestFailure> {
    let start = Instant::now();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_none() {
        if start.elapsed() > deadline {
            return Ok(false);
        }
        thread::sleep(LOOK_INTERVAL);
    }
    Ok(true)
}

/// Kills the child, if it still runs, and the processes that it has started.
fn kill_group(child: &Child) -> TestOutcome {
    match kill_process_group(Pid::from_child(child), Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
