//! The lock of a feedback loop: a thread that is inside may enter again.
//!
//! All operators of a loop that several threads reach share one gate, taken by the first of them
//! that a thread enters and left with the last; so two threads never hold each other up inside a
//! loop. Between gates and the locks of operators outside of loops the order is that of the
//! streams, which has no circle.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::blocking::pe_thread::PeThreadId;
use crate::blocking::thread_waits::LockHolder;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct LoopLock {
    /// The thread that is inside.
    owner: Mutex<Option<PeThreadId>>,
    released: Condvar,
    /// The same thread, for others that wait.
    pub holder: Arc<LockHolder>,
}

/// Being inside. `None` if the thread was already.
pub(crate) struct LoopLockGuard<'a>(Option<&'a LoopLock>);

impl LoopLock {
    /// Goes in at once, if nobody else is inside.
    pub fn try_enter(&self, thread: PeThreadId) -> Option<LoopLockGuard<'_>> {
        let mut owner = self.lock();
        match *owner {
            None => {
                *owner = Some(thread);
                self.holder.set(thread);
                Some(LoopLockGuard(Some(self)))
            }
            Some(other) => (other == thread).then_some(LoopLockGuard(None)),
        }
    }

    /// Goes in when nobody else is inside.
    pub fn enter(&self, thread: PeThreadId) -> LoopLockGuard<'_> {
        let mut owner = self.lock();
        if *owner == Some(thread) {
            return LoopLockGuard(None);
        }
        while owner.is_some() {
            owner = self
                .released
                .wait(owner)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *owner = Some(thread);
        self.holder.set(thread);
        LoopLockGuard(Some(self))
    }

    fn lock(&self) -> MutexGuard<'_, Option<PeThreadId>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoopLockGuard<'_> {
    /// Whether the thread leaves the gate with it.
    pub fn is_outermost(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for LoopLockGuard<'_> {
    fn drop(&mut self) {
        if let Some(gate) = self.0 {
            gate.holder.clear();
            *gate.lock() = None;
            gate.released.notify_one();
        }
    }
}
