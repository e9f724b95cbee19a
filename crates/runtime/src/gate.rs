//! The lock of a feedback loop: a thread that is inside may enter again.
//!
//! All operators of a loop that several threads reach share one gate, taken by the first of them
//! that a thread enters and left with the last; so two threads never hold each other up inside a
//! loop. Between gates and the locks of operators outside of loops the order is that of the
//! streams, which has no circle.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::wait::{Holder, ThreadId};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// The thread that is inside.
    owner: Mutex<Option<ThreadId>>,
    left: Condvar,
    /// The same thread, for others that wait.
    pub holder: Arc<Holder>,
}

/// Being inside. `None` if the thread was already.
pub(crate) struct Inside<'a>(Option<&'a Gate>);

impl Gate {
    /// Goes in at once, if nobody else is inside.
    pub fn try_enter(&self, thread: ThreadId) -> Option<Inside<'_>> {
        let mut owner = self.lock();
        match *owner {
            None => {
                *owner = Some(thread);
                self.holder.took(thread);
                Some(Inside(Some(self)))
            }
            Some(other) => (other == thread).then_some(Inside(None)),
        }
    }

    /// Goes in when nobody else is inside.
    pub fn enter(&self, thread: ThreadId) -> Inside<'_> {
        let mut owner = self.lock();
        if *owner == Some(thread) {
            return Inside(None);
        }
        while owner.is_some() {
            owner = self
                .left
                .wait(owner)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *owner = Some(thread);
        self.holder.took(thread);
        Inside(Some(self))
    }

    fn lock(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside<'_> {
    /// Whether the thread leaves the gate with it.
    pub fn is_outermost(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if let Some(gate) = self.0 {
            gate.holder.leaves();
            *gate.lock() = None;
            gate.left.notify_one();
        }
    }
}
