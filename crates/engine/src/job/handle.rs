//! The handle of a running job: waiting for its end, stopping it, counts of its sources.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use runtime::StopSignal;

use crate::error::Error;

/// A program that runs in this process or in processes of its own.
///
/// A job ends when all its sources have ended and all their tuples were processed, after a shutdown
/// ([`StopHandle`]) in the same way, or with the first failure of a PE. Its result is kept until
/// [`Job::join`] takes it.
///
/// Dropping the handle neither stops the job nor waits for it. Processes of a job end with the
/// calling process.
pub struct Job {
    stop: StopSignal,
    source_counts: Box<dyn Fn() -> Vec<(String, u64)> + Send>,
    result_receiver: Receiver<JobResult>,
    result: Option<JobResult>,
}

/// Result of a job: sentences to report although nothing failed, or the error.
type JobResult = Result<Vec<String>, Error>;

/// Requests an orderly shutdown of a job, from any thread.
///
/// # Example
/// ```
/// use thalweg_engine::{CompileRequest, LaunchOptions, compile, launch};
///
/// let folder = std::env::temp_dir().join(format!("thalweg-doc-stop-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// let file = folder.join("Main.spl");
/// let endless = "composite Main { graph stream<int32 n> A = Beacon() { param period : 0.001; } }";
/// std::fs::write(&file, endless).unwrap();
/// let request = CompileRequest { file, ..CompileRequest::default() };
/// let program = compile(&request)?.program.expect("the program has no errors");
/// # std::fs::remove_dir_all(&folder).unwrap();
/// let job = launch(&program, &LaunchOptions::default())?;
/// job.stop_handle().stop();
/// job.join()?;
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
#[derive(Clone)]
pub struct StopHandle(StopSignal);

impl StopHandle {
    /// Requests the shutdown: sources end, and tuples under way are processed. A second request
    /// changes nothing.
    pub fn stop(&self) {
        self.0.request();
    }
}

impl Job {
    /// A job whose result arrives on the channel `ended` when the job has ended.
    pub(crate) fn new(
        stop: StopSignal,
        source_counts: Box<dyn Fn() -> Vec<(String, u64)> + Send>,
        ended: Receiver<JobResult>,
    ) -> Job {
        Job {
            stop,
            source_counts,
            result_receiver: ended,
            result: None,
        }
    }

    /// A handle that requests the job's shutdown.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.stop.clone())
    }

    /// Waits for the end of the job, at most `time_max` (`None`: for ever); returns whether the job
    /// has ended.
    pub fn wait(&mut self, time_max: Option<Duration>) -> bool {
        if self.result.is_some() {
            return true;
        }
        let received = match time_max {
            Some(time) => self.result_receiver.recv_timeout(time),
            None => self
                .result_receiver
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(outcome) => self.result = Some(outcome),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                let message = "internal error: the job's threads ended without a result";
                self.result = Some(Err(Error::Program(message.to_owned())));
            }
        }
        true
    }

    /// Number of tuples that each source has submitted, by operator name. Counts of other processes
    /// are those of the last time they were asked; each call asks again and does not wait for the
    /// answers.
    pub fn source_counts(&self) -> Vec<(String, u64)> {
        (self.source_counts)()
    }

    /// Waits for the end of the job. Returns warnings: windows that never fired, messages that were
    /// lost.
    ///
    /// # Errors
    /// [`Error::Program`] with a line for each failure, [`Error::OutputClosed`] if the reader of
    /// standard output has gone, [`Error::System`] if PEs could not be started or watched.
    pub fn join(mut self) -> Result<Vec<String>, Error> {
        self.wait(None);
        self.result.unwrap_or(Ok(Vec::new()))
    }
}
