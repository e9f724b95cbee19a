//! The outcome of a job of several PEs, as one message: the causes of a failure without its
//! consequences.
//!
//! When a PE dies, the PEs that exchange tuples with it report a lost edge, which may reach the
//! launcher before the death itself. If the job has any other cause of failure, lost edges are not
//! reported.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use graph::{PeId, PePlan, Plan, Program};
use transport::media;

use super::output_forwarder::OutputError;
use crate::control::EXIT_LAUNCHER_LOST;
use crate::error::Error;
use crate::part::{self, PeEnding, PeFailure, UnfiredWindows};

/// Causes why PEs ended, in order of time, and what else the end of a job reports.
#[derive(Debug, Default)]
pub struct JobOutcome {
    causes: Vec<(PeId, FailureCause)>,
    /// Error of forwarding standard output, if it failed.
    output_error: Option<OutputError>,
    /// Error of forwarding the standard error of PEs, if it failed.
    messages_error: Option<OutputError>,
    /// Windows that still held tuples in PEs that ended well.
    leftovers: Vec<UnfiredWindows>,
    /// By PE: words about the library that its streams go by, if they do.
    library_hints: Vec<String>,
}

/// Cause of a PE's failure.
#[derive(Debug)]
pub enum FailureCause {
    /// The PE reported failures in its `Ended` message.
    Reported(PeEnding),
    /// The process ended without an `Ended` message.
    Died(ProcessExit),
    /// The connection to the PE broke: the error, and how the process ended.
    ConnectionLost(String, ProcessExit),
    /// The PE closed its connection without `Ended`, did not exit, and was killed.
    Hung,
    /// The PE broke the protocol, and was killed.
    ProtocolError(String),
}

/// How the process of a PE ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessExit {
    /// The process exited with a status.
    Status(i32),
    /// A signal killed the process.
    Signal(i32),
    /// The process is no child of the launcher, and its connection has ended.
    Unknown,
}

/// Number of operators that the label of a PE names at most, so that a message stays readable.
const LABEL_NAMES_MAX: usize = 6;

/// Words for each PE whose streams go by a library that a user has written: a crash of the process
/// may be the library's. Empty for the others.
fn library_hints(plan: &Plan) -> Vec<String> {
    let hint = |(number, pe): (usize, &PePlan)| {
        let number = PeId(number as u32);
        let mut crossings = plan.crossings.iter();
        let library = crossings.find_map(|crossing| {
            let is_own = pe.operators.contains(&crossing.from.operator);
            let medium =
                media::find(&crossing.medium).filter(|_| is_own || crossing.to.contains(&number));
            Some(medium?.library()?.display())
        });
        library.map_or(String::new(), |file| {
            format!("; its streams go by {file}, which `thalweg medium check {file}` tests")
        })
    };
    plan.pes.iter().enumerate().map(hint).collect()
}

/// The labels of PEs in messages: `pe 1 (Trades, Filter)`.
pub fn pe_labels(plan: &Plan, program: &Program) -> Vec<String> {
    let label = |(number, pe): (usize, &PePlan)| {
        let named = pe.operators.iter().take(LABEL_NAMES_MAX);
        let named = named.filter_map(|id| program.operators.get(id.0 as usize));
        let names: Vec<_> = named.map(|operator| &*operator.name).collect();
        let more = match pe.operators.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("pe {number} ({}{more})", names.join(", "))
    };
    plan.pes.iter().enumerate().map(label).collect()
}

impl JobOutcome {
    /// The outcome of a job with this plan, whose libraries are loaded here.
    pub fn of_plan(plan: &Plan) -> JobOutcome {
        JobOutcome {
            library_hints: library_hints(plan),
            ..JobOutcome::default()
        }
    }

    /// Adds the cause of a PE's failure.
    pub fn add(&mut self, pe: PeId, cause: FailureCause) {
        self.causes.push((pe, cause));
    }

    /// Whether a PE has failed.
    pub fn has_causes(&self) -> bool {
        !self.causes.is_empty()
    }

    /// Notes that the standard output of PEs was not forwarded whole.
    pub fn set_output_error(&mut self, error: OutputError) {
        self.output_error = Some(error);
    }

    /// Notes that the standard error of PEs was not forwarded whole.
    pub fn set_messages_error(&mut self, error: OutputError) {
        self.messages_error = Some(error);
    }

    /// Adds windows that still held tuples in a PE that ended well.
    pub fn add_leftovers(&mut self, leftovers: &[UnfiredWindows]) {
        self.leftovers.extend_from_slice(leftovers);
    }

    /// Makes the result of [`crate::Job::join`]; `labels` are those of [`pe_labels`].
    ///
    /// # Errors
    /// [`Error::Program`] with a line for each failure, or [`Error::OutputClosed`].
    pub fn into_result(self, labels: &[String]) -> Result<Vec<String>, Error> {
        let label = |pe: PeId| labels.get(pe.0 as usize).map_or("?", String::as_str);
        let mut deaths = false;
        let (mut lines, mut crossings) = (FailureLines::default(), FailureLines::default());
        for (pe, cause) in &self.causes {
            if let Some(sentence) = cause.sentence(label(*pe)) {
                deaths = true;
                let hint = self.library_hints.get(pe.0 as usize);
                let hint = hint.filter(|_| cause.is_crash());
                lines.add(sentence + hint.map_or("", String::as_str), "");
            }
            for failure in self.failures(cause) {
                let line = format!("pe {pe}: {}", failure.line);
                match failure.is_crossing {
                    true => crossings.add(line, &failure.shared_reason),
                    false => lines.add(line, &failure.shared_reason),
                }
            }
        }
        if let Some(error) = self
            .output_error
            .as_ref()
            .filter(|_| !self.is_output_closed())
        {
            lines.add(error.to_string(), "");
        }
        if self.is_output_closed() && !deaths {
            return Err(Error::OutputClosed);
        }
        let mut lines = match lines.into_texts() {
            none if none.is_empty() => crossings.into_texts(),
            lines => lines,
        };
        let lost = self.messages_error.map(|error| error.to_string());
        if lines.is_empty() {
            let mut sentences = part::unfired_sentences(&self.leftovers);
            sentences.extend(lost);
            return Ok(sentences);
        }
        lines.extend(lost);
        Err(Error::Program(lines.join("\n")))
    }

    /// The failures that a PE has reported. A closed output is left out if the launcher's own
    /// output has failed too.
    fn failures<'c>(&self, cause: &'c FailureCause) -> &'c [PeFailure] {
        match cause {
            FailureCause::Reported(ending) if self.output_error.is_some() && ending.is_quiet => &[],
            FailureCause::Reported(ending) => &ending.failures,
            _ => &[],
        }
    }

    /// Whether the reader of standard output has gone. The launcher's own error decides: once the
    /// launcher cannot write, for whatever reason, PEs find their output closed.
    fn is_output_closed(&self) -> bool {
        if let Some(error) = &self.output_error {
            return error.is_output_closed();
        }
        let mut endings = self.causes.iter();
        endings.any(|(_, cause)| matches!(cause, FailureCause::Reported(e) if e.is_quiet))
    }
}

/// Lines about failures. Streams that fail for one reason, as all over a missing device do, have
/// one line.
#[derive(Debug, Default)]
struct FailureLines(Vec<FailureLine>);

#[derive(Debug)]
struct FailureLine {
    text: String,
    /// The words that lines of other streams may have too; may be empty.
    shared_reason: String,
    /// Number of further streams that fail for the reason.
    more: usize,
}

impl FailureLines {
    fn add(&mut self, text: String, shared_reason: &str) {
        let is_same = |line: &&mut FailureLine| {
            line.shared_reason == shared_reason && !shared_reason.is_empty()
        };
        match self.0.iter_mut().find(is_same) {
            Some(line) => line.more += 1,
            None => self.0.push(FailureLine {
                text,
                shared_reason: shared_reason.to_owned(),
                more: 0,
            }),
        }
    }

    fn into_texts(self) -> Vec<String> {
        let text = |line: FailureLine| match line.more {
            0 => line.text,
            1 => line.text + "; 1 more stream fails for this reason",
            more => format!("{}; {more} more streams fail for this reason", line.text),
        };
        self.0.into_iter().map(text).collect()
    }
}

impl FailureCause {
    /// The sentence about a PE that reported nothing itself; `None` if it did.
    fn sentence(&self, label: &str) -> Option<String> {
        Some(match self {
            FailureCause::Reported(_) => return None,
            FailureCause::Died(exit) => format!("{label}: {exit}"),
            FailureCause::ConnectionLost(why, ProcessExit::Status(EXIT_LAUNCHER_LOST)) => {
                format!(
                    "the connection to {label} broke: {why}; it ended with status {EXIT_LAUNCHER_LOST}"
                )
            }
            FailureCause::ConnectionLost(why, _) => {
                format!("the connection to {label} broke: {why}")
            }
            FailureCause::Hung => format!("{label} has closed its connection, and did not end"),
            FailureCause::ProtocolError(what) => format!("internal error: {label} sent {what}"),
        })
    }

    /// Whether code within the process may have ended it.
    fn is_crash(&self) -> bool {
        match self {
            FailureCause::Died(exit) | FailureCause::ConnectionLost(_, exit) => exit.is_crash(),
            _ => false,
        }
    }
}

impl ProcessExit {
    /// Whether code within the process may have ended it: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV
    /// and SIGSYS, or a status.
    fn is_crash(self) -> bool {
        match self {
            ProcessExit::Signal(signal) => [4, 6, 7, 8, 11, 31].contains(&signal),
            ProcessExit::Status(_) => self.breaks_connection(),
            ProcessExit::Unknown => false,
        }
    }

    /// Whether this end of the process explains a broken connection. A PE that lost its launcher
    /// ends because the connection is broken, so its status explains nothing.
    pub fn breaks_connection(self) -> bool {
        match self {
            ProcessExit::Signal(_) | ProcessExit::Unknown => true,
            ProcessExit::Status(status) => status > 0 && status != EXIT_LAUNCHER_LOST,
        }
    }
}

impl From<ExitStatus> for ProcessExit {
    fn from(status: ExitStatus) -> ProcessExit {
        match status.signal() {
            Some(signal) => ProcessExit::Signal(signal),
            None => ProcessExit::Status(status.code().unwrap_or_default()),
        }
    }
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            // Another program may use this status for an end of its own.
            ProcessExit::Status(EXIT_LAUNCHER_LOST) => write!(
                f,
                "ended with status {EXIT_LAUNCHER_LOST}, as PEs do that cannot reach their launcher"
            ),
            ProcessExit::Status(status) => {
                write!(f, "ended with status {status} without reporting why")
            }
            ProcessExit::Unknown => write!(
                f,
                "its rank has ended without reporting why; the command that started it may say how"
            ),
            ProcessExit::Signal(signal) => match signal_name(signal) {
                Some(name) => write!(f, "killed by signal {signal} ({name})"),
                None => write!(f, "killed by signal {signal}"),
            },
        }
    }
}

/// Name of a signal that ends processes.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_several_streams_have_is_said_once() {
        let failing = |outcome: &mut JobOutcome, pe: u32, reason: &str| {
            let failure = PeFailure {
                line: format!("stream S{pe} by rdma: {reason}"),
                shared_reason: reason.to_owned(),
                ..PeFailure::default()
            };
            let ending = PeEnding {
                failures: vec![failure],
                ..PeEnding::default()
            };
            outcome.add(PeId(pe), FailureCause::Reported(ending));
        };
        let mut outcome = JobOutcome::default();
        for (pe, reason) in [(0, "no device"), (1, "no device"), (2, ""), (3, "")] {
            failing(&mut outcome, pe, reason);
        }
        let message = outcome.into_result(&[]).unwrap_err().to_string();
        assert_eq!(
            message,
            "pe 0: stream S0 by rdma: no device; 1 more stream fails for this reason\n\
             pe 2: stream S2 by rdma: \n\
             pe 3: stream S3 by rdma: "
        );
        let mut outcome = JobOutcome::default();
        (0..3).for_each(|pe| failing(&mut outcome, pe, "no device"));
        let message = outcome.into_result(&[]).unwrap_err().to_string();
        assert!(
            message.ends_with(": no device; 2 more streams fail for this reason"),
            "{message}"
        );
    }

    #[test]
    fn messages_that_are_lost_are_said_and_fail_no_job() {
        let lost = |mut outcome: JobOutcome| {
            outcome.set_messages_error(OutputError::Read(1, std::io::ErrorKind::NotFound.into()));
            outcome.into_result(&["pe 0 (A)".to_owned()])
        };
        let sentence = "cannot read what pe 1 prints: entity not found";
        assert_eq!(lost(JobOutcome::default()).unwrap(), [sentence]);
        let mut outcome = JobOutcome::default();
        outcome.add(PeId(0), FailureCause::Died(ProcessExit::Status(1)));
        let message = lost(outcome).unwrap_err().to_string();
        let death = "pe 0 (A): ended with status 1 without reporting why";
        assert_eq!(message, format!("{death}\n{sentence}"));
    }
}
