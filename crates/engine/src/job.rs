//! A running program, as whoever started it sees it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use runtime::Stop;

use crate::Error;

/// A program that runs, here or in processes of its own.
pub struct Job {
    stop: Stop,
    sources: Box<dyn Fn() -> Vec<(String, u64)> + Send>,
    ended: Receiver<Outcome>,
    outcome: Option<Outcome>,
}

/// What is to be said of a job that has ended.
type Outcome = Result<Vec<String>, Error>;

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
    /// A job that says when it has ended and how.
    pub(crate) fn new(
        stop: Stop,
        sources: Box<dyn Fn() -> Vec<(String, u64)> + Send>,
        ended: Receiver<Outcome>,
    ) -> Job {
        Job {
            stop,
            sources,
            ended,
            outcome: None,
        }
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
                let message = "internal error: the job's threads ended without a word";
                self.outcome = Some(Err(Error::Program(message.to_owned())));
            }
        }
        true
    }

    /// How many tuples each source has sent, as far as is known.
    pub fn sources(&self) -> Vec<(String, u64)> {
        (self.sources)()
    }

    /// Waits for its end; sentences on what should not pass unseen although nothing failed.
    ///
    /// # Errors
    /// What failed.
    pub fn join(mut self) -> Result<Vec<String>, Error> {
        self.wait(None);
        self.outcome.unwrap_or(Ok(Vec::new()))
    }
}
