//! Sending ends that wait until all that was sent is taken, after their operators have ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use graph::{Fault, FaultKind};
use transport::{Error, Outbound};

use super::flow::Flow;

/// The ends of a PE whose operators are closed.
#[derive(Default)]
pub(crate) struct Linger(Mutex<Vec<Lingering>>);

/// A sending end that nothing more is committed to.
pub(crate) struct Lingering {
    /// The operator that sent, and its kind.
    pub operator: (Arc<str>, Arc<str>),
    pub flow: Arc<Flow>,
    pub end: Box<dyn Outbound>,
}

/// What went wrong with an end.
pub(crate) struct Lost {
    pub operator: (Arc<str>, Arc<str>),
    pub fault: Fault,
}

/// Longest time between two looks. An end cannot be slept on for this: what wakes a sender is room.
const LOOK_MAX: Duration = Duration::from_millis(5);
const LOOK_MIN: Duration = Duration::from_micros(50);

impl Linger {
    /// An operator is closed; its end waits here.
    pub fn add(&self, lingering: Lingering) {
        self.lock().push(lingering);
    }

    /// Waits until the receivers of every end have taken everything, at most so long.
    pub fn wait(&self, at_most: Option<Duration>) -> Vec<Lost> {
        let mut ends = std::mem::take(&mut *self.lock());
        let mut lost = Vec::new();
        let began = Instant::now();
        let mut pause = LOOK_MIN;
        loop {
            ends.retain_mut(|one| match one.is_drained() {
                Ok(is_drained) => !is_drained,
                Err(error) => {
                    lost.push(one.lost(&error));
                    false
                }
            });
            if ends.is_empty() || at_most.is_some_and(|most| began.elapsed() >= most) {
                return lost;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LOOK_MAX);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Lingering>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lingering {
    fn is_drained(&mut self) -> Result<bool, Error> {
        Ok(self.end.flush()? && self.end.is_drained()?)
    }

    fn lost(&self, error: &Error) -> Lost {
        let why = self.flow.broken(error);
        let message = format!("{}, and had not taken all of it", why.message());
        Lost {
            operator: self.operator.clone(),
            fault: Fault::new(FaultKind::System, message),
        }
    }
}
