//! A PE's process: compiles the job's program, and runs its own part of it.
//!
//! ```text
//!   main thread      receives its assignment, and waits
//!   second thread    with stack for any program: receives messages until Go, then waits for the
//!                    PE's end
//!   "launcher"       from Go on: Stop, Count; ends the process when the launcher is gone
//!   "signals"        forwards requests to end this process as a shutdown of the job
//!   regions          the operators
//! ```
//! See [`crate::control`] for the messages and their order.
//!
//! A PE that is a rank of an MPI job was started by mpirun instead, and stays when it has ended
//! until the launcher closes the connection: all ranks leave together.
//!
//! # Invariants
//! The process does not outlive its launcher: the kernel kills it with the launcher's thread, and a
//! closed connection ends it otherwise.

mod rank_member;

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use graph::{CrossingId, PeId, Program};
use planner::PeProgram;
use runtime::crossing::CrossingEnds;
use runtime::{FailureReport, Pe, StopSignal};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::compilation::{self, CompileRequest};
use crate::control::connection::{self, ControlReceiver, ControlSender, with_retries};
use crate::control::{Bundle, EXIT_LAUNCHER_LOST, MessageFromPe, MessageToPe};
use crate::deep_stack::with_deep_stack;
use crate::error::Error;
use crate::job::{RankOptions, watch_parent};
use crate::monitor::{JobMetadata, RunningPlan, Sampler};
use crate::part::{
    self, CrossingFailure, CrossingTicket, Crossings, PartOptions, PeEnding, PeFailure,
    UnfiredWindows,
};
use crate::plan::with_media_search;
use crate::profiling::{PartNames, PeProfiler, ProfileRequest, machine};

/// Runs this process as a PE of the job whose launcher started it. Returns when the PE has ended
/// and has reported its ending to the launcher.
///
/// `shutdown_requests` yields an item for each signal that asks this process to end. The PE reports
/// each to the launcher, which shuts the job down. An error of listening for signals fails the PE.
///
/// # Errors
/// [`Error::Program`] if this process was not started by a launcher.
pub fn serve(
    shutdown_requests: io::Result<impl Iterator<Item = ()> + Send + 'static>,
) -> Result<(), Error> {
    let connection = LauncherConnection::open_stdin()?;
    let tied = set_parent_process_death_signal(Some(Signal::KILL));
    let tied = tied.map_err(|error| Error::system("ask for the end with the launcher", error));
    connection.serve(tied, shutdown_requests);
    Ok(())
}

/// Runs this process as a PE of a job whose PEs are ranks: the rank above 0 that the environment of
/// `ranks` says. Returns when all PEs have ended. For `shutdown_requests` see [`serve`].
///
/// # Errors
/// The other ranks cannot be joined, or the launcher of rank 0 cannot be reached.
pub fn serve_rank(
    ranks: &RankOptions,
    shutdown_requests: io::Result<impl Iterator<Item = ()> + Send + 'static>,
) -> Result<(), Error> {
    watch_parent(|| {})?;
    let socket = rank_member::connect(ranks)?;
    let connection = LauncherConnection::new(socket, true);
    connection.serve(Ok(()), shutdown_requests);
    Ok(())
}

fn run_pe(
    mut connection: LauncherConnection,
    shutdown_requests: io::Result<impl Iterator<Item = ()> + Send + 'static>,
) -> Result<PeEnding, Error> {
    let requests = shutdown_requests.map_err(|error| Error::system("listen for signals", error))?;
    forward_signals(requests, connection.sender.clone())?;
    match connection.receive_assignment() {
        Ok((bundle, number)) => {
            // The name of the main thread is the name of the process.
            let _ = rustix::thread::set_name(&process_name(number));
            with_deep_stack(|| connection.prepare_and_run(*bundle, number))
        }
        Err(ending) => Ok(ending),
    }
}

fn forward_signals(
    requests: impl Iterator<Item = ()> + Send + 'static,
    sender: LauncherSender,
) -> Result<(), Error> {
    let forward = move || requests.for_each(|()| sender.send(&MessageFromPe::Stopping, Vec::new()));
    let thread = Builder::new().name("signals".to_owned()).spawn(forward);
    thread.map_err(|error| Error::system("start a thread", error))?;
    Ok(())
}

/// The control connection to the launcher.
struct LauncherConnection {
    receiver: ControlReceiver,
    sender: LauncherSender,
}

/// Sends messages to the launcher, from any thread.
#[derive(Clone)]
struct LauncherSender(Arc<SharedSender>);

struct SharedSender {
    sender: Mutex<ControlSender>,
    /// The connection itself, on which the PE of a rank waits for the launcher's end of it.
    socket: OwnedFd,
    /// Whether the PE is a rank, which leaves with the others.
    is_rank: AtomicBool,
    /// Whether the PE has reported its ending: a closed connection means nothing then.
    has_ended: AtomicBool,
}

/// A PE that is wired and ready to run.
struct WiredPe {
    pe: Pe,
    /// Names of the sources of the whole program that are in this PE.
    sources: Vec<String>,
    program: Program,
    /// The job's entry in counters files, if they are written.
    counters: Option<JobMetadata>,
    /// The request for the PE's profile, if there is one, and the names for it.
    profile: Option<(ProfileRequest, PartNames)>,
    /// The whole program with its plan, and the number of this PE.
    running_plan: RunningPlan,
}

impl LauncherConnection {
    /// Opens the connection: the socket is standard input, until the launcher sends the descriptor
    /// that replaces it.
    fn open_stdin() -> Result<LauncherConnection, Error> {
        let by_hand = || Error::Program("this command is for `thalweg run`".to_owned());
        let stdin = io::stdin();
        let socket = match rustix::io::fcntl_dupfd_cloexec(stdin.as_fd(), 3) {
            Err(Errno::BADF) => return Err(by_hand()),
            Err(error) => exit_launcher_lost("reach", &error.into()),
            Ok(socket) => UnixStream::from(socket),
        };
        match socket
            .peer_addr()
            .map_err(|error| Errno::from_io_error(&error))
        {
            Err(Some(Errno::NOTSOCK | Errno::NOTCONN | Errno::INVAL)) => return Err(by_hand()),
            Err(error) => exit_launcher_lost("reach", &error.unwrap_or(Errno::INVAL).into()),
            Ok(_) => {}
        }
        Ok(LauncherConnection::new(socket.into(), false))
    }

    fn new(socket: OwnedFd, is_rank: bool) -> LauncherConnection {
        let own = rustix::io::fcntl_dupfd_cloexec(&socket, 3);
        let own = own.unwrap_or_else(|error| exit_launcher_lost("reach", &error.into()));
        let (receiver, sender) = connection::split_connection(socket);
        let sender = LauncherSender(Arc::new(SharedSender {
            sender: Mutex::new(sender),
            socket: own,
            is_rank: AtomicBool::new(is_rank),
            has_ended: AtomicBool::new(false),
        }));
        LauncherConnection { receiver, sender }
    }

    /// Runs the PE, reports its ending, and leaves the ranks together with the others.
    fn serve(
        self,
        tied: Result<(), Error>,
        shutdown_requests: io::Result<impl Iterator<Item = ()> + Send + 'static>,
    ) {
        let sender = self.sender.clone();
        let ended = tied.and_then(|()| run_pe(self, shutdown_requests));
        let ending = ended.unwrap_or_else(|error| failed_ending(error.to_string(), false));
        sender.0.has_ended.store(true, Ordering::SeqCst);
        sender.send(&MessageFromPe::Ended(ending), Vec::new());
        sender.wait_for_others();
    }

    fn prepare_and_run(mut self, bundle: Bundle, number: PeId) -> PeEnding {
        match self.prepare(bundle, number) {
            Ok(ready) => self.run(ready),
            Err(ending) => ending,
        }
    }

    /// Does everything up to `Go`. An `Err` is the ending of a PE that never ran.
    fn prepare(&mut self, bundle: Bundle, number: PeId) -> Result<WiredPe, PeEnding> {
        let request = bundle.request();
        let program = compilation::compile_again(&request, &bundle.sources);
        let program = program.ok_or_else(|| no_program(&request))?;
        let plan = planner::parse_plan(&bundle.plan, &program);
        let plan =
            plan.map_err(|error| bug_ending(&format!("the plan cannot be read: {error}")))?;
        if number.0 as usize >= plan.pes.len() {
            return Err(bug_ending("the plan has not so many PEs"));
        }
        let part = planner::cut(&program, &plan, number);
        let launch = bundle
            .launch()
            .map_err(|error| failed_ending(error.to_string(), false))?;
        let crossings = Crossings::new(&plan, &program, bundle.token, &launch.hosts);
        let mut crossing_ends = self.open_crossings(&crossings, &part, number)?;
        crossing_ends.measures_latency = launch.latency;
        let part_options = PartOptions {
            crossing_ends,
            cores: plan.pe(number).cores.clone(),
            pins: part.pins.clone(),
            properties: vec![("PEID".to_owned(), number.to_string())],
        };
        let wired = part::wire(&part.program, &launch, part_options);
        let pe = wired.map_err(|error| failed_ending(error.to_string(), false))?;
        let pe = pe.map_err(|report| part::pe_ending(&part.program.files, &report))?;
        self.sender.send(&MessageFromPe::Ready, Vec::new());
        self.expect_go()?;
        let mut sources = part::source_names(&part.program);
        let program_sources = part::source_names(&program);
        sources.retain(|name| program_sources.contains(name));
        let machine = machine();
        let names = PartNames::new(&part.program, (number, machine), Some((&plan, &program)));
        Ok(WiredPe {
            pe,
            profile: launch.profile.map(|profile| (profile.request(), names)),
            sources,
            program: part.program,
            counters: bundle.counters,
            running_plan: RunningPlan {
                program,
                plan,
                pe: number,
            },
        })
    }

    /// Receives the bundle and the number of this PE. Standard input becomes that of the launcher.
    fn receive_assignment(&mut self) -> Result<(Box<Bundle>, PeId), PeEnding> {
        let mut first = self.receive().0;
        if let MessageToPe::Share(share) = first {
            self.sender.0.is_rank.store(true, Ordering::SeqCst);
            let shared = rank_member::share(&share);
            shared.map_err(|error| failed_ending(error.to_string(), false))?;
            first = self.receive().0;
        }
        let MessageToPe::Bundle(bundle) = first else {
            return Err(bug_ending("the launcher did not begin with the program"));
        };
        let (MessageToPe::Begin(number), fds) = self.receive() else {
            return Err(bug_ending("the launcher did not say which PE this is"));
        };
        let is_rank = self.sender.0.is_rank.load(Ordering::SeqCst);
        match fds.first() {
            Some(stdin) => {
                let replaced = rustix::stdio::dup2_stdin(stdin);
                let failed = |error| format!("cannot set standard input: {error}");
                replaced.map_err(|error| failed_ending(failed(error), false))?;
            }
            // A rank of another host keeps what it was started with.
            None if is_rank => {}
            None => return Err(bug_ending("no standard input has come")),
        }
        Ok((bundle, PeId(number)))
    }

    /// Opens the sending ends and accepts the receiving ends of this PE's crossings.
    fn open_crossings(
        &mut self,
        crossings: &Crossings<'_>,
        part: &PeProgram,
        number: PeId,
    ) -> Result<CrossingEnds, PeEnding> {
        let mut ends = CrossingEnds {
            pe: number,
            ..CrossingEnds::default()
        };
        for &crossing in &part.sent_crossings {
            let opened = crossings.open(crossing);
            let failed = |failure| unopened_ending(failure, false);
            let (sending, tickets) = opened.map_err(failed)?;
            ends.outbound.insert(crossing, sending);
            for (ticket, fds) in tickets {
                self.sender.send(&MessageFromPe::Ticket(ticket), fds);
            }
        }
        self.sender.send(&MessageFromPe::Opened, Vec::new());
        for (ticket, fds) in self.receive_tickets()? {
            let crossing = CrossingId(ticket.crossing);
            let accepted = crossings.accept(ticket, fds);
            let receiving = accepted.map_err(|failure| unopened_ending(failure, true))?;
            ends.inbound.insert(crossing, receiving);
        }
        let opened = crossings.open_rings(part, number, &mut ends);
        opened.map_err(|sentence| failed_ending(sentence, false))?;
        Ok(ends)
    }

    /// Receives the tickets of the crossings that end in this PE.
    fn receive_tickets(&mut self) -> Result<Vec<(CrossingTicket, Vec<OwnedFd>)>, PeEnding> {
        let mut tickets = Vec::new();
        loop {
            match self.receive() {
                (MessageToPe::Ticket(ticket), fds) => tickets.push((ticket, fds)),
                (MessageToPe::Accept, _) => return Ok(tickets),
                (MessageToPe::Stop, _) => return Err(PeEnding::default()),
                _ => return Err(bug_ending("the launcher sent another message than tickets")),
            }
        }
    }

    fn expect_go(&mut self) -> Result<(), PeEnding> {
        match self.receive() {
            (MessageToPe::Go, _) => Ok(()),
            (MessageToPe::Stop, _) => Err(PeEnding::default()),
            _ => Err(bug_ending(
                "the launcher sent another message than to begin",
            )),
        }
    }

    /// Runs the PE until it has ended.
    fn run(self, ready: WiredPe) -> PeEnding {
        let program = ready.program;
        let ending = |report: FailureReport| part::pe_ending(&program.files, &report);
        let (stop, sender) = (ready.pe.stop_signal(), self.sender.clone());
        ready
            .pe
            .on_shutdown(move || sender.send(&MessageFromPe::Stopping, Vec::new()));
        let running = match ready.pe.start() {
            Ok(running) => running,
            Err(report) => return ending(report),
        };
        let job = ready.counters;
        let plan = ready.running_plan;
        let _sampler = job.and_then(|job| Sampler::start(job, &program, &running, plan));
        let profile = ready.profile;
        let profiler = profile.map(|(request, names)| PeProfiler::start(request, names, &running));
        let profiler = match profiler.transpose() {
            Ok(profiler) => profiler,
            Err(error) => return failed_ending(error.to_string(), false),
        };
        let (operator_counts, sources) = (running.operator_counts_handle(), ready.sources);
        let counts = move || part::source_counts(&sources, &operator_counts());
        let sender = self.sender.clone();
        let handle_messages = move || self.handle_messages(&stop, &counts);
        if let Err(error) = Builder::new()
            .name("launcher".to_owned())
            .spawn(handle_messages)
        {
            return failed_ending(format!("cannot start a thread: {error}"), false);
        }
        let leftovers = running.leftovers();
        let joined = running.join();
        if let Some(profile) = profiler.and_then(PeProfiler::finish) {
            sender.send(&MessageFromPe::Profile(profile.to_text()), Vec::new());
        }
        joined.map_or_else(ending, |_| PeEnding {
            leftovers: leftovers()
                .iter()
                .map(|left| UnfiredWindows::new(&program.files, left))
                .collect(),
            ..PeEnding::default()
        })
    }

    /// Handles the launcher's messages while the PE runs.
    fn handle_messages(mut self, stop: &StopSignal, counts: &dyn Fn() -> Vec<(String, u64)>) {
        loop {
            match self.receive() {
                (MessageToPe::Stop, _) => stop.request(),
                (MessageToPe::Count, _) => self
                    .sender
                    .send(&MessageFromPe::Counts(counts()), Vec::new()),
                // No other message follows `Go`.
                _ => {}
            }
        }
    }

    /// Receives the next message of the launcher; exits if the launcher has gone.
    fn receive(&mut self) -> (MessageToPe, Vec<OwnedFd>) {
        match self.receiver.recv() {
            Ok(Some(message)) => message,
            // The launcher has closed the connection.
            Ok(None) => self.sender.end_with_launcher(None),
            Err(error) => self.sender.end_with_launcher(Some(("hear", &error))),
        }
    }
}

impl LauncherSender {
    /// Sends a message to the launcher; exits if the launcher has gone.
    fn send(&self, message: &MessageFromPe, fds: Vec<OwnedFd>) {
        let sender = self.0.sender.lock();
        let mut sender = sender.unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = sender.send(message, fds) {
            self.end_with_launcher(Some(("tell", &error)));
        }
    }

    /// Ends this process, as the launcher has gone; if the PE of a rank has reported its ending,
    /// only this thread, for the main thread ends the process then.
    fn end_with_launcher(&self, tried: Option<(&str, &io::Error)>) -> ! {
        while self.0.is_rank.load(Ordering::SeqCst) && self.0.has_ended.load(Ordering::SeqCst) {
            std::thread::park();
        }
        match tried {
            Some((tried, error)) => exit_launcher_lost(tried, error),
            None => std::process::exit(EXIT_LAUNCHER_LOST),
        }
    }

    /// Waits until the launcher closes the connection, if this PE is a rank: then all have ended.
    fn wait_for_others(&self) {
        while self.0.is_rank.load(Ordering::SeqCst) {
            let mut closed = [PollFd::new(&self.0.socket, PollFlags::RDHUP)];
            match with_retries(|| poll(&mut closed, None)) {
                Ok(_) if closed[0].revents().is_empty() => {}
                // Without memory for the call there is no way to wait any longer.
                _ => return,
            }
        }
    }
}

/// Ends this process, which has lost its launcher and has no other to report to.
fn exit_launcher_lost(tried: &str, error: &io::Error) -> ! {
    let _ = writeln!(io::stderr(), "cannot {tried} the launcher: {error}");
    std::process::exit(EXIT_LAUNCHER_LOST)
}

/// Name of the process in `ps`: at most 15 bytes.
fn process_name(number: PeId) -> std::ffi::CString {
    std::ffi::CString::new(format!("thalweg-pe{number}")).unwrap_or_default()
}

fn failed_ending(line: String, is_crossing: bool) -> PeEnding {
    unopened_ending(line.into(), is_crossing)
}

/// The ending of a PE that could not open an end of a crossing.
fn unopened_ending(failure: CrossingFailure, is_crossing: bool) -> PeEnding {
    let CrossingFailure {
        line,
        shared_reason,
    } = failure;
    PeEnding {
        failures: vec![PeFailure {
            line,
            is_crossing,
            shared_reason,
        }],
        ..PeEnding::default()
    }
}

/// The ending of a PE whose program does not compile: a library that is a medium is missing on its
/// host, or there is a bug.
fn no_program(request: &CompileRequest) -> PeEnding {
    if request.media_path.is_empty() {
        return bug_ending("the program does not compile a second time");
    }
    let sentence = "the program does not compile in this process; are the libraries of media here?";
    failed_ending(with_media_search(sentence), false)
}

fn bug_ending(what: &str) -> PeEnding {
    failed_ending(format!("internal error: {what}"), false)
}
