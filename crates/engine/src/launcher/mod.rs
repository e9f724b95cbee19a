//! A job of several PEs: starts their processes, wires them, watches them, and leaves nothing behind.
//!
//! ```text
//!   the caller's thread          the launcher's thread                 two threads
//!     Job  <---- outcome ------    sockets, ends of processes            standard output, error
//!      \----- stop, count ---->    -> Conduct -> messages, kills         of all PEs -> ours
//! ```
//!
//! One thread has all the sockets and never waits for what a single PE does; only if the kernel has no
//! memory for what one has said, all wait, for a second at most. What it hears goes to [`Conduct`],
//! which knows what is to be done. The processes die with that thread, whatever happens to it.

mod child;
mod conduct;
mod outcome;
mod output;
mod processes;

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use graph::{Plan, Program};
use runtime::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use transport::Bell;

use crate::bundle::Bundle;
use crate::control::connection::{self, Encoded};
use crate::control::{FromPe, ToPe};
use crate::launch::Polite;
use crate::monitor::JobNote;
use crate::{Compilation, Error, Host, Job, Launch, hosts};
use child::{Child, Printed};
use conduct::{Action, Conduct};
use outcome::Outcome;
use output::{Forwarder, OutputError};

pub use processes::Processes;

/// Runs a compiled program as its plan says, a process for each PE.
///
/// # Errors
/// The system has no more threads. Whatever else cannot be set up is said when the job ends.
pub fn launch(
    compilation: &Compilation,
    program: &Program,
    plan: &Plan,
    launch: &Launch,
) -> Result<Job, Error> {
    let stop = Stop::default();
    let signal = Signal::new().map_err(|error| Error::system("make an event", error))?;
    let signal = Arc::new(signal);
    let waker = signal.clone();
    stop.wake(move || waker.event.ring());
    let (sender, ended) = channel();
    let text = plan.display(program).to_string();
    let host = |pe: &graph::Pe| hosts::of(&launch.hosts, pe.host.as_deref()?).cloned();
    let job = Start {
        bundle: Bundle::new(compilation, text, launch)?,
        conduct: Conduct::new(plan),
        labels: outcome::labels(plan, program),
        name: program.name.to_string(),
        launch: launch.clone(),
        hosts: plan.pes.iter().map(host).collect(),
        stop: stop.clone(),
        signal: signal.clone(),
    };
    let thread = Builder::new().name("launcher".to_owned());
    let started = thread.spawn(move || sender.send(job.run()));
    started.map_err(|error| Error::system("start a thread", error))?;
    Ok(Job::new(stop, Box::new(move || signal.counts()), ended))
}

/// This binary again, as a PE. Whatever was installed in its place in the meantime.
pub fn own_binary(pe: u32, name: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("thalweg").args(["pe", &pe.to_string(), name]);
    command
}

/// What other threads tell the launcher's, and what they are told.
struct Signal {
    /// Rung when there is something.
    event: Bell,
    /// The counts of the sources are wanted.
    wants_counts: AtomicBool,
    counts: Mutex<Vec<(String, u64)>>,
}

/// A job that is about to be started.
struct Start {
    bundle: Bundle,
    /// What each PE is called.
    labels: Vec<String>,
    name: String,
    conduct: Conduct,
    launch: Launch,
    /// Where each PE runs, if not here.
    hosts: Vec<Option<Host>>,
    stop: Stop,
    signal: Arc<Signal>,
}

/// The launcher's thread.
struct Launcher {
    children: Vec<Child>,
    conduct: Conduct,
    stop: Stop,
    signal: Arc<Signal>,
    kill_after: Option<Duration>,
}

/// So much is read from a PE before it is another one's turn.
const TURNS: usize = 16;

/// A thread that forwards what PEs print.
type Forwarding = JoinHandle<Result<(), OutputError>>;

impl Signal {
    fn new() -> io::Result<Signal> {
        Ok(Signal {
            event: Bell::new()?,
            wants_counts: AtomicBool::new(false),
            counts: Mutex::default(),
        })
    }

    fn set_counts(&self, counts: Vec<(String, u64)>) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// The last counts; asks for new ones.
    fn counts(&self) -> Vec<(String, u64)> {
        self.wants_counts.store(true, Ordering::Relaxed);
        self.event.ring();
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Start {
    fn run(mut self) -> Result<Vec<String>, Error> {
        let pes = self.labels.len() as u32;
        let counters = self.launch.counters;
        self.bundle.counters = counters.then(|| JobNote::new(&self.name, pes));
        let (children, printed) = self.spawn()?;
        let (out, err): (Vec<_>, Vec<_>) =
            printed.into_iter().map(|p| (p.stdout, p.stderr)).unzip();
        let before = self.launch.before_print;
        let bell = || Bell::new().map_err(|error| Error::system("make an event", error));
        let (no_out, no_err) = (bell()?, bell()?);
        let tags = self.launch.tag_output;
        let stdout = Forwarder::new(out, tags, Polite(io::stdout(), before), no_out.clone());
        let stop = self.stop.clone();
        // A job whose output nobody takes any more stops; what it says on the way is not worth that.
        let stdout = start(move || stdout.run().inspect_err(|_| stop.request()))?;
        let stderr = Careless(Polite(io::stderr(), before));
        let stderr = Forwarder::new(err, true, stderr, no_err.clone());
        let stderr = start(move || stderr.run())?;
        let launcher = Launcher {
            children,
            conduct: self.conduct,
            stop: self.stop.clone(),
            signal: self.signal.clone(),
            kill_after: self.launch.kill_after,
        };
        let mut outcome = launcher
            .run()
            .map_err(|error| Error::system("watch PEs", error))?;
        no_out.ring();
        no_err.ring();
        if let Ok(Err(error)) = stderr.join() {
            outcome.messages_failed(error);
        }
        if let Ok(Err(error)) = stdout.join() {
            outcome.output_failed(error);
        }
        outcome.into_result(&self.labels)
    }

    /// Starts all processes and tells them what to run.
    fn spawn(&self) -> Result<(Vec<Child>, Vec<Printed>), Error> {
        let failed = |what: &str, error: io::Error| Error::system(what, error);
        let bundle = ToPe::Bundle(Box::new(self.bundle.clone()));
        let bundle =
            connection::encode(&bundle, 0).map_err(|e| failed("hand on the program", e))?;
        let mut started = (Vec::new(), Vec::new());
        for pe in 0..self.labels.len() as u32 {
            let command = (self.launch.pe_command)(pe, &self.name);
            let command = match &self.hosts[pe as usize] {
                Some(host) => host.place(command),
                None => command,
            };
            let program = PathBuf::from(command.get_program());
            let spawned = spawn_one(command, pe, bundle.clone(), &self.launch.processes);
            let (child, printed) = spawned.map_err(|e| not_started(pe, &program, e))?;
            started.0.push(child);
            started.1.push(printed);
        }
        Ok(started)
    }
}

/// Starts a thread that forwards what PEs print.
fn start(
    run: impl FnOnce() -> Result<(), OutputError> + Send + 'static,
) -> Result<Forwarding, Error> {
    let thread = Builder::new().name("output".to_owned()).spawn(run);
    thread.map_err(|error| Error::system("start a thread", error))
}

/// Takes everything, whether it can be written or not: what is said on the way ends no job.
struct Careless<W>(W);

impl<W: Write> Write for Careless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

/// Why a process was not started: without /proc a program does not find itself.
fn not_started(pe: u32, program: &Path, error: io::Error) -> Error {
    let is_lost = error.kind() == io::ErrorKind::NotFound && program.starts_with("/proc");
    let tried = match is_lost {
        true => format!(
            "start pe {pe}: this program finds itself by {}, which is not there; mount /proc, or run \
             in one process (--fuse all)",
            program.display()
        ),
        false => format!("start pe {pe}, by {}", program.display()),
    };
    Error::system(tried, error)
}

fn spawn_one(
    command: Command,
    pe: u32,
    bundle: Encoded,
    processes: &Processes,
) -> io::Result<(Child, Printed)> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let (mut child, printed) = processes.start(|| {
        let (child, printed) = Child::spawn(command)?;
        let end = child.end();
        Ok(((child, printed), end))
    })?;
    child.outbox.push_encoded(bundle, Vec::new());
    child.outbox.push(&ToPe::Begin(pe), vec![stdin])?;
    Ok((child, printed))
}

impl Launcher {
    /// Until all processes have ended.
    fn run(mut self) -> io::Result<Outcome> {
        loop {
            for action in self.conduct.actions(Instant::now()) {
                self.carry_out(action);
            }
            self.send();
            if self.conduct.is_over() {
                self.stop.request();
                return Ok(self.conduct.into_outcome());
            }
            if self.conduct.is_running()
                && let Some(time) = self.kill_after.take()
            {
                self.stop.request_after(time.as_secs_f64())?;
            }
            self.wait()?;
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Tell(pe, message, fds) => {
                let outbox = &mut self.children[pe as usize].outbox;
                if let Err(error) = outbox.push(&message, fds) {
                    self.conduct.nonsense(pe, &error.to_string());
                }
            }
            Action::Kill(pe) => self.children[pe as usize].kill(),
        }
    }

    /// Sends what is waiting. To whom it cannot be sent has ended, or is about to.
    fn send(&mut self) {
        for (pe, child) in (0..).zip(&mut self.children) {
            if let Err(error) = child.outbox.flush() {
                child.outbox.close();
                self.conduct.lost(pe, error.to_string());
            }
        }
    }

    /// Waits until somebody has something to say, and listens.
    fn wait(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let deadline = self.conduct.deadline();
        let left = deadline.map(|at| at.saturating_duration_since(now));
        let pauses = self.children.iter().filter_map(|c| c.outbox.pause());
        let left = left.into_iter().chain(pauses).min();
        let left = left.map(|left| Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        let mut fds = vec![PollFd::new(&self.signal.event, PollFlags::IN)];
        let mut whose = Vec::new();
        for (pe, child) in self.children.iter().enumerate() {
            for (fd, flags, is_end) in child.watched() {
                fds.push(PollFd::from_borrowed_fd(fd, flags));
                whose.push((pe, is_end));
            }
        }
        connection::patiently(|| poll(&mut fds, left.as_ref()))?;
        let ready: Vec<_> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready[0] {
            self.look_at_signal();
        }
        let who = whose.into_iter().zip(&ready[1..]);
        for ((pe, is_end), _) in who.filter(|(_, is_ready)| **is_ready) {
            self.listen(pe, is_end);
        }
        Ok(())
    }

    fn look_at_signal(&mut self) {
        self.signal.event.silence();
        if self.stop.is_requested() {
            self.conduct.stop();
        }
        if self.signal.wants_counts.swap(false, Ordering::Relaxed) {
            self.conduct.count();
        }
    }

    /// A PE has said something, or has ended.
    fn listen(&mut self, pe: usize, has_ended: bool) {
        let child = &mut self.children[pe];
        let number = pe as u32;
        if child.is_talking() {
            // What was said before the end is all there.
            let turns = if has_ended { usize::MAX } else { TURNS };
            let heard = child.hear(turns);
            self.read(pe);
            match heard {
                Ok(false) => {}
                Ok(true) => self.conduct.closed(number),
                Err(error) => self.conduct.lost(number, error.to_string()),
            }
        }
        if has_ended {
            let exit = self.children[pe].wait();
            self.conduct.gone(number, exit);
        }
    }

    /// Takes every message that has come from a PE.
    fn read(&mut self, pe: usize) {
        loop {
            let message = self.children[pe].inbox.take::<FromPe>();
            let number = pe as u32;
            match message {
                Ok(Some((FromPe::Counts(counts), _))) => {
                    self.conduct.counted(number, counts);
                    self.signal.set_counts(self.conduct.counts());
                }
                Ok(Some((message, fds))) => self.conduct.heard(number, message, fds),
                Ok(None) => return,
                Err(error) => {
                    self.children[pe].stop_talking();
                    return self.conduct.nonsense(number, &error.to_string());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_proc_it_is_said_what_is_missing() {
        let start = |program: &str| {
            let error = Command::new(program).spawn().unwrap_err();
            not_started(3, Path::new(program), error).to_string()
        };
        // As it is where /proc is an empty folder.
        let said = start("/proc/none/self/exe");
        let why = "start pe 3: this program finds itself by /proc/none/self/exe, which is not there; \
                   mount /proc, or run in one process (--fuse all)";
        assert!(said.contains(why), "{said}");
        let other = start("/none/at/all");
        assert!(other.contains("start pe 3, by /none/at/all: "), "{other}");
        assert!(!other.contains("/proc"), "{other}");
    }
}
