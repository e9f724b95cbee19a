//! Blocking between threads of a PE, with deadlock detection.
//!
//! A thread waits for another one in four places:
//!
//! * For room in an operator with bounds ([`crate::Operator::has_room`]), outside its lock, until
//!   another thread has made room, or none can any more. Then the operator takes the tuple beyond
//!   its bound.
//! * For a slot in a queue, until the consumer has taken an item, or never will because it waits
//!   for this thread. Then the queue takes the tuple beyond its bound.
//! * For an operator's lock, until the thread that holds it releases it.
//! * For items of a queue or of a Delay, until a thread that feeds it sends some. Such a thread can
//!   make room only if one of those that feed it can go on.
//!
//! So threads never wait in a cycle: a cycle of waits contains one of the first two, and that one
//! gives way. Locks alone make no cycle, because they are taken in the order of the streams.
//!
//! One mutex for the whole PE suffices: while the PE runs, threads take it only around waits (to
//! begin, end or check one, or to wake a waiting thread) and when a thread ends, not for each
//! tuple.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use eval::Fault;
use graph::PeThreadId;
use transport::Wakeup;

use super::before_sleep;
use super::pe_thread::{self, NO_THREAD};
use super::pool_thread;
use super::stop_signal::StopSignal;

/// Which threads of a PE wait, and for what.
#[derive(Debug)]
pub(crate) struct ThreadWaits {
    /// Number of threads that wait for room. Threads that made room take the lock only if it is not
    /// 0.
    room_waiters: AtomicU32,
    /// Whether there are operators with bounds, so that somebody may wait for room.
    has_bounds: AtomicBool,
    threads: Mutex<ThreadWaitState>,
    changed: Condvar,
    stop: StopSignal,
}

#[derive(Debug)]
struct ThreadWaitState {
    /// Number of changes so far; waiters compare it.
    version: u64,
    /// Activity of each thread, by number.
    activities: Vec<ThreadActivity>,
    /// The threads that feed what each thread takes items from.
    feeders: Vec<Box<[PeThreadId]>>,
}

/// Activity of a thread, as other threads see it.
#[derive(Clone, Debug)]
pub(crate) enum ThreadActivity {
    /// The thread runs, and may make room or release locks.
    Running,
    /// The thread has ended and does nothing any more.
    Ended,
    /// The thread waits for room in an operator. It goes on by itself if no other thread can make
    /// any.
    WaitsForRoom,
    /// The thread waits for a lock that another thread holds.
    WaitsForLock(Arc<LockHolder>),
    /// The thread waits for a slot in a queue whose items that other thread takes. The wakeup is
    /// used when the consumer cannot go on without this thread.
    WaitsForQueue(PeThreadId, Wakeup),
    /// The thread waits for items, as long as there are none.
    WaitsForItems(Arc<dyn PendingItems>),
}

/// A place from which a thread takes items, as other threads see it while that thread waits.
pub trait PendingItems: std::fmt::Debug + Send + Sync {
    /// Whether there are items, so that the thread is about to go on.
    fn has_items(&self) -> bool;
}

/// The thread that holds a lock. That thread writes it after it has taken the lock and before it
/// releases it, so other threads know it while it waits.
/// It is [`NO_THREAD`] while the lock is free.
#[derive(Debug)]
pub(crate) struct LockHolder(AtomicU32);

/// Tells waiting threads that an operator may have room now: a handle for threads that an operator
/// starts by itself, from [`crate::BuildContext::set_bounded`].
#[derive(Clone, Debug)]
pub struct RoomNotifier(pub(crate) Arc<ThreadWaits>);

impl RoomNotifier {
    /// Wakes the threads that wait for room, so that they ask the operator again.
    pub fn notify(&self) {
        self.0.notify_room();
    }

    /// Runs `sleep`, in which the operator's own thread waits until the operator gets an item.
    /// Meanwhile no thread waits for room that this one would have to make.
    pub fn while_idle<T>(&self, items: Arc<dyn PendingItems>, sleep: impl FnOnce() -> T) -> T {
        match pe_thread::current() {
            Some(thread) => self.0.while_idle(thread, items, sleep),
            None => sleep(),
        }
    }
}

impl Default for LockHolder {
    fn default() -> LockHolder {
        LockHolder(AtomicU32::new(NO_THREAD.0))
    }
}

impl LockHolder {
    /// Notes that `thread` has taken the lock.
    #[inline]
    pub fn set(&self, thread: PeThreadId) {
        self.0.store(thread.0, Ordering::Relaxed);
    }

    fn thread(&self) -> PeThreadId {
        PeThreadId(self.0.load(Ordering::Relaxed))
    }

    /// Notes that the thread is about to release the lock.
    #[inline]
    pub fn clear(&self) {
        self.0.store(NO_THREAD.0, Ordering::Relaxed);
    }
}

impl ThreadWaits {
    /// Waits of a PE whose threads do not run yet. A shutdown wakes all of them.
    pub fn new(stop: StopSignal) -> Arc<ThreadWaits> {
        let waits = Arc::new(ThreadWaits {
            room_waiters: AtomicU32::new(0),
            has_bounds: AtomicBool::new(false),
            threads: Mutex::new(ThreadWaitState {
                version: 0,
                activities: Vec::new(),
                feeders: Vec::new(),
            }),
            changed: Condvar::new(),
            stop: stop.clone(),
        });
        let weak_waits = Arc::downgrade(&waits);
        stop.on_request(move || {
            if let Some(waits) = weak_waits.upgrade() {
                waits.update(|_| ());
            }
        });
        waits
    }

    /// Sets the number of threads, before they start.
    pub fn set_thread_count(&self, count: u32) {
        self.update(|threads| threads.activities = vec![ThreadActivity::Running; count as usize]);
    }

    /// Sets the threads that feed what each thread takes items from, before they start.
    pub fn set_feeders(&self, feeders: Vec<Box<[PeThreadId]>>) {
        self.update(|threads| threads.feeders = feeders);
    }

    /// Notes that there is an operator with bounds.
    pub fn set_has_bounds(&self) {
        self.has_bounds.store(true, Ordering::Relaxed);
    }

    /// Whether threads that wait for items have to say so: somebody may wait for room meanwhile.
    #[inline]
    pub fn has_bounds(&self) -> bool {
        self.has_bounds.load(Ordering::Relaxed)
    }

    /// Whether a thread waits for room at this moment.
    pub fn has_room_waiters(&self) -> bool {
        self.room_waiters.load(Ordering::SeqCst) > 0
    }

    /// Runs `wait`, in which a thread waits for items.
    pub fn while_idle<T>(
        &self,
        thread: PeThreadId,
        items: Arc<dyn PendingItems>,
        wait: impl FnOnce() -> T,
    ) -> T {
        if !self.has_bounds() {
            return wait();
        }
        self.while_waiting(thread, ThreadActivity::WaitsForItems(items), wait)
    }

    /// Notes that a region of the pool waits for items, or no longer.
    pub fn set_idle(&self, thread: PeThreadId, items: Option<Arc<dyn PendingItems>>) {
        let activity = items.map_or(ThreadActivity::Running, ThreadActivity::WaitsForItems);
        self.update(|threads| threads.activities[thread.index()] = activity);
    }

    /// Notes that a thread has ended.
    pub fn set_ended(&self, thread: PeThreadId) {
        self.update(|threads| threads.activities[thread.index()] = ThreadActivity::Ended);
    }

    /// Whether all of these threads have ended.
    pub fn have_ended(&self, threads: &[PeThreadId]) -> bool {
        let all = self.lock();
        let has_ended =
            |&thread: &PeThreadId| matches!(all.activities[thread.index()], ThreadActivity::Ended);
        threads.iter().all(has_ended)
    }

    /// Wakes the threads that wait for room. Cheap if none waits.
    #[inline]
    pub fn notify_room(&self) {
        if self.room_waiters.load(Ordering::SeqCst) > 0 {
            self.update(|_| ());
        }
    }

    /// Runs `wait`, which waits for another thread; meanwhile all threads can see what for.
    pub fn while_waiting<T>(
        &self,
        thread: PeThreadId,
        activity: ThreadActivity,
        wait: impl FnOnce() -> T,
    ) -> T {
        let index = thread.index();
        let before =
            self.update(|threads| std::mem::replace(&mut threads.activities[index], activity));
        let result = pool_thread::while_waiting(wait);
        self.update(|threads| threads.activities[index] = before);
        result
    }

    /// Waits until `has_room` returns true, until none of `others` can make room any more, or until
    /// a shutdown. Returns whether there was room.
    ///
    /// # Errors
    /// The fault of `has_room`.
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

    /// Whether `thread` can go on although `without` waits for it.
    pub fn can_progress(&self, thread: PeThreadId, without: PeThreadId) -> bool {
        !matches!(
            self.lock().wait_chain_end(thread, without).0,
            WaitChainEnd::Waiter | WaitChainEnd::Ended
        )
    }

    /// Waits for a change after version `seen`. Returns false if none of `others` can bring one.
    fn wait_for_change(&self, seen: u64, thread: PeThreadId, others: &[PeThreadId]) -> bool {
        let mut threads = self.lock();
        while threads.version == seen {
            let mut seen_idle = vec![false; threads.activities.len()];
            let mut goes_on = |&other: &PeThreadId| threads.goes_on(other, thread, &mut seen_idle);
            if !others.iter().any(&mut goes_on) || self.stop.is_requested() {
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

/// End of a chain of waits: what the last thread does, if each waits for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitChainEnd {
    /// A thread that runs.
    Running,
    /// A thread that waits for room, and gives way if need be.
    WaitsForRoom,
    /// The thread that asks: a deadlock, if it waited.
    Waiter,
    /// A thread that waits for items, and has none.
    Idle,
    /// A thread that has ended.
    Ended,
}

impl ThreadWaitState {
    /// The end of a chain of waits, and the thread there.
    fn wait_chain_end(&self, thread: PeThreadId, waiter: PeThreadId) -> (WaitChainEnd, PeThreadId) {
        let mut at = thread;
        // A cycle that the waiter is not in: one of the threads in it gives way.
        for _ in 0..=self.activities.len() {
            if at == waiter {
                return (WaitChainEnd::Waiter, at);
            }
            let end = match self.activities.get(at.index()) {
                None | Some(ThreadActivity::Running) => WaitChainEnd::Running,
                Some(ThreadActivity::Ended) => WaitChainEnd::Ended,
                Some(ThreadActivity::WaitsForRoom) => WaitChainEnd::WaitsForRoom,
                Some(ThreadActivity::WaitsForItems(items)) if items.has_items() => {
                    WaitChainEnd::Running
                }
                Some(ThreadActivity::WaitsForItems(_)) => WaitChainEnd::Idle,
                Some(ThreadActivity::WaitsForLock(holder)) => {
                    at = holder.thread();
                    continue;
                }
                Some(ThreadActivity::WaitsForQueue(consumer, _)) => {
                    at = *consumer;
                    continue;
                }
            };
            return (end, at);
        }
        (WaitChainEnd::Running, at)
    }

    /// Whether a thread goes on while `waiter` waits. One without items does if one of those that
    /// feed it does; `seen_idle` has those without items that were asked already.
    fn goes_on(&self, thread: PeThreadId, waiter: PeThreadId, seen_idle: &mut [bool]) -> bool {
        match self.wait_chain_end(thread, waiter) {
            (WaitChainEnd::Running, _) => true,
            (WaitChainEnd::Idle, at) => {
                let is_new = !std::mem::replace(&mut seen_idle[at.index()], true);
                let feeders = self.feeders.get(at.index()).map_or(&[][..], |all| all);
                let mut feeders = feeders.iter();
                is_new && feeders.any(|&feeder| self.goes_on(feeder, waiter, seen_idle))
            }
            _ => false,
        }
    }

    /// Wakes threads that wait for a slot in a queue and would do so for ever.
    fn wake_deadlocked(&self) {
        for (thread, activity) in (0..).map(PeThreadId).zip(&self.activities) {
            if let ThreadActivity::WaitsForQueue(consumer, wakeup) = activity
                && matches!(
                    self.wait_chain_end(*consumer, thread).0,
                    WaitChainEnd::Waiter | WaitChainEnd::Ended
                )
            {
                wakeup.wake();
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
        let [t0, t1, t2, t3, t9] = [0, 1, 2, 3, 9].map(PeThreadId);
        let waits = waits(4);
        assert!(waits.can_progress(t1, t0));
        assert!(
            !waits.can_progress(t0, t0),
            "a producer that is its own consumer"
        );
        waits.while_waiting(t1, held_by(t2), || {
            assert!(waits.can_progress(t1, t0), "2 runs and will leave the lock");
            waits.while_waiting(t2, queue(t3), || {
                assert!(
                    waits.can_progress(t1, t0),
                    "3 runs and will empty the queue"
                );
                waits.while_waiting(t3, held_by(t0), || {
                    assert!(!waits.can_progress(t1, t0));
                    assert!(waits.can_progress(t1, t9), "not everybody's business");
                });
            });
        });
        waits.while_waiting(t1, held_by(NO_THREAD), || {
            assert!(waits.can_progress(t1, t0))
        });
        waits.set_ended(t1);
        assert!(!waits.can_progress(t1, t0));
    }

    #[test]
    fn a_thread_that_waits_in_vain_is_woken() {
        let [t0, t1] = [0, 1].map(PeThreadId);
        let waits = waits(2);
        let wakeup = Wakeup::new().unwrap();
        let is_woken = || wakeup.clear();
        waits.while_waiting(
            t0,
            ThreadActivity::WaitsForQueue(t1, wakeup.clone()),
            || {
                assert!(!is_woken());
                waits.while_waiting(t1, held_by(t0), || assert!(is_woken()));
            },
        );
    }

    #[test]
    fn of_a_room_and_a_queue_that_wait_for_each_other_the_room_gives_way() {
        let [t0, t1] = [0, 1].map(PeThreadId);
        let waits = waits(2);
        waits.while_waiting(t0, queue(t1), || {
            // No thread ever says that there is room.
            assert!(!waits.wait_for_room(t1, &[t0], || Ok(false)).unwrap());
            waits.while_waiting(t1, ThreadActivity::WaitsForRoom, || {
                assert!(waits.can_progress(t1, t0))
            });
        });
    }

    /// A place with items, or without.
    #[derive(Debug)]
    struct Items(AtomicBool);

    impl PendingItems for Items {
        fn has_items(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_thread_without_items_makes_no_room_unless_it_is_fed() {
        let [t0, t1, t2, t3] = [0, 1, 2, 3].map(PeThreadId);
        let waits = waits(4);
        // 0 feeds 1, and 1 and 3 feed 2; 2 also feeds 1.
        let feeders: [&[PeThreadId]; 4] = [&[], &[t0, t2], &[t1, t3], &[]];
        waits.set_feeders(feeders.map(Box::from).into());
        waits.set_has_bounds();
        let [one, two] = [(); 2].map(|()| Arc::new(Items(AtomicBool::new(false))));
        let goes_on = |thread| waits.lock().goes_on(thread, t0, &mut [false; 4]);
        waits.while_idle(t2, two.clone(), || {
            waits.set_idle(t1, Some(one.clone()));
            assert!(goes_on(t2), "3 runs and feeds 2");
            waits.set_ended(t3);
            let seen = waits.lock().version;
            assert!(!waits.wait_for_change(seen, t0, &[t1, t2]));
            two.0.store(true, Ordering::Relaxed);
            assert!(goes_on(t1), "2 has an item");
            two.0.store(false, Ordering::Relaxed);
            one.0.store(true, Ordering::Relaxed);
            assert!(goes_on(t2), "1 has an item");
            waits.set_idle(t1, None);
            assert!(goes_on(t2), "1 runs");
        });
    }

    #[test]
    fn room_that_others_wait_to_make_is_not_waited_for() {
        let [t0, t1] = [0, 1].map(PeThreadId);
        let waits = waits(2);
        waits.while_waiting(t0, ThreadActivity::WaitsForRoom, || {
            assert!(!waits.wait_for_room(t1, &[t0], || Ok(false)).unwrap());
        });
    }
}
