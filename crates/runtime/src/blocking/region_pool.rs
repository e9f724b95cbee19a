//! The region pool: which of a PE's pooled regions have work, and which threads are woken for it.
//!
//! Producers announce work by a [`RegionWaker`]; the threads of the pool claim regions, one thread
//! at a time each, and give them back. There is no common lock: each region has a word of its own
//! ([`ring::ClaimWord`]), and so has each thread that sleeps ([`ring::ThreadLevel`]).

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use ring::{ClaimWord, ThreadLevel};
use transport::Wakeup;

/// Starts the thread of a pool that has this number.
pub(crate) type StartThread = Box<dyn Fn(usize) + Send + Sync>;

/// The claims of all pooled regions of a PE, and the threads that look for them.
pub(crate) struct RegionPool {
    /// The claim of each region, by number.
    claims: Box<[ClaimWord]>,
    /// By region: whether its thread's progress could not be sent for lack of room, so that another
    /// try is due although there is no work.
    owes_progress: Box<[AtomicBool]>,
    /// Number of regions that owe progress.
    owing: AtomicUsize,
    level: ThreadLevel,
    /// By thread: ends its sleep. Set before the thread sleeps for the first time.
    wakeups: Box<[OnceLock<Wakeup>]>,
    /// Number of threads that were started. There are as many as regions at most: each thread that
    /// waits for another thread holds at least one.
    started: AtomicUsize,
    /// Number of regions that have not ended.
    regions_left: AtomicUsize,
    start_thread: OnceLock<StartThread>,
}

impl fmt::Debug for RegionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegionPool").finish_non_exhaustive()
    }
}

impl RegionPool {
    /// A pool of this many regions, all of which have work: the first turn shows whether that is
    /// so.
    pub fn new(regions: usize, level: u32) -> Arc<RegionPool> {
        let pool = RegionPool {
            claims: (0..regions).map(|_| ClaimWord::default()).collect(),
            owes_progress: (0..regions).map(|_| AtomicBool::new(false)).collect(),
            owing: AtomicUsize::new(0),
            level: ThreadLevel::new(regions, level),
            wakeups: (0..regions).map(|_| OnceLock::new()).collect(),
            started: AtomicUsize::new(0),
            regions_left: AtomicUsize::new(regions),
            start_thread: OnceLock::new(),
        };
        pool.claims.iter().for_each(|claim| {
            claim.notify();
        });
        Arc::new(pool)
    }

    /// Sets how further threads are started; once.
    pub fn set_start_thread(&self, start: StartThread) {
        // The pool is set up once.
        let _ = self.start_thread.set(start);
    }

    /// Number of a thread that begins, and is counted as active; `None` if there are as many as
    /// regions.
    pub fn add_thread(&self) -> Option<usize> {
        let (order, max) = (Ordering::Relaxed, self.claims.len());
        let next = |started: usize| (started < max).then_some(started + 1);
        let number = self.started.fetch_update(order, order, next).ok()?;
        self.level.add_active();
        Some(number)
    }

    /// Takes back that a thread is active, whose thread could not be started.
    pub fn abandon_thread(&self) {
        self.level.begin_wait();
    }

    /// Sets the wakeup of a thread, before the thread sleeps.
    pub fn set_wakeup(&self, thread: usize, wakeup: Wakeup) {
        // A thread has one wakeup, for as long as it runs.
        let _ = self.wakeups[thread].set(wakeup);
    }

    /// Sets how many threads look for work, and wakes those that are missing.
    pub fn set_level(&self, level: u32) {
        self.level.set_level(level);
        for _ in 0..level {
            self.replace_thread();
        }
    }

    /// Claims a region, whether it has work or not.
    pub fn try_claim(&self, region: usize) -> bool {
        self.claims[region].try_claim()
    }

    /// Claims a region that has work, beginning the search at `from`.
    pub fn claim_next(&self, from: usize) -> Option<usize> {
        let count = self.claims.len();
        let mut regions = (from..count).chain(0..from.min(count));
        regions.find(|&region| self.claims[region].is_ready() && self.try_claim(region))
    }

    /// Claims a region that owes progress.
    pub fn claim_owing(&self) -> Option<usize> {
        if !self.is_owed_progress() {
            return None;
        }
        let mut regions = 0..self.claims.len();
        let owes = |region: usize| self.owes_progress[region].load(Ordering::SeqCst);
        regions.find(|&region| owes(region) && self.try_claim(region))
    }

    /// Gives a claimed region back.
    pub fn release(&self, region: usize, has_more: bool) {
        self.claims[region].release(has_more);
    }

    /// Sets whether a claimed region owes progress.
    pub fn set_owes_progress(&self, region: usize, owes: bool) {
        // The holder of the claim alone changes it.
        let owed = self.owes_progress[region].load(Ordering::Relaxed);
        if owes != owed {
            self.owes_progress[region].store(owes, Ordering::SeqCst);
            match owes {
                true => self.owing.fetch_add(1, Ordering::SeqCst),
                false => self.owing.fetch_sub(1, Ordering::SeqCst),
            };
        }
    }

    /// Whether any region owes progress.
    pub fn is_owed_progress(&self) -> bool {
        self.owing.load(Ordering::SeqCst) > 0
    }

    fn has_work(&self) -> bool {
        self.claims.iter().any(ClaimWord::is_ready) || self.is_owed_progress()
    }

    /// Announces work of a region.
    fn notify(&self, region: usize) {
        if self.claims[region].notify() {
            self.wake_one();
        }
    }

    /// Announces work of all regions and wakes all threads, without starting any: the PE has
    /// failed, and each region has to notice.
    pub fn notify_all(&self) {
        self.claims.iter().for_each(|claim| {
            claim.notify();
        });
        self.wake_all();
    }

    /// Ends a region, which stays claimed. The last one ends the threads.
    pub fn end_region(&self, region: usize) {
        self.set_owes_progress(region, false);
        if self.regions_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.wake_all();
        }
    }

    /// Whether all regions have ended.
    pub fn has_ended(&self) -> bool {
        self.regions_left.load(Ordering::SeqCst) == 0
    }

    fn wake_all(&self) {
        for thread in 0..self.wakeups.len() {
            if self.level.end_sleep(thread) {
                self.wake(thread);
            }
        }
    }

    fn wake(&self, thread: usize) {
        if let Some(wakeup) = self.wakeups[thread].get() {
            wakeup.wake();
        }
    }

    /// Wakes or starts a thread, if fewer are active than wanted.
    fn wake_one(&self) {
        if let Some(thread) = self.level.take_sleeper() {
            self.wake(thread);
        } else if self.level.is_short()
            && let Some(start) = self.start_thread.get()
            && let Some(thread) = self.add_thread()
        {
            start(thread);
        }
    }

    /// Wakes or starts a thread in place of one that waits, if there is work for it.
    fn replace_thread(&self) {
        if self.level.is_short() && self.has_work() {
            self.wake_one();
        }
    }

    /// Notes that a thread waits for another thread, and has another one take its place.
    pub fn begin_wait(&self) {
        self.level.begin_wait();
        self.replace_thread();
    }

    /// Notes that the wait of a thread is over.
    pub fn end_wait(&self) {
        self.level.end_wait();
    }

    /// Announces that a thread is about to sleep; `false`: there is work after all.
    pub fn begin_sleep(&self, thread: usize) -> bool {
        self.level.begin_sleep(thread);
        let is_idle = !self.has_ended() && !self.claims.iter().any(ClaimWord::is_ready);
        if !is_idle {
            self.level.end_sleep(thread);
        }
        is_idle
    }

    /// Announces that a thread is about to sleep if more are active than wanted.
    pub fn begin_surplus_sleep(&self, thread: usize) -> bool {
        let sleeps = self.level.begin_surplus_sleep(thread);
        if sleeps && self.has_ended() {
            self.level.end_sleep(thread);
            return false;
        }
        sleeps
    }

    /// Notes that a thread is awake, whoever has ended its sleep.
    pub fn end_sleep(&self, thread: usize) {
        self.level.end_sleep(thread);
    }
}

/// Announces work of one pooled region.
#[derive(Clone, Debug)]
pub(crate) struct RegionWaker {
    pool: Arc<RegionPool>,
    region: usize,
}

impl RegionWaker {
    pub fn new(pool: Arc<RegionPool>, region: usize) -> RegionWaker {
        RegionWaker { pool, region }
    }

    /// Announces that the region has work.
    pub fn wake(&self) {
        self.pool.notify(self.region);
    }
}
