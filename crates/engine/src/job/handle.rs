//! A running program, as whoever started it sees it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use runtime::StopSignal;

use crate::error::Error;

/// A program that runs, here or in processes of its own.
pub struct Job {
    stop: StopSignal,
    sources: Box<dyn Fn() -> Vec<(String, u64)> + Send>,
    result_receiver: Receiver<JobResult>,
    result: Option<JobResult>,
}

/// What is to be said of a job that has ended.
type JobResult = Result<Vec<String>, Error>;

/// Asks a job for an orderly shutdown, from any thread.
#[derive(Clone)]
pub struct StopHandle(StopSignal);

impl StopHandle {
    /// Asks; sources end, what is under way is finished. Asking again changes nothing.
    pub fn stop(&self) {
        self.0.request();
    }
}

impl Job {
    /// A job that says when it has ended and how.
    pub(crate) fn new(
        stop: StopSignal,
        sources: Box<dyn Fn() -> Vec<(String, u64)> + Send>,
        ended: Receiver<JobResult>,
    ) -> Job {
        Job {
            stop,
            sources,
            result_receiver: ended,
            result: None,
        }
    }

    /// The handle to its shutdown.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.stop.clone())
    }

    /// Waits for its end, at most so long (for ever: `None`); whether it has ended.
    pub fn wait(&mut self, at_most: Option<Duration>) -> bool {
        if self.result.is_some() {
            return true;
        }
        let received = match at_most {
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
                let message = "internal error: the job's threads ended without a word";
                self.result = Some(Err(Error::Program(message.to_owned())));
            }
        }
        true
    }

    /// How many tuples each source has sent, as far as is known.
    pub fn source_counts(&self) -> Vec<(String, u64)> {
        (self.sources)()
    }

    /// Waits for its end; sentences on what should not pass unseen although nothing failed.
    ///
    /// # Errors
    /// What failed.
    pub fn join(mut self) -> Result<Vec<String>, Error> {
        self.wait(None);
        self.result.unwrap_or(Ok(Vec::new()))
    }
}
