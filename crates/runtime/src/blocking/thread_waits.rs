//! Waiting for other threads of the PE, without ever waiting for nobody.
//!
//! Three things make a thread wait for another one:
//!
//! | waits for | until |
//! | --- | --- |
//! | room in an operator with bounds ([`crate::Operator::has_room`]), outside its lock | somebody has made room, or nobody can any more: then the operator takes the tuple beyond its bound |
//! | a slot in a queue | its consumer has taken something, or never will because it waits for this thread: then the queue takes the tuple beyond its bound |
//! | an operator's lock | whoever holds it leaves |
//!
//! So threads never wait in a circle: a circle of waits has one of the first two in it, and that
//! one gives way. Locks alone make none, because they are taken in the order of the streams.
//!
//! One lock for the whole PE suffices: nobody takes it unless somebody waits.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use eval::Fault;
use transport::Wakeup;

use super::before_sleep;
use super::pe_thread::PeThreadId;
use super::stop_signal::StopSignal;

/// Who waits, and who still runs.
#[derive(Debug)]
pub(crate) struct ThreadWaits {
    /// How many threads wait for room: written under the lock, read by whoever made room.
    room_waiters: AtomicU32,
    threads: Mutex<ThreadWaitState>,
    changed: Condvar,
    stop: StopSignal,
}

#[derive(Debug)]
struct ThreadWaitState {
    /// Counts changes.
    version: u64,
    /// By thread.
    activities: Vec<ThreadActivity>,
}

/// What a thread does.
#[derive(Clone, Debug)]
pub(crate) enum ThreadActivity {
    /// It runs.
    Running,
    /// Nothing any more.
    Ended,
    /// It waits for room. It goes on by itself if nobody else can.
    WaitsForRoom,
    /// It waits for a lock.
    WaitsForLock(Arc<LockHolder>),
    /// It waits for a slot in a queue that this thread takes from. The bell is rung when that
    /// thread cannot go on without this one.
    WaitsForQueue(PeThreadId, Wakeup),
}

/// Which thread holds a lock. Written by that thread, after it has taken the lock and before it
/// leaves it: if it waits while it holds the lock, everybody knows.
#[derive(Debug)]
pub(crate) struct LockHolder(AtomicU32);

/// Says that there may be room now: a handle for threads that an operator runs itself.
#[derive(Clone, Debug)]
pub struct RoomNotifier(pub(crate) Arc<ThreadWaits>);

impl RoomNotifier {
    /// There may be room now.
    pub fn notify(&self) {
        self.0.notify_room();
    }
}

/// Nobody.
const NO_THREAD: PeThreadId = PeThreadId::MAX;

impl Default for LockHolder {
    fn default() -> LockHolder {
        LockHolder(AtomicU32::new(NO_THREAD))
    }
}

impl LockHolder {
    /// This thread has taken the lock.
    #[inline]
    pub fn set(&self, thread: PeThreadId) {
        self.0.store(thread, Ordering::Relaxed);
    }

    /// It is about to leave it.
    #[inline]
    pub fn clear(&self) {
        self.0.store(NO_THREAD, Ordering::Relaxed);
    }
}

impl ThreadWaits {
    /// For a PE whose threads are all about to run.
    pub fn new(stop: StopSignal) -> Arc<ThreadWaits> {
        let waits = Arc::new(ThreadWaits {
            room_waiters: AtomicU32::new(0),
            threads: Mutex::new(ThreadWaitState {
                version: 0,
                activities: Vec::new(),
            }),
            changed: Condvar::new(),
            stop: stop.clone(),
        });
        let woken = Arc::downgrade(&waits);
        stop.on_request(move || {
            if let Some(waits) = woken.upgrade() {
                waits.update(|_| ());
            }
        });
        waits
    }

    /// How many threads there are; before they start.
    pub fn set_thread_count(&self, count: u32) {
        self.update(|threads| threads.activities = vec![ThreadActivity::Running; count as usize]);
    }

    /// A thread has ended.
    pub fn set_ended(&self, thread: PeThreadId) {
        self.update(|threads| threads.activities[thread as usize] = ThreadActivity::Ended);
    }

    /// Whether all of these have.
    pub fn have_ended(&self, threads: &[PeThreadId]) -> bool {
        let all = self.lock();
        let has_ended =
            |&thread: &PeThreadId| matches!(all.activities[thread as usize], ThreadActivity::Ended);
        threads.iter().all(has_ended)
    }

    /// Somebody may have made room. Cheap if nobody waits.
    #[inline]
    pub fn notify_room(&self) {
        if self.room_waiters.load(Ordering::SeqCst) > 0 {
            self.update(|_| ());
        }
    }

    /// Does something that waits for another thread; meanwhile everybody knows what for.
    pub fn while_waiting<T>(
        &self,
        thread: PeThreadId,
        doing: ThreadActivity,
        wait: impl FnOnce() -> T,
    ) -> T {
        let at = thread as usize;
        let before = self.update(|threads| std::mem::replace(&mut threads.activities[at], doing));
        let result = wait();
        self.update(|threads| threads.activities[at] = before);
        result
    }

    /// Waits until `has_room`, or until none of `others` could make room any more, or a shutdown;
    /// whether there was room.
    pub fn wait_for_room(
        &self,
        thread: PeThreadId,
        others: &[PeThreadId],
        mut has_room: impl FnMut() -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        before_sleep::flush();
        self.room_waiters.fetch_add(1, Ordering::SeqCst);
        let result = self.while_waiting(thread, ThreadActivity::WaitsForRoom, || {
            loop {
                let seen = self.lock().version;
                if has_room()? {
                    return Ok(true);
                }
                if !self.wait_for_change(seen, thread, others) {
                    return Ok(false);
                }
            }
        });
        self.room_waiters.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// Whether a thread can go on although another one waits for it.
    pub fn can_progress(&self, thread: PeThreadId, without: PeThreadId) -> bool {
        !matches!(
            self.lock().wait_chain_end(thread, without),
            WaitChainEnd::Waiter | WaitChainEnd::Ended
        )
    }

    /// False if there is nobody to wait for.
    fn wait_for_change(&self, seen: u64, thread: PeThreadId, others: &[PeThreadId]) -> bool {
        let mut threads = self.lock();
        while threads.version == seen {
            let runs = |&other: &PeThreadId| {
                threads.wait_chain_end(other, thread) == WaitChainEnd::Running
            };
            if !others.iter().any(runs) || self.stop.is_requested() {
                return false;
            }
            let woken = self.changed.wait(threads);
            threads = woken.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    fn update<T>(&self, change: impl FnOnce(&mut ThreadWaitState) -> T) -> T {
        let mut threads = self.lock();
        let result = change(&mut threads);
        threads.version += 1;
        threads.wake_deadlocked();
        self.changed.notify_all();
        result
    }

    fn lock(&self) -> MutexGuard<'_, ThreadWaitState> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where it leads to ask whom a thread waits for, and whom that one waits for, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitChainEnd {
    /// To a thread that runs.
    Running,
    /// To one that waits for room, and gives way if need be.
    WaitsForRoom,
    /// To whoever asks.
    Waiter,
    /// To one that has ended.
    Ended,
}

impl ThreadWaitState {
    fn wait_chain_end(&self, thread: PeThreadId, waiter: PeThreadId) -> WaitChainEnd {
        let mut at = thread;
        // A circle that the waiter is not in: somebody in it gives way.
        for _ in 0..=self.activities.len() {
            if at == waiter {
                return WaitChainEnd::Waiter;
            }
            at = match self.activities.get(at as usize) {
                None | Some(ThreadActivity::Running) => return WaitChainEnd::Running,
                Some(ThreadActivity::Ended) => return WaitChainEnd::Ended,
                Some(ThreadActivity::WaitsForRoom) => return WaitChainEnd::WaitsForRoom,
                Some(ThreadActivity::WaitsForLock(holder)) => holder.0.load(Ordering::Relaxed),
                Some(ThreadActivity::WaitsForQueue(consumer, _)) => *consumer,
            };
        }
        WaitChainEnd::Running
    }

    /// Wakes those that wait for a slot in a queue and would do so for ever.
    fn wake_deadlocked(&self) {
        for (thread, doing) in (0..).zip(&self.activities) {
            if let ThreadActivity::WaitsForQueue(consumer, bell) = doing
                && matches!(
                    self.wait_chain_end(*consumer, thread),
                    WaitChainEnd::Waiter | WaitChainEnd::Ended
                )
            {
                bell.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(count: u32) -> Arc<ThreadWaits> {
        let waits = ThreadWaits::new(StopSignal::default());
        waits.set_thread_count(count);
        waits
    }

    fn queue(consumer: PeThreadId) -> ThreadActivity {
        ThreadActivity::WaitsForQueue(consumer, Wakeup::new().unwrap())
    }

    fn held_by(thread: PeThreadId) -> ThreadActivity {
        let holder = LockHolder::default();
        holder.set(thread);
        ThreadActivity::WaitsForLock(Arc::new(holder))
    }

    #[test]
    fn a_consumer_that_waits_for_its_producer_is_seen_through_locks_and_queues() {
        let waits = waits(4);
        assert!(waits.can_progress(1, 0));
        assert!(
            !waits.can_progress(0, 0),
            "a producer that is its own consumer"
        );
        waits.while_waiting(1, held_by(2), || {
            assert!(waits.can_progress(1, 0), "2 runs and will leave the lock");
            waits.while_waiting(2, queue(3), || {
                assert!(waits.can_progress(1, 0), "3 runs and will empty the queue");
                waits.while_waiting(3, held_by(0), || {
                    assert!(!waits.can_progress(1, 0));
                    assert!(waits.can_progress(1, 9), "not everybody's business");
                });
            });
        });
        waits.while_waiting(1, held_by(NO_THREAD), || assert!(waits.can_progress(1, 0)));
        waits.set_ended(1);
        assert!(!waits.can_progress(1, 0));
    }

    #[test]
    fn whoever_waits_in_vain_is_rung() {
        let waits = waits(2);
        let bell = Wakeup::new().unwrap();
        let rings = || bell.clear();
        waits.while_waiting(0, ThreadActivity::WaitsForQueue(1, bell.clone()), || {
            assert!(!rings());
            waits.while_waiting(1, held_by(0), || assert!(rings()));
        });
    }

    #[test]
    fn of_a_room_and_a_queue_that_wait_for_each_other_the_room_gives_way() {
        let waits = waits(2);
        waits.while_waiting(0, queue(1), || {
            // Nobody ever says that there is room.
            assert!(!waits.wait_for_room(1, &[0], || Ok(false)).unwrap());
            waits.while_waiting(1, ThreadActivity::WaitsForRoom, || {
                assert!(waits.can_progress(1, 0))
            });
        });
    }

    #[test]
    fn room_that_others_wait_to_make_is_not_waited_for() {
        let waits = waits(2);
        waits.while_waiting(0, ThreadActivity::WaitsForRoom, || {
            assert!(!waits.wait_for_room(1, &[0], || Ok(false)).unwrap());
        });
    }
}
