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
//! So threads never wait in a circle: a circle of waits has one of the first two in it, and that one
//! gives way. Locks alone make none, because they are taken in the order of the streams.
//!
//! One lock for the whole PE suffices: nobody takes it unless somebody waits.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use graph::Fault;
use transport::Bell;

use crate::crossing::quiet;
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
    /// By thread.
    doing: Vec<Doing>,
}

/// What a thread does.
#[derive(Clone, Debug)]
pub(crate) enum Doing {
    /// It runs.
    Runs,
    /// Nothing any more.
    Ended,
    /// It waits for room. It goes on by itself if nobody else can.
    Room,
    /// It waits for a lock.
    Lock(Arc<Holder>),
    /// It waits for a slot in a queue that this thread takes from. The bell is rung when that thread
    /// cannot go on without this one.
    Queue(ThreadId, Bell),
}

/// Which thread holds a lock. Written by that thread, after it has taken the lock and before it
/// leaves it: if it waits while it holds the lock, everybody knows.
#[derive(Debug)]
pub(crate) struct Holder(AtomicU32);

/// Says that there may be room now: a handle for threads that an operator runs itself.
#[derive(Clone, Debug)]
pub struct Room(pub(crate) Arc<Waits>);

impl Room {
    /// There may be room now.
    pub fn made(&self) {
        self.0.made_room();
    }
}

/// Nobody.
const NOBODY: ThreadId = ThreadId::MAX;

impl Default for Holder {
    fn default() -> Holder {
        Holder(AtomicU32::new(NOBODY))
    }
}

impl Holder {
    /// This thread has taken the lock.
    #[inline]
    pub fn took(&self, thread: ThreadId) {
        self.0.store(thread, Ordering::Relaxed);
    }

    /// It is about to leave it.
    #[inline]
    pub fn leaves(&self) {
        self.0.store(NOBODY, Ordering::Relaxed);
    }
}

impl Waits {
    /// For a PE whose threads are all about to run.
    pub fn new(stop: Stop) -> Arc<Waits> {
        let waits = Arc::new(Waits {
            waiting: AtomicU32::new(0),
            threads: Mutex::new(Threads {
                version: 0,
                doing: Vec::new(),
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
        self.change(|threads| threads.doing = vec![Doing::Runs; count as usize]);
    }

    /// A thread has ended.
    pub fn ended(&self, thread: ThreadId) {
        self.change(|threads| threads.doing[thread as usize] = Doing::Ended);
    }

    /// Whether all of these have.
    pub fn have_ended(&self, threads: &[ThreadId]) -> bool {
        let all = self.lock();
        let has_ended = |&thread: &ThreadId| matches!(all.doing[thread as usize], Doing::Ended);
        threads.iter().all(has_ended)
    }

    /// Somebody may have made room. Cheap if nobody waits.
    #[inline]
    pub fn made_room(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.change(|_| ());
        }
    }

    /// Does something that waits for another thread; meanwhile everybody knows what for.
    pub fn while_doing<T>(&self, thread: ThreadId, doing: Doing, wait: impl FnOnce() -> T) -> T {
        let at = thread as usize;
        let before = self.change(|threads| std::mem::replace(&mut threads.doing[at], doing));
        let result = wait();
        self.change(|threads| threads.doing[at] = before);
        result
    }

    /// Waits until `has_room`, or until none of `others` could make room any more, or a shutdown;
    /// whether there was room.
    pub fn wait_for_room(
        &self,
        thread: ThreadId,
        others: &[ThreadId],
        mut has_room: impl FnMut() -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        quiet::flush();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let result = self.while_doing(thread, Doing::Room, || {
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
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// Whether a thread can go on although another one waits for it.
    pub fn can_go_on(&self, thread: ThreadId, without: ThreadId) -> bool {
        !matches!(self.lock().end_of(thread, without), End::Waiter | End::Gone)
    }

    /// False if there is nobody to wait for.
    fn wait_for_change(&self, seen: u64, thread: ThreadId, others: &[ThreadId]) -> bool {
        let mut threads = self.lock();
        while threads.version == seen {
            let runs = |&other: &ThreadId| threads.end_of(other, thread) == End::Runs;
            if !others.iter().any(runs) || self.stop.is_requested() {
                return false;
            }
            let woken = self.changed.wait(threads);
            threads = woken.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    fn change<T>(&self, change: impl FnOnce(&mut Threads) -> T) -> T {
        let mut threads = self.lock();
        let result = change(&mut threads);
        threads.version += 1;
        threads.ring_in_vain();
        self.changed.notify_all();
        result
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where it leads to ask whom a thread waits for, and whom that one waits for, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// To a thread that runs.
    Runs,
    /// To one that waits for room, and gives way if need be.
    Room,
    /// To whoever asks.
    Waiter,
    /// To one that has ended.
    Gone,
}

impl Threads {
    fn end_of(&self, thread: ThreadId, waiter: ThreadId) -> End {
        let mut at = thread;
        // A circle that the waiter is not in: somebody in it gives way.
        for _ in 0..=self.doing.len() {
            if at == waiter {
                return End::Waiter;
            }
            at = match self.doing.get(at as usize) {
                None | Some(Doing::Runs) => return End::Runs,
                Some(Doing::Ended) => return End::Gone,
                Some(Doing::Room) => return End::Room,
                Some(Doing::Lock(holder)) => holder.0.load(Ordering::Relaxed),
                Some(Doing::Queue(consumer, _)) => *consumer,
            };
        }
        End::Runs
    }

    /// Wakes those that wait for a slot in a queue and would do so for ever.
    fn ring_in_vain(&self) {
        for (thread, doing) in (0..).zip(&self.doing) {
            if let Doing::Queue(consumer, bell) = doing
                && matches!(self.end_of(*consumer, thread), End::Waiter | End::Gone)
            {
                bell.ring();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(count: u32) -> Arc<Waits> {
        let waits = Waits::new(Stop::default());
        waits.set_threads(count);
        waits
    }

    fn queue(consumer: ThreadId) -> Doing {
        Doing::Queue(consumer, Bell::new().unwrap())
    }

    fn held_by(thread: ThreadId) -> Doing {
        let holder = Holder::default();
        holder.took(thread);
        Doing::Lock(Arc::new(holder))
    }

    #[test]
    fn a_consumer_that_waits_for_its_producer_is_seen_through_locks_and_queues() {
        let waits = waits(4);
        assert!(waits.can_go_on(1, 0));
        assert!(
            !waits.can_go_on(0, 0),
            "a producer that is its own consumer"
        );
        waits.while_doing(1, held_by(2), || {
            assert!(waits.can_go_on(1, 0), "2 runs and will leave the lock");
            waits.while_doing(2, queue(3), || {
                assert!(waits.can_go_on(1, 0), "3 runs and will empty the queue");
                waits.while_doing(3, held_by(0), || {
                    assert!(!waits.can_go_on(1, 0));
                    assert!(waits.can_go_on(1, 9), "not everybody's business");
                });
            });
        });
        waits.while_doing(1, held_by(NOBODY), || assert!(waits.can_go_on(1, 0)));
        waits.ended(1);
        assert!(!waits.can_go_on(1, 0));
    }

    #[test]
    fn whoever_waits_in_vain_is_rung() {
        let waits = waits(2);
        let bell = Bell::new().unwrap();
        let rings = || bell.silence();
        waits.while_doing(0, Doing::Queue(1, bell.clone()), || {
            assert!(!rings());
            waits.while_doing(1, held_by(0), || assert!(rings()));
        });
    }

    #[test]
    fn of_a_room_and_a_queue_that_wait_for_each_other_the_room_gives_way() {
        let waits = waits(2);
        waits.while_doing(0, queue(1), || {
            // Nobody ever says that there is room.
            assert!(!waits.wait_for_room(1, &[0], || Ok(false)).unwrap());
            waits.while_doing(1, Doing::Room, || assert!(waits.can_go_on(1, 0)));
        });
    }

    #[test]
    fn room_that_others_wait_to_make_is_not_waited_for() {
        let waits = waits(2);
        waits.while_doing(0, Doing::Room, || {
            assert!(!waits.wait_for_room(1, &[0], || Ok(false)).unwrap());
        });
    }
}
