//! A job before its launcher's thread runs: starts the processes, or gathers ranks, and starts the
//! threads that forward their output.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use graph::{PeId, Plan, Program};
use runtime::StopSignal;
use transport::Wakeup;

use super::coordinator::JobCoordinator;
use super::job_outcome::JobOutcome;
use super::launcher_thread::Launcher;
use super::output_forwarder::{OutputError, OutputForwarder};
use super::pe_child::{OutputPipes, PeChild};
use super::rank_gathering::RankGathering;
use super::rank_hosts::{RankAddresses, check_crossings, rank_hosts};
use super::rank_listeners::RankListeners;
use super::requests::LauncherRequests;
use crate::control::connection::{self, EncodedMessage};
use crate::control::{Bundle, MessageToPe, RankContact, RankShare, absolute};
use crate::error::Error;
use crate::job::{HostSpec, JobProcesses, LaunchOptions, NotifyingWriter, RankOptions};
use crate::monitor::JobMetadata;

/// A job whose processes are about to be started.
pub struct PreparedJob {
    pub bundle: Bundle,
    pub plan: Plan,
    pub program: Program,
    /// Labels of the PEs in messages.
    pub pe_labels: Vec<String>,
    pub name: String,
    pub coordinator: JobCoordinator,
    pub launch: LaunchOptions,
    /// Host of each PE; `None`: this one.
    pub hosts: Vec<Option<HostSpec>>,
    pub stop: StopSignal,
    pub requests: Arc<LauncherRequests>,
}

/// A thread that forwards the output of PEs.
type ForwarderThread = JoinHandle<Result<(), OutputError>>;

impl PreparedJob {
    /// Runs the job on the calling thread, until all its processes have ended.
    ///
    /// # Errors
    /// The processes cannot be started or watched, or the job has failed.
    pub fn run(mut self) -> Result<Vec<String>, Error> {
        let pes = self.pe_labels.len() as u32;
        let counters = self.launch.counters;
        self.bundle.counters = counters.then(|| JobMetadata::new(&self.name, pes));
        let (children, pipes, failure) = match self.launch.ranks.clone() {
            None => {
                let (children, pipes) = self.spawn_all()?;
                (children, pipes, None)
            }
            Some(options) => self.gather_ranks(&options)?,
        };
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
        let mut outcome = match failure {
            Some(outcome) => {
                drop(children);
                outcome
            }
            None => {
                let launcher = Launcher {
                    children,
                    coordinator: self.coordinator,
                    stop: self.stop.clone(),
                    requests: self.requests.clone(),
                    kill_after: self.launch.kill_after,
                };
                let ran = launcher.run();
                ran.map_err(|error| Error::system("watch PEs", error))?
            }
        };
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
        for pe in (0..self.pe_labels.len() as u32).map(PeId) {
            let command = (self.launch.pe_command)(pe.0, &self.name);
            let command = match &self.hosts[pe.0 as usize] {
                Some(host) => host.wrap_command(command),
                None => command,
            };
            let program = PathBuf::from(command.get_program());
            let spawned = spawn_pe(command, &self.launch.processes);
            let (mut child, pipes) = spawned.map_err(|e| spawn_error(pe, &program, e))?;
            let assigned = assign(&mut child, pe, bundle.clone(), true);
            assigned.map_err(|e| failed("hand on standard input", e))?;
            started.0.push(child);
            started.1.push(pipes);
        }
        Ok(started)
    }
}

/// The PEs of a job, their output, and why the job has failed before it began, if it has.
type GatheredPes = (Vec<PeChild>, Vec<OutputPipes>, Option<JobOutcome>);

impl PreparedJob {
    /// Starts PE 0, waits for the other ranks, and sends all of them the bundle.
    fn gather_ranks(&mut self, options: &RankOptions) -> Result<GatheredPes, Error> {
        let mut contact = RankContact::new(self.pe_labels.len() as u32)?;
        let listeners = RankListeners::new(&mut contact, options)?;
        let command = (self.launch.pe_command)(0, &self.name);
        let program = PathBuf::from(command.get_program());
        let spawned = spawn_pe(command, &self.launch.processes);
        let (mut first, first_pipes) = spawned.map_err(|e| spawn_error(PeId(0), &program, e))?;
        let share = MessageToPe::Share(Box::new(RankShare {
            contact: contact.clone(),
            medium: options.medium.clone(),
            media_path: options.media_path.iter().map(absolute).collect(),
        }));
        let failed = |error: io::Error| Error::system("hand on the program", error);
        first.sender.push(&share, Vec::new()).map_err(failed)?;
        let gathering = RankGathering {
            contact: &contact,
            listeners,
            requests: &self.requests,
            stop: &self.stop,
        };
        let ranks = match gathering.gather(&mut first) {
            Ok(ranks) => ranks,
            Err(outcome) => return Ok((vec![first], vec![first_pipes], Some(outcome))),
        };
        let addresses = ranks.iter().map(|rank| rank.addresses);
        let addresses: Vec<_> = [None].into_iter().chain(addresses).collect();
        self.place_ranks(&addresses)?;
        let bundle = MessageToPe::Bundle(Box::new(self.bundle.clone()));
        let bundle = connection::encode_message(&bundle, 0).map_err(failed)?;
        let (mut children, mut pipes) = (vec![first], vec![first_pipes]);
        for rank in ranks {
            children.push(rank.child);
            pipes.push(rank.pipes);
        }
        let near = addresses.iter().map(Option::is_none);
        for ((pe, child), is_near) in (0..).map(PeId).zip(&mut children).zip(near) {
            assign(child, pe, bundle.clone(), is_near).map_err(failed)?;
        }
        Ok((children, pipes, None))
    }

    /// Notes the hosts of ranks in the plan and the bundle, if there are several, and checks that
    /// streams between them cross hosts.
    fn place_ranks(&mut self, addresses: &[RankAddresses]) -> Result<(), Error> {
        let hosts = rank_hosts(addresses, self.launch.ranks.as_ref());
        if hosts.is_empty() {
            return Ok(());
        }
        let host_of = |rank: usize| {
            let address = addresses[rank].map_or(hosts[0].address, |(far, _)| far);
            hosts
                .iter()
                .find(|host| host.address == address)
                .unwrap_or(&hosts[0])
        };
        for (rank, pe) in self.plan.pes.iter_mut().enumerate() {
            pe.host = Some((*host_of(rank).name).into());
        }
        check_crossings(&self.plan, &self.program, addresses)?;
        let text = self.plan.display(&self.program).to_string();
        self.bundle = self.bundle.clone().with_hosts(text, hosts);
        Ok(())
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
fn spawn_error(pe: PeId, program: &Path, error: io::Error) -> Error {
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

fn spawn_pe(command: Command, processes: &JobProcesses) -> io::Result<(PeChild, OutputPipes)> {
    processes.start(|| {
        let (child, pipes) = PeChild::spawn(command)?;
        let exit_fd = child.exit_fd();
        Ok(((child, pipes), exit_fd))
    })
}

/// Sends a PE the bundle, its number, and standard input unless it is on another host.
fn assign(child: &mut PeChild, pe: PeId, bundle: EncodedMessage, is_near: bool) -> io::Result<()> {
    let stdin = match is_near {
        true => vec![io::stdin().as_fd().try_clone_to_owned()?],
        false => Vec::new(),
    };
    child.sender.push_encoded(bundle, Vec::new());
    child.sender.push(&MessageToPe::Begin(pe.0), stdin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_proc_it_is_said_what_is_missing() {
        let start = |program: &str| {
            let error = Command::new(program).spawn().unwrap_err();
            spawn_error(PeId(3), Path::new(program), error).to_string()
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
