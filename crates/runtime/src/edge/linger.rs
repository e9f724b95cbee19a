//! Lingering: sending ends that wait until all frames are taken, after their operators have ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use eval::{Fault, FaultKind};
use transport::{Error, SendingEnd};

use crate::counters::crossing_counters::CrossingCounters;

/// Sending ends of a PE whose operators are closed.
#[derive(Default)]
pub(crate) struct LingerList(Mutex<Vec<LingeringSender>>);

/// A sending end that no operator commits frames to any more.
pub(crate) struct LingeringSender {
    /// Name and kind of the operator that sent.
    pub operator: (Arc<str>, Arc<str>),
    pub counters: Arc<CrossingCounters>,
    pub end: Box<dyn SendingEnd>,
}

/// Failure of a sending end while it lingered.
pub(crate) struct DrainFailure {
    pub operator: (Arc<str>, Arc<str>),
    pub fault: Fault,
}

/// Longest and shortest pause between two looks at an end. An end cannot be slept on for this,
/// because a sender is woken by room, not by an empty ring.
const POLL_INTERVAL_MAX: Duration = Duration::from_millis(5);
const POLL_INTERVAL_MIN: Duration = Duration::from_micros(50);

impl LingerList {
    /// Adds the end of an operator that is closed.
    pub fn add(&self, lingering: LingeringSender) {
        self.lock().push(lingering);
    }

    /// Waits until the receivers of every end have taken everything, or until `at_most` is over.
    /// Returns the ends that failed.
    pub fn wait_until_drained(&self, at_most: Option<Duration>) -> Vec<DrainFailure> {
        let mut ends = std::mem::take(&mut *self.lock());
        let mut lost = Vec::new();
        let began = Instant::now();
        let mut pause = POLL_INTERVAL_MIN;
        loop {
            ends.retain_mut(|one| match one.is_drained() {
                Ok(is_drained) => !is_drained,
                Err(error) => {
                    lost.push(one.drain_failure(&error));
                    false
                }
            });
            if ends.is_empty() || at_most.is_some_and(|most| began.elapsed() >= most) {
                return lost;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(POLL_INTERVAL_MAX);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<LingeringSender>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LingeringSender {
    fn is_drained(&mut self) -> Result<bool, Error> {
        Ok(self.end.flush()? && self.end.is_drained()?)
    }

    fn drain_failure(&self, error: &Error) -> DrainFailure {
        let why = self.counters.transport_fault(error);
        let message = format!("{}, and had not taken all of it", why.message());
        DrainFailure {
            operator: self.operator.clone(),
            fault: Fault::new(FaultKind::System, message),
        }
    }
}
