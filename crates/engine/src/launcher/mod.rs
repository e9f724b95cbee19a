//! The launcher: runs a job of several PEs, from starting their processes to the last of them.
//!
//! ```text
//!   the caller's thread          the launcher's thread                 two threads
//!     Job  <---- outcome ------    sockets, ends of processes            standard output, error
//!      \----- stop, count ---->    -> coordinator -> messages, kills     of all PEs -> ours
//! ```
//!
//! One thread polls all sockets and never waits for a single PE. Only if the kernel has no memory
//! for a message do all PEs wait, for at most a second. Messages go to the [`JobCoordinator`],
//! which decides what to do. The processes die with the launcher's thread, however it ends.

mod coordinator;
mod job_outcome;
mod output_forwarder;
mod pe_child;

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use graph::{Plan, Program};
use runtime::StopSignal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use transport::Wakeup;

use crate::compilation::Compilation;
use crate::control::connection::{self, EncodedMessage};
use crate::control::{Bundle, MessageFromPe, MessageToPe};
use crate::error::Error;
use crate::job::{HostSpec, Job, JobProcesses, LaunchOptions, NotifyingWriter, find_host};
use crate::monitor::JobMetadata;
use coordinator::{CoordinatorAction, JobCoordinator};
use job_outcome::JobOutcome;
use output_forwarder::{OutputError, OutputForwarder};
use pe_child::{OutputPipes, PeChild};

/// Starts a job that runs each PE of the plan in a process of its own.
///
/// # Errors
/// [`Error::System`] if the system cannot start a thread or make an event. Every other failed
/// set-up is an error of the job's end.
pub fn launch(
    compilation: &Compilation,
    program: &Program,
    plan: &Plan,
    launch: &LaunchOptions,
) -> Result<Job, Error> {
    let stop = StopSignal::default();
    let requests =
        LauncherRequests::new().map_err(|error| Error::system("make an event", error))?;
    let requests = Arc::new(requests);
    let on_stop = requests.clone();
    stop.on_request(move || on_stop.wakeup.wake());
    let (sender, ended) = channel();
    let text = plan.display(program).to_string();
    let host = |pe: &graph::PePlan| find_host(&launch.hosts, pe.host.as_deref()?).cloned();
    let job = PreparedJob {
        bundle: Bundle::new(compilation, text, launch)?,
        coordinator: JobCoordinator::new(plan),
        pe_labels: job_outcome::pe_labels(plan, program),
        name: program.name.to_string(),
        launch: launch.clone(),
        hosts: plan.pes.iter().map(host).collect(),
        stop: stop.clone(),
        requests: requests.clone(),
    };
    let thread = Builder::new().name("launcher".to_owned());
    let started = thread.spawn(move || sender.send(job.run()));
    started.map_err(|error| Error::system("start a thread", error))?;
    Ok(Job::new(stop, Box::new(move || requests.counts()), ended))
}

/// Requests of other threads to the launcher's thread, and the counts that it returns.
struct LauncherRequests {
    /// Wakes the launcher's thread when there is a request.
    wakeup: Wakeup,
    /// Whether the counts of the sources were requested.
    wants_counts: AtomicBool,
    counts: Mutex<Vec<(String, u64)>>,
}

/// A job whose processes are about to be started.
struct PreparedJob {
    bundle: Bundle,
    /// Labels of the PEs in messages.
    pe_labels: Vec<String>,
    name: String,
    coordinator: JobCoordinator,
    launch: LaunchOptions,
    /// Host of each PE; `None`: this one.
    hosts: Vec<Option<HostSpec>>,
    stop: StopSignal,
    requests: Arc<LauncherRequests>,
}

/// State of the launcher's thread while the job runs.
struct Launcher {
    children: Vec<PeChild>,
    coordinator: JobCoordinator,
    stop: StopSignal,
    requests: Arc<LauncherRequests>,
    kill_after: Option<Duration>,
}

/// Number of reads from one PE before the launcher reads from the next, so that no PE starves
/// another.
const READS_PER_TURN_MAX: usize = 16;

/// A thread that forwards the output of PEs.
type ForwarderThread = JoinHandle<Result<(), OutputError>>;

impl LauncherRequests {
    fn new() -> io::Result<LauncherRequests> {
        Ok(LauncherRequests {
            wakeup: Wakeup::new()?,
            wants_counts: AtomicBool::new(false),
            counts: Mutex::default(),
        })
    }

    fn set_counts(&self, counts: Vec<(String, u64)>) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }

    /// Returns the last counts and requests new ones.
    fn counts(&self) -> Vec<(String, u64)> {
        self.wants_counts.store(true, Ordering::Relaxed);
        self.wakeup.wake();
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl PreparedJob {
    fn run(mut self) -> Result<Vec<String>, Error> {
        let pes = self.pe_labels.len() as u32;
        let counters = self.launch.counters;
        self.bundle.counters = counters.then(|| JobMetadata::new(&self.name, pes));
        let (children, pipes) = self.spawn_all()?;
        let (out, err): (Vec<_>, Vec<_>) = pipes.into_iter().map(|p| (p.stdout, p.stderr)).unzip();
        let before = self.launch.before_print;
        let new_wakeup = || Wakeup::new().map_err(|error| Error::system("make an event", error));
        let (no_out, no_err) = (new_wakeup()?, new_wakeup()?);
        let tags = self.launch.tag_output;
        let stdout = OutputForwarder::new(
            out,
            tags,
            NotifyingWriter(io::stdout(), before),
            no_out.clone(),
        );
        let stop = self.stop.clone();
        // A job whose standard output cannot be written stops. Messages on standard error that
        // cannot be written stop no job.
        let stdout = start_forwarder(move || stdout.run().inspect_err(|_| stop.request()))?;
        let stderr = BestEffortWriter(NotifyingWriter(io::stderr(), before));
        let stderr = OutputForwarder::new(err, true, stderr, no_err.clone());
        let stderr = start_forwarder(move || stderr.run())?;
        let launcher = Launcher {
            children,
            coordinator: self.coordinator,
            stop: self.stop.clone(),
            requests: self.requests.clone(),
            kill_after: self.launch.kill_after,
        };
        let mut outcome = launcher
            .run()
            .map_err(|error| Error::system("watch PEs", error))?;
        no_out.wake();
        no_err.wake();
        if let Ok(Err(error)) = stderr.join() {
            outcome.set_messages_error(error);
        }
        if let Ok(Err(error)) = stdout.join() {
            outcome.set_output_error(error);
        }
        outcome.into_result(&self.pe_labels)
    }

    /// Starts all processes and sends them the bundle.
    fn spawn_all(&self) -> Result<(Vec<PeChild>, Vec<OutputPipes>), Error> {
        let failed = |what: &str, error: io::Error| Error::system(what, error);
        let bundle = MessageToPe::Bundle(Box::new(self.bundle.clone()));
        let bundle =
            connection::encode_message(&bundle, 0).map_err(|e| failed("hand on the program", e))?;
        let mut started = (Vec::new(), Vec::new());
        for pe in 0..self.pe_labels.len() as u32 {
            let command = (self.launch.pe_command)(pe, &self.name);
            let command = match &self.hosts[pe as usize] {
                Some(host) => host.wrap_command(command),
                None => command,
            };
            let program = PathBuf::from(command.get_program());
            let spawned = spawn_pe(command, pe, bundle.clone(), &self.launch.processes);
            let (child, pipes) = spawned.map_err(|e| spawn_error(pe, &program, e))?;
            started.0.push(child);
            started.1.push(pipes);
        }
        Ok(started)
    }
}

/// Starts a thread that forwards the output of PEs.
fn start_forwarder(
    run: impl FnOnce() -> Result<(), OutputError> + Send + 'static,
) -> Result<ForwarderThread, Error> {
    let thread = Builder::new().name("output".to_owned()).spawn(run);
    thread.map_err(|error| Error::system("start a thread", error))
}

/// A writer that ignores errors: messages that cannot be written end no job.
struct BestEffortWriter<W>(W);

impl<W: Write> Write for BestEffortWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

/// The error of a process that was not started. Without /proc a program does not find its own
/// binary.
fn spawn_error(pe: u32, program: &Path, error: io::Error) -> Error {
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

fn spawn_pe(
    command: Command,
    pe: u32,
    bundle: EncodedMessage,
    processes: &JobProcesses,
) -> io::Result<(PeChild, OutputPipes)> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let (mut child, pipes) = processes.start(|| {
        let (child, pipes) = PeChild::spawn(command)?;
        let exit_fd = child.exit_fd();
        Ok(((child, pipes), exit_fd))
    })?;
    child.sender.push_encoded(bundle, Vec::new());
    child.sender.push(&MessageToPe::Begin(pe), vec![stdin])?;
    Ok((child, pipes))
}

impl Launcher {
    /// Runs the job until all processes have ended.
    ///
    /// # Errors
    /// Polling fails, or a thread for the delayed shutdown cannot be started.
    fn run(mut self) -> io::Result<JobOutcome> {
        loop {
            for action in self.coordinator.take_actions(Instant::now()) {
                self.execute_action(action);
            }
            self.flush_connections();
            if self.coordinator.is_over() {
                self.stop.request();
                return Ok(self.coordinator.into_outcome());
            }
            if self.coordinator.is_running()
                && let Some(time) = self.kill_after.take()
            {
                self.stop.request_after(time.as_secs_f64())?;
            }
            self.wait()?;
        }
    }

    fn execute_action(&mut self, action: CoordinatorAction) {
        match action {
            CoordinatorAction::Send(pe, message, fds) => {
                let sender = &mut self.children[pe as usize].sender;
                if let Err(error) = sender.push(&message, fds) {
                    self.coordinator.on_protocol_error(pe, &error.to_string());
                }
            }
            CoordinatorAction::Kill(pe) => self.children[pe as usize].kill(),
        }
    }

    /// Sends the messages that wait for room. A PE whose connection fails has ended, or is about
    /// to.
    fn flush_connections(&mut self) {
        for (pe, child) in (0..).zip(&mut self.children) {
            if let Err(error) = child.sender.flush() {
                child.sender.close();
                self.coordinator.on_connection_lost(pe, error.to_string());
            }
        }
    }

    /// Waits until a PE, a process's end, a request or a deadline needs attention, and handles it.
    fn wait(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let deadline = self.coordinator.deadline();
        let left = deadline.map(|at| at.saturating_duration_since(now));
        let retries = self.children.iter().filter_map(|c| c.sender.retry_after());
        let left = left.into_iter().chain(retries).min();
        let left = left.map(|left| Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        let mut fds = vec![PollFd::new(&self.requests.wakeup, PollFlags::IN)];
        let mut sources = Vec::new();
        for (pe, child) in self.children.iter().enumerate() {
            for (fd, flags, is_end) in child.poll_entries() {
                fds.push(PollFd::from_borrowed_fd(fd, flags));
                sources.push((pe, is_end));
            }
        }
        connection::with_retries(|| poll(&mut fds, left.as_ref()))?;
        let ready: Vec<_> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready[0] {
            self.take_requests();
        }
        let sources = sources.into_iter().zip(&ready[1..]);
        for ((pe, is_end), _) in sources.filter(|(_, is_ready)| **is_ready) {
            self.handle_readable(pe, is_end);
        }
        Ok(())
    }

    fn take_requests(&mut self) {
        self.requests.wakeup.clear();
        if self.stop.is_requested() {
            self.coordinator.stop();
        }
        if self.requests.wants_counts.swap(false, Ordering::Relaxed) {
            self.coordinator.request_counts();
        }
    }

    /// Reads from a PE that has sent something, or whose process has ended.
    fn handle_readable(&mut self, pe: usize, has_ended: bool) {
        let child = &mut self.children[pe];
        let number = pe as u32;
        if child.is_connected() {
            // All messages sent before the end have arrived: read until there are none.
            let turns = if has_ended {
                usize::MAX
            } else {
                READS_PER_TURN_MAX
            };
            let read = child.read_messages(turns);
            self.handle_messages(pe);
            match read {
                Ok(false) => {}
                Ok(true) => self.coordinator.on_closed(number),
                Err(error) => self
                    .coordinator
                    .on_connection_lost(number, error.to_string()),
            }
        }
        if has_ended {
            let exit = self.children[pe].wait();
            self.coordinator.on_exit(number, exit);
        }
    }

    /// Handles every whole message that has arrived from a PE.
    fn handle_messages(&mut self, pe: usize) {
        loop {
            let message = self.children[pe].receiver.try_recv::<MessageFromPe>();
            let number = pe as u32;
            match message {
                Ok(Some((MessageFromPe::Counts(counts), _))) => {
                    self.coordinator.on_counts(number, counts);
                    self.requests.set_counts(self.coordinator.counts());
                }
                Ok(Some((message, fds))) => self.coordinator.on_message(number, message, fds),
                Ok(None) => return,
                Err(error) => {
                    self.children[pe].disconnect();
                    return self
                        .coordinator
                        .on_protocol_error(number, &error.to_string());
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
            spawn_error(3, Path::new(program), error).to_string()
        };
        // This is the path of a system where /proc is an empty folder.
        let message = start("/proc/none/self/exe");
        let why = "start pe 3: this program finds itself by /proc/none/self/exe, which is not there; \
                   mount /proc, or run in one process (--fuse all)";
        assert!(message.contains(why), "{message}");
        let other = start("/none/at/all");
        assert!(other.contains("start pe 3, by /none/at/all: "), "{other}");
        assert!(!other.contains("/proc"), "{other}");
    }
}
