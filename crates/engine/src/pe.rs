//! A PE's process: it makes its part of a job's program and runs it.
//!
//! ```text
//!   main thread      reads what it is to be, and waits
//!   one beside it    with stack for any program: reads what the launcher says until Go, then waits
//!                    for the PE's end
//!   "launcher"       from Go on: Stop, Count; ends the process when the launcher is gone
//!   "signals"        asks for an orderly shutdown of the job whenever somebody asks this process
//!   regions          the PE
//! ```
//! See [`crate::control`] for what is said when.
//!
//! # Invariants
//! The process does not outlive its launcher: the system kills it with the launcher's thread, and
//! where it does not, the closed connection ends it.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use graph::Program;
use planner::PeProgram;
use runtime::crossing::CrossingEnds;
use runtime::{FailureReport, Pe, StopSignal};
use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::bundle::Bundle;
use crate::control::connection::{self, ControlReceiver, ControlSender};
use crate::control::{CrossingTicket, MessageFromPe, MessageToPe, PeEnding, PeFailure};
use crate::crossing::Crossings;
use crate::launch::PartOptions;
use crate::monitor::{JobMetadata, Sampler};
use crate::unfired_windows::UnfiredWindows;
use crate::{Error, compilation, failure_text, launch};

/// Is a PE of the job whose launcher started this process. Returns when the PE has ended and the
/// launcher knows how. The launcher is told of every shutdown that is `asked` for here, and of what
/// keeps this process from hearing of them.
///
/// # Errors
/// The process was not started by a launcher.
pub fn serve(asked: io::Result<impl Iterator<Item = ()> + Send + 'static>) -> Result<(), Error> {
    let connection = LauncherConnection::open_stdin()?;
    let sender = connection.sender.clone();
    let ending =
        run_pe(connection, asked).unwrap_or_else(|error| failed_ending(error.to_string(), false));
    sender.send(&MessageFromPe::Ended(ending), Vec::new());
    Ok(())
}

fn run_pe(
    mut line: LauncherConnection,
    asked: io::Result<impl Iterator<Item = ()> + Send + 'static>,
) -> Result<PeEnding, Error> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Error::system("ask for the end with the launcher", error))?;
    let asked = asked.map_err(|error| Error::system("listen for signals", error))?;
    forward_signals(asked, line.sender.clone())?;
    match line.receive_assignment() {
        Ok((bundle, number)) => {
            // The process has the name of its main thread.
            let _ = rustix::thread::set_name(&process_name(number));
            crate::with_deep_stack(|| line.prepare_and_run(*bundle, number))
        }
        Err(ending) => Ok(ending),
    }
}

fn forward_signals(
    asked: impl Iterator<Item = ()> + Send + 'static,
    voice: LauncherSender,
) -> Result<(), Error> {
    let tell = move || asked.for_each(|()| voice.send(&MessageFromPe::Stopping, Vec::new()));
    let thread = Builder::new().name("signals".to_owned()).spawn(tell);
    thread.map_err(|error| Error::system("start a thread", error))?;
    Ok(())
}

/// The line to the launcher.
struct LauncherConnection {
    receiver: ControlReceiver,
    sender: LauncherSender,
}

/// What speaks to the launcher, from any thread.
#[derive(Clone)]
struct LauncherSender(Arc<Mutex<ControlSender>>);

/// A wired PE.
struct WiredPe {
    pe: Pe,
    /// Those of its operators that are sources of the program.
    sources: Vec<String>,
    program: Program,
    /// Whose counters it shows, and its number.
    counters: Option<JobMetadata>,
    number: u32,
}

impl LauncherConnection {
    /// The socket is standard input, until what standard input is to be comes over it.
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
        let (inbox, outbox) = connection::split_connection(socket);
        let sender = LauncherSender(Arc::new(Mutex::new(outbox)));
        Ok(LauncherConnection {
            receiver: inbox,
            sender,
        })
    }

    fn prepare_and_run(mut self, bundle: Bundle, number: u32) -> PeEnding {
        match self.prepare(bundle, number) {
            Ok(ready) => self.run(ready),
            Err(ending) => ending,
        }
    }

    /// Everything up to `Go`. An ending instead of a PE is one that never ran.
    fn prepare(&mut self, bundle: Bundle, number: u32) -> Result<WiredPe, PeEnding> {
        let request = bundle.request();
        let whole = compilation::compile_again(&request, &bundle.sources);
        let whole =
            whole.ok_or_else(|| bug_ending("the program does not compile a second time"))?;
        let plan = planner::parse_plan(&bundle.plan, &whole);
        let plan =
            plan.map_err(|error| bug_ending(&format!("the plan cannot be read: {error}")))?;
        if number as usize >= plan.pes.len() {
            return Err(bug_ending("the plan has not so many PEs"));
        }
        let part = planner::cut(&whole, &plan, number);
        let launch = bundle.launch();
        let crossings = Crossings::new(&plan, &whole, bundle.token, &launch.hosts);
        let mut links = self.open_crossings(&crossings, &part, number)?;
        links.measures_latency = launch.latency;
        let part_options = PartOptions {
            crossing_ends: links,
            cores: plan.pes[number as usize].cores.clone(),
            pins: part.pins.clone(),
            properties: vec![("PEID".to_owned(), number.to_string())],
        };
        let wired = launch::wire(&part.program, &launch, part_options);
        let pe = wired.map_err(|error| failed_ending(error.to_string(), false))?;
        let pe = pe.map_err(|report| failure_text::pe_ending(&part.program.files, &report))?;
        self.sender.send(&MessageFromPe::Ready, Vec::new());
        self.expect_go()?;
        let mut sources = launch::source_names(&part.program);
        let known = launch::source_names(&whole);
        sources.retain(|name| known.contains(name));
        Ok(WiredPe {
            pe,
            sources,
            program: part.program,
            counters: bundle.counters,
            number,
        })
    }

    /// What is to be run, and which part of it. Standard input becomes that of the launcher.
    fn receive_assignment(&mut self) -> Result<(Box<Bundle>, u32), PeEnding> {
        let (MessageToPe::Bundle(bundle), _) = self.receive() else {
            return Err(bug_ending("the launcher did not begin with the program"));
        };
        let (MessageToPe::Begin(number), fds) = self.receive() else {
            return Err(bug_ending("the launcher did not say which PE this is"));
        };
        let stdin = fds
            .first()
            .ok_or_else(|| bug_ending("no standard input has come"))?;
        let replaced = rustix::stdio::dup2_stdin(stdin);
        replaced
            .map_err(|error| failed_ending(format!("cannot set standard input: {error}"), false))?;
        Ok((bundle, number))
    }

    /// Makes both ends of crossing edges.
    fn open_crossings(
        &mut self,
        crossings: &Crossings<'_>,
        part: &PeProgram,
        number: u32,
    ) -> Result<CrossingEnds, PeEnding> {
        let mut links = CrossingEnds {
            pe: number,
            ..CrossingEnds::default()
        };
        for &link in &part.sent_crossings {
            let opened = crossings.open(link);
            let (sending, tickets) = opened.map_err(|sentence| failed_ending(sentence, false))?;
            links.outbound.insert(link, sending);
            for (ticket, fds) in tickets {
                self.sender.send(&MessageFromPe::Ticket(ticket), fds);
            }
        }
        self.sender.send(&MessageFromPe::Opened, Vec::new());
        for (ticket, fds) in self.receive_tickets()? {
            let link = ticket.link;
            let accepted = crossings.accept(ticket, fds);
            let receiving = accepted.map_err(|sentence| failed_ending(sentence, true))?;
            links.inbound.insert(link, receiving);
        }
        let within = crossings.open_rings(part, number, &mut links);
        within.map_err(|sentence| failed_ending(sentence, false))?;
        Ok(links)
    }

    /// The tickets for what this PE receives.
    fn receive_tickets(&mut self) -> Result<Vec<(CrossingTicket, Vec<OwnedFd>)>, PeEnding> {
        let mut tickets = Vec::new();
        loop {
            match self.receive() {
                (MessageToPe::Ticket(ticket), fds) => tickets.push((ticket, fds)),
                (MessageToPe::Accept, _) => return Ok(tickets),
                (MessageToPe::Stop, _) => return Err(PeEnding::default()),
                _ => return Err(bug_ending("the launcher said something else than tickets")),
            }
        }
    }

    fn expect_go(&mut self) -> Result<(), PeEnding> {
        match self.receive() {
            (MessageToPe::Go, _) => Ok(()),
            (MessageToPe::Stop, _) => Err(PeEnding::default()),
            _ => Err(bug_ending("the launcher said something else than to begin")),
        }
    }

    /// Runs the PE to its end.
    fn run(self, ready: WiredPe) -> PeEnding {
        let program = ready.program;
        let ending = |report: FailureReport| failure_text::pe_ending(&program.files, &report);
        let (stop, voice) = (ready.pe.stop_signal(), self.sender.clone());
        ready
            .pe
            .on_shutdown(move || voice.send(&MessageFromPe::Stopping, Vec::new()));
        let running = match ready.pe.start() {
            Ok(running) => running,
            Err(report) => return ending(report),
        };
        let note = ready.counters;
        let _sampler = note.and_then(|note| Sampler::start(note, ready.number, &program, &running));
        let (tallies, sources) = (running.operator_counts_handle(), ready.sources);
        let counts = move || launch::source_counts(&sources, &tallies());
        let listen = move || self.handle_messages(&stop, &counts);
        if let Err(error) = Builder::new().name("launcher".to_owned()).spawn(listen) {
            return failed_ending(format!("cannot start a thread: {error}"), false);
        }
        let leftovers = running.leftovers();
        running.join().map_or_else(ending, |_| PeEnding {
            leftovers: leftovers()
                .iter()
                .map(|left| UnfiredWindows::new(&program.files, left))
                .collect(),
            ..PeEnding::default()
        })
    }

    /// Does what the launcher says while the PE runs.
    fn handle_messages(mut self, stop: &StopSignal, counts: &dyn Fn() -> Vec<(String, u64)>) {
        loop {
            match self.receive() {
                (MessageToPe::Stop, _) => stop.request(),
                (MessageToPe::Count, _) => self
                    .sender
                    .send(&MessageFromPe::Counts(counts()), Vec::new()),
                // Nothing else is said to a running PE.
                _ => {}
            }
        }
    }

    /// What the launcher says next.
    fn receive(&mut self) -> (MessageToPe, Vec<OwnedFd>) {
        match self.receiver.recv() {
            Ok(Some(message)) => message,
            // The launcher is gone.
            Ok(None) => std::process::exit(EXIT_LAUNCHER_LOST),
            Err(error) => exit_launcher_lost("hear", &error),
        }
    }
}

impl LauncherSender {
    /// Says something to the launcher. Without one there is nothing left to do.
    fn send(&self, message: &MessageFromPe, fds: Vec<OwnedFd>) {
        let mut outbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = outbox.send(message, fds) {
            exit_launcher_lost("tell", &error);
        }
    }
}

/// The exit status of a PE without a launcher.
pub const EXIT_LAUNCHER_LOST: i32 = 3;

/// Ends this process: nobody says any more what it is to do, or hears what becomes of it.
fn exit_launcher_lost(tried: &str, error: &io::Error) -> ! {
    let _ = writeln!(io::stderr(), "cannot {tried} the launcher: {error}");
    std::process::exit(EXIT_LAUNCHER_LOST)
}

/// What `ps` shows: at most 15 bytes.
fn process_name(number: u32) -> std::ffi::CString {
    std::ffi::CString::new(format!("thalweg-pe{number}")).unwrap_or_default()
}

fn failed_ending(line: String, is_crossing: bool) -> PeEnding {
    PeEnding {
        failures: vec![PeFailure { line, is_crossing }],
        ..PeEnding::default()
    }
}

fn bug_ending(what: &str) -> PeEnding {
    failed_ending(format!("internal error: {what}"), false)
}
