//! A running program.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use graph::Program;
use runtime::{Pe, Report, Stop, Tally};

use crate::Error;

/// A program whose threads run.
pub struct Job {
    stop: Stop,
    sources: Vec<String>,
    tallies: Box<dyn Fn() -> Vec<Tally> + Send>,
    ended: Receiver<Result<(), Report>>,
    outcome: Option<Result<(), Report>>,
    files: Vec<std::sync::Arc<str>>,
}

/// Asks a job for an orderly shutdown, from any thread.
#[derive(Clone)]
pub struct StopHandle(Stop);

impl StopHandle {
    /// Asks; sources end, what is under way is finished. Asking again changes nothing.
    pub fn stop(&self) {
        self.0.request();
    }
}

impl Job {
    pub(crate) fn start(program: &Program, pe: Pe) -> Result<Job, Error> {
        let stop = pe.stop();
        let running = pe.start();
        let running = running.map_err(|report| Job::failed(program, &report))?;
        let tallies = running.tally_handle();
        let (sender, ended) = channel();
        std::thread::spawn(move || sender.send(running.join().map(drop)));
        let sources = program
            .operators
            .iter()
            .filter(|operator| operator.inputs.is_empty());
        Ok(Job {
            stop,
            sources: sources.map(|operator| operator.name.to_string()).collect(),
            tallies,
            ended,
            outcome: None,
            files: program.files.clone(),
        })
    }

    /// The error of a job that could not be set up.
    pub(crate) fn failed(program: &Program, report: &Report) -> Error {
        error(&program.files, report)
    }

    /// The handle to its shutdown.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.stop.clone())
    }

    /// Waits for its end, at most so long (for ever: `None`); whether it has ended.
    pub fn wait(&mut self, at_most: Option<Duration>) -> bool {
        if self.outcome.is_some() {
            return true;
        }
        let received = match at_most {
            Some(time) => self.ended.recv_timeout(time),
            None => self
                .ended
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(outcome) => self.outcome = Some(outcome),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                let report = Report {
                    failures: Vec::new(),
                    is_quiet: false,
                };
                self.outcome = Some(Err(report));
            }
        }
        true
    }

    /// How many tuples each source has sent so far.
    pub fn sources(&self) -> Vec<(String, u64)> {
        let tallies = (self.tallies)();
        let of = |name: &String| {
            let tally = tallies.iter().find(|tally| *tally.operator == **name);
            tally.map_or(0, |tally| tally.submitted.iter().sum())
        };
        self.sources
            .iter()
            .map(|name| (name.clone(), of(name)))
            .collect()
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// What failed.
    pub fn join(mut self) -> Result<(), Error> {
        self.wait(None);
        match self.outcome {
            Some(Err(report)) => Err(error(&self.files, &report)),
            _ => Ok(()),
        }
    }
}

/// One line a failure: `file:line:column: Operator (kind): sentence`.
fn error(files: &[std::sync::Arc<str>], report: &Report) -> Error {
    if report.is_quiet {
        return Error::Quiet;
    }
    if report.failures.is_empty() {
        return Error::Program("internal error: the job's threads ended without a word".to_owned());
    }
    let lines = report
        .failures
        .iter()
        .map(|failure| match failure.fault.pos() {
            Some(pos) if pos.line > 0 => {
                let file = files.get(pos.file as usize).map_or("?", |file| &**file);
                format!("{file}:{}:{}: {failure}", pos.line, pos.column)
            }
            _ => failure.to_string(),
        });
    Error::Program(lines.collect::<Vec<_>>().join("\n"))
}
