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

use compiler::Part;
use graph::{Plan, Program};
use runtime::crossing::Links;
use runtime::{Pe, Report, Stop};
use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::bundle::Bundle;
use crate::control::connection::{self, Inbox, Outbox};
use crate::control::{Ending, Failure, FromPe, Ticket, ToPe};
use crate::crossing::Crossings;
use crate::launch::Border;
use crate::leftover::Leftover;
use crate::monitor::{JobNote, Sampler};
use crate::{Error, compilation, failure, launch};

/// Is a PE of the job whose launcher started this process. Returns when the PE has ended and the
/// launcher knows how. The launcher is told of every shutdown that is `asked` for here, and of what
/// keeps this process from hearing of them.
///
/// # Errors
/// The process was not started by a launcher.
pub fn serve(asked: io::Result<impl Iterator<Item = ()> + Send + 'static>) -> Result<(), Error> {
    let line = Line::open()?;
    let voice = line.voice.clone();
    let ending = is_pe(line, asked).unwrap_or_else(|error| failed(error.to_string(), false));
    voice.say(&FromPe::Ended(ending), Vec::new());
    Ok(())
}

fn is_pe(
    mut line: Line,
    asked: io::Result<impl Iterator<Item = ()> + Send + 'static>,
) -> Result<Ending, Error> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Error::system("ask for the end with the launcher", error))?;
    let asked = asked.map_err(|error| Error::system("listen for signals", error))?;
    hand_on(asked, line.voice.clone())?;
    match line.assignment() {
        Ok((bundle, number)) => {
            // The process has the name of its main thread.
            let _ = rustix::thread::set_name(&name(number));
            crate::deep(|| line.serve(*bundle, number))
        }
        Err(ending) => Ok(ending),
    }
}

fn hand_on(asked: impl Iterator<Item = ()> + Send + 'static, voice: Voice) -> Result<(), Error> {
    let tell = move || asked.for_each(|()| voice.say(&FromPe::Stopping, Vec::new()));
    let thread = Builder::new().name("signals".to_owned()).spawn(tell);
    thread.map_err(|error| Error::system("start a thread", error))?;
    Ok(())
}

/// The line to the launcher.
struct Line {
    inbox: Inbox,
    voice: Voice,
}

/// What speaks to the launcher, from any thread.
#[derive(Clone)]
struct Voice(Arc<Mutex<Outbox>>);

/// A wired PE.
struct Ready {
    pe: Pe,
    /// Those of its operators that are sources of the program.
    sources: Vec<String>,
    program: Program,
    /// Whose counters it shows, and its number.
    counters: Option<JobNote>,
    number: u32,
}

impl Line {
    /// The socket is standard input, until what standard input is to be comes over it.
    fn open() -> Result<Line, Error> {
        let by_hand = || Error::Program("this command is for `thalweg run`".to_owned());
        let stdin = io::stdin();
        let socket = match rustix::io::fcntl_dupfd_cloexec(stdin.as_fd(), 3) {
            Err(Errno::BADF) => return Err(by_hand()),
            Err(error) => cut_off("reach", &error.into()),
            Ok(socket) => UnixStream::from(socket),
        };
        match socket
            .peer_addr()
            .map_err(|error| Errno::from_io_error(&error))
        {
            Err(Some(Errno::NOTSOCK | Errno::NOTCONN | Errno::INVAL)) => return Err(by_hand()),
            Err(error) => cut_off("reach", &error.unwrap_or(Errno::INVAL).into()),
            Ok(_) => {}
        }
        let (inbox, outbox) = connection::halves(socket);
        let voice = Voice(Arc::new(Mutex::new(outbox)));
        Ok(Line { inbox, voice })
    }

    fn serve(mut self, bundle: Bundle, number: u32) -> Ending {
        match self.prepare(bundle, number) {
            Ok(ready) => self.run(ready),
            Err(ending) => ending,
        }
    }

    /// Everything up to `Go`. An ending instead of a PE is one that never ran.
    fn prepare(&mut self, bundle: Bundle, number: u32) -> Result<Ready, Ending> {
        let request = bundle.request();
        let whole = compilation::compile_again(&request, &bundle.sources);
        let whole = whole.ok_or_else(|| bug("the program does not compile a second time"))?;
        let plan = Plan::parse(&bundle.plan, &whole);
        let plan = plan.map_err(|error| bug(&format!("the plan cannot be read: {error}")))?;
        if number as usize >= plan.pes.len() {
            return Err(bug("the plan has not so many PEs"));
        }
        let part = compiler::cut(&whole, &plan, number);
        let launch = bundle.launch();
        let crossings = Crossings::new(&plan, &whole, bundle.token, &launch.hosts);
        let mut links = self.connect(&crossings, &part, number)?;
        links.has_latency = launch.latency;
        let border = Border {
            links,
            cores: plan.pes[number as usize].cores.clone(),
            pins: part.pins.clone(),
            properties: vec![("PEID".to_owned(), number.to_string())],
        };
        let wired = launch::wire(&part.program, &launch, border);
        let pe = wired.map_err(|error| failed(error.to_string(), false))?;
        let pe = pe.map_err(|report| failure::ending(&part.program.files, &report))?;
        self.voice.say(&FromPe::Ready, Vec::new());
        self.expect_go()?;
        let mut sources = launch::sources(&part.program);
        let known = launch::sources(&whole);
        sources.retain(|name| known.contains(name));
        Ok(Ready {
            pe,
            sources,
            program: part.program,
            counters: bundle.counters,
            number,
        })
    }

    /// What is to be run, and which part of it. Standard input becomes that of the launcher.
    fn assignment(&mut self) -> Result<(Box<Bundle>, u32), Ending> {
        let (ToPe::Bundle(bundle), _) = self.next() else {
            return Err(bug("the launcher did not begin with the program"));
        };
        let (ToPe::Begin(number), fds) = self.next() else {
            return Err(bug("the launcher did not say which PE this is"));
        };
        let stdin = fds
            .first()
            .ok_or_else(|| bug("no standard input has come"))?;
        let replaced = rustix::stdio::dup2_stdin(stdin);
        replaced.map_err(|error| failed(format!("cannot set standard input: {error}"), false))?;
        Ok((bundle, number))
    }

    /// Makes both ends of crossing edges.
    fn connect(
        &mut self,
        crossings: &Crossings<'_>,
        part: &Part,
        number: u32,
    ) -> Result<Links, Ending> {
        let mut links = Links {
            pe: number,
            ..Links::default()
        };
        for &link in &part.sends {
            let opened = crossings.open(link);
            let (sending, tickets) = opened.map_err(|sentence| failed(sentence, false))?;
            links.outbound.insert(link, sending);
            for (ticket, fds) in tickets {
                self.voice.say(&FromPe::Ticket(ticket), fds);
            }
        }
        self.voice.say(&FromPe::Opened, Vec::new());
        for (ticket, fds) in self.tickets()? {
            let link = ticket.link;
            let accepted = crossings.accept(ticket, fds);
            let receiving = accepted.map_err(|sentence| failed(sentence, true))?;
            links.inbound.insert(link, receiving);
        }
        let within = crossings.within(part, number, &mut links);
        within.map_err(|sentence| failed(sentence, false))?;
        Ok(links)
    }

    /// The tickets for what this PE receives.
    fn tickets(&mut self) -> Result<Vec<(Ticket, Vec<OwnedFd>)>, Ending> {
        let mut tickets = Vec::new();
        loop {
            match self.next() {
                (ToPe::Ticket(ticket), fds) => tickets.push((ticket, fds)),
                (ToPe::Accept, _) => return Ok(tickets),
                (ToPe::Stop, _) => return Err(Ending::default()),
                _ => return Err(bug("the launcher said something else than tickets")),
            }
        }
    }

    fn expect_go(&mut self) -> Result<(), Ending> {
        match self.next() {
            (ToPe::Go, _) => Ok(()),
            (ToPe::Stop, _) => Err(Ending::default()),
            _ => Err(bug("the launcher said something else than to begin")),
        }
    }

    /// Runs the PE to its end.
    fn run(self, ready: Ready) -> Ending {
        let program = ready.program;
        let ending = |report: Report| failure::ending(&program.files, &report);
        let (stop, voice) = (ready.pe.stop(), self.voice.clone());
        ready
            .pe
            .on_shutdown(move || voice.say(&FromPe::Stopping, Vec::new()));
        let running = match ready.pe.start() {
            Ok(running) => running,
            Err(report) => return ending(report),
        };
        let note = ready.counters;
        let _sampler = note.and_then(|note| Sampler::start(note, ready.number, &program, &running));
        let (tallies, sources) = (running.tally_handle(), ready.sources);
        let counts = move || launch::counts(&sources, &tallies());
        let listen = move || self.listen(&stop, &counts);
        if let Err(error) = Builder::new().name("launcher".to_owned()).spawn(listen) {
            return failed(format!("cannot start a thread: {error}"), false);
        }
        let leftovers = running.leftovers();
        running.join().map_or_else(ending, |_| Ending {
            leftovers: leftovers()
                .iter()
                .map(|left| Leftover::new(&program.files, left))
                .collect(),
            ..Ending::default()
        })
    }

    /// Does what the launcher says while the PE runs.
    fn listen(mut self, stop: &Stop, counts: &dyn Fn() -> Vec<(String, u64)>) {
        loop {
            match self.next() {
                (ToPe::Stop, _) => stop.request(),
                (ToPe::Count, _) => self.voice.say(&FromPe::Counts(counts()), Vec::new()),
                // Nothing else is said to a running PE.
                _ => {}
            }
        }
    }

    /// What the launcher says next.
    fn next(&mut self) -> (ToPe, Vec<OwnedFd>) {
        match self.inbox.wait() {
            Ok(Some(message)) => message,
            // The launcher is gone.
            Ok(None) => std::process::exit(CUT_OFF),
            Err(error) => cut_off("hear", &error),
        }
    }
}

impl Voice {
    /// Says something to the launcher. Without one there is nothing left to do.
    fn say(&self, message: &FromPe, fds: Vec<OwnedFd>) {
        let mut outbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = outbox.send(message, fds) {
            cut_off("tell", &error);
        }
    }
}

/// The exit status of a PE without a launcher.
pub const CUT_OFF: i32 = 3;

/// Ends this process: nobody says any more what it is to do, or hears what becomes of it.
fn cut_off(tried: &str, error: &io::Error) -> ! {
    let _ = writeln!(io::stderr(), "cannot {tried} the launcher: {error}");
    std::process::exit(CUT_OFF)
}

/// What `ps` shows: at most 15 bytes.
fn name(number: u32) -> std::ffi::CString {
    std::ffi::CString::new(format!("thalweg-pe{number}")).unwrap_or_default()
}

fn failed(line: String, is_crossing: bool) -> Ending {
    Ending {
        failures: vec![Failure { line, is_crossing }],
        ..Ending::default()
    }
}

fn bug(what: &str) -> Ending {
    failed(format!("internal error: {what}"), false)
}
