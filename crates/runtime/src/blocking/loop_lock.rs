//! The lock of a feedback loop, which a thread that holds it may take again.
//!
//! All operators of a loop that several threads reach share one lock. A thread takes it with the
//! first operator that it enters and releases it with the last, so two threads never block each
//! other inside a loop. Loop locks and the locks of operators outside of loops are taken in the
//! order of the streams, which has no cycle.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use graph::PeThreadId;

use crate::blocking::thread_waits::LockHolder;

/// A lock that the thread which holds it may take again.
#[derive(Debug, Default)]
pub(crate) struct LoopLock {
    /// The thread that holds the lock.
    owner: Mutex<Option<PeThreadId>>,
    released: Condvar,
    /// Also the thread that holds the lock, as other threads see it while they wait.
    pub holder: Arc<LockHolder>,
}

/// Possession of the lock. `None` inside if the thread already held it.
pub(crate) struct LoopLockGuard<'a>(Option<&'a LoopLock>);

impl LoopLock {
    /// Takes the lock if no other thread holds it.
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

    /// Takes the lock as soon as no other thread holds it.
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
    /// Whether the thread releases the lock when this guard is dropped.
    pub fn is_outermost(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for LoopLockGuard<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.0 {
            lock.holder.clear();
            *lock.lock() = None;
            lock.released.notify_one();
        }
    }
}
