//! Waiting for room in an operator with bounds, without ever waiting for nobody.
//!
//! A sender finds an operator full ([`crate::Operator::has_room`]): its thread waits, outside the
//! operator's lock, until another thread has made room. It waits only as long as some other thread
//! that reaches the operator runs and does not itself wait, be it here or for an operator's lock;
//! else the operator has to take the tuple beyond its bound. So threads never wait in a circle.
//!
//! One lock for the whole PE suffices: nobody takes it unless somebody waits.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use graph::Fault;

use crate::stop::Stop;

/// A thread of the PE, numbered from 0.
pub(crate) type ThreadId = u32;

/// Who waits, and who still runs.
#[derive(Debug)]
pub(crate) struct Waits {
    /// How many threads wait for room: written under the lock, read by whoever made room.
    waiting: AtomicU32,
    threads: Mutex<Threads>,
    changed: Condvar,
    stop: Stop,
}

#[derive(Debug)]
struct Threads {
    /// Counts changes.
    version: u64,
    /// By thread: it runs and does not wait.
    active: Vec<bool>,
}

/// Says that there may be room now: a handle for threads that an operator runs itself.
#[derive(Clone, Debug)]
pub struct Room(pub(crate) Arc<Waits>);

impl Room {
    /// There may be room now.
    pub fn made(&self) {
        self.0.made_room();
    }
}

impl Waits {
    /// For a PE whose threads are all about to run.
    pub fn new(stop: Stop) -> Arc<Waits> {
        let waits = Arc::new(Waits {
            waiting: AtomicU32::new(0),
            threads: Mutex::new(Threads {
                version: 0,
                active: Vec::new(),
            }),
            changed: Condvar::new(),
            stop: stop.clone(),
        });
        let woken = Arc::downgrade(&waits);
        stop.wake(move || {
            if let Some(waits) = woken.upgrade() {
                waits.change(|_| ());
            }
        });
        waits
    }

    /// How many threads there are; before they start.
    pub fn set_threads(&self, count: u32) {
        self.change(|threads| threads.active = vec![true; count as usize]);
    }

    /// A thread has ended.
    pub fn ended(&self, thread: ThreadId) {
        self.change(|threads| threads.active[thread as usize] = false);
    }

    /// Somebody may have made room. Cheap if nobody waits.
    #[inline]
    pub fn made_room(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.change(|_| ());
        }
    }

    /// Does something that may have to wait for another thread (taking a lock); meanwhile nobody
    /// counts on this one.
    pub fn while_inactive<T>(&self, thread: ThreadId, wait: impl FnOnce() -> T) -> T {
        self.change(|threads| threads.active[thread as usize] = false);
        let result = wait();
        self.change(|threads| threads.active[thread as usize] = true);
        result
    }

    /// Waits until `has_room`, or until none of `others` could make room any more, or a shutdown.
    pub fn wait_for_room(
        &self,
        thread: ThreadId,
        others: &[ThreadId],
        mut has_room: impl FnMut() -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let result = self.while_inactive(thread, || {
            loop {
                let seen = self.lock().version;
                if has_room()? || !self.wait_for_change(seen, others) {
                    return Ok(());
                }
            }
        });
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// False if there is nobody to wait for.
    fn wait_for_change(&self, seen: u64, others: &[ThreadId]) -> bool {
        let mut threads = self.lock();
        while threads.version == seen {
            let somebody = others.iter().any(|&t| threads.active[t as usize]);
            if !somebody || self.stop.is_requested() {
                return false;
            }
            let woken = self.changed.wait(threads);
            threads = woken.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    fn change(&self, change: impl FnOnce(&mut Threads)) {
        let mut threads = self.lock();
        change(&mut threads);
        threads.version += 1;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
