//! A region runner: a thread of the pool, which claims regions that have work and runs a batch of
//! each.
//!
//! ```text
//!   look for a region with work, from where the last was found
//!     found: claim, run a batch, release
//!              `- finds a queue full downstream: claims that queue's region, runs a batch of it
//!     none:  spin, yield, sleep until a queue gets its first item
//! ```
//! The regions are in the order of the program, so the next one with work is often the one that the
//! last batch has fed.
//!
//! # Regions within regions
//! A region that a thread runs while it waits in another one is downstream of it, because pooled
//! queues stand in no loop. So a chain of such waits ends at a region that runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eval::Fault;
use graph::PeThreadId;
use transport::Idler;

use super::pooled_region::{PooledRegion, RunningRegion};
use crate::blocking::before_sleep::{self, BeforeSleep};
use crate::blocking::pe_thread;
use crate::blocking::pool_thread::{self, PoolThread};
use crate::blocking::region_pool::RegionPool;
use crate::inserted::inserted_operator::BatchEnd;

/// The pooled regions of a PE, which all threads share.
pub(super) struct PoolRegions {
    pub pool: Arc<RegionPool>,
    /// The regions. The lock of one is free for the thread that has claimed it.
    pub regions: Box<[Mutex<PooledRegion>]>,
    /// By thread of the plan: number of its region, if it is pooled.
    pub by_thread: Box<[Option<usize>]>,
}

/// A thread of the pool.
struct RegionRunner {
    shared: Arc<PoolRegions>,
    number: usize,
    /// Number of the region where work was found last.
    found_at: Cell<usize>,
    /// Places of the regions that the thread runs one within another, outermost first.
    running: RefCell<Vec<Rc<RunningRegion>>>,
    /// Number of regions that the thread runs now.
    depth: Cell<usize>,
}

/// Greatest number of regions that a thread runs one within another: 64, so that evaluations keep
/// most of the stack. Beyond it a thread waits, and another one takes its place.
const DEPTH_MAX: usize = 64;

/// Longest sleep of a thread while a region owes progress: a millisecond.
const PROGRESS_RETRY: Duration = Duration::from_millis(1);

/// Runs regions until all have ended. Without an idler the thread yields its core instead
/// of sleeping.
pub(super) fn run_regions(shared: Arc<PoolRegions>, number: usize, idle: Result<Idler, Fault>) {
    let mut idle = idle.ok();
    if let Some(idle) = &idle {
        shared.pool.set_wakeup(number, idle.wakeup().clone());
    }
    let runner = Rc::new(RegionRunner {
        shared,
        number,
        found_at: Cell::new(0),
        running: RefCell::default(),
        depth: Cell::new(0),
    });
    pool_thread::set_current(Some(runner.clone()));
    while !runner.pool().has_ended() {
        match &mut idle {
            Some(idle) => runner.turn(idle),
            None if runner.run_next() => {}
            None => std::thread::yield_now(),
        }
    }
    pool_thread::set_current(None);
}

impl RegionRunner {
    /// Runs a batch, or idles.
    fn turn(&self, idle: &mut Idler) {
        let pool = self.pool();
        if let Some(region) = pool.claim_owing() {
            self.run_claimed(region);
        }
        if pool.begin_surplus_sleep(self.number) {
            self.sleep(idle);
        } else if self.run_next() {
            idle.reset();
        } else if !idle.spin_or_yield() && pool.begin_sleep(self.number) {
            self.sleep(idle);
        }
    }

    /// Sleeps until the thread is woken, or it is time to try again to send progress.
    fn sleep(&self, idle: &mut Idler) {
        let at_most = self.pool().is_owed_progress().then_some(PROGRESS_RETRY);
        // Without the system call to wait, the thread looks again.
        let _ = idle.sleep(at_most);
        self.pool().end_sleep(self.number);
    }

    /// Runs a batch of the next region that has work.
    fn run_next(&self) -> bool {
        let Some(region) = self.pool().claim_next(self.found_at.get()) else {
            return false;
        };
        self.found_at.set(region);
        self.run_claimed(region);
        true
    }

    /// Runs a batch of a claimed region, and gives it back.
    fn run_claimed(&self, number: usize) {
        let mut pooled = lock(&self.shared.regions[number]);
        let place = self.enter();
        place.0.replace(pooled.region.take());
        let before = pe_thread::set_current(Some(pooled.thread));
        if pooled.needs_flush {
            before_sleep::push_hook(place.clone());
        }
        let mut end = BatchEnd::Ended;
        let mut owes_progress = false;
        if let Some(region) = &*place.0.borrow() {
            end = pooled.run_batch(region);
            owes_progress = end == BatchEnd::Idle && region.take_retry();
        }
        if pooled.needs_flush {
            before_sleep::pop_hook();
        }
        pe_thread::set_current(before);
        pooled.region = place.0.take();
        self.depth.set(self.depth.get() - 1);
        drop(pooled);
        let pool = self.pool();
        match end {
            BatchEnd::Ended => pool.end_region(number),
            BatchEnd::More | BatchEnd::Idle => {
                pool.set_owes_progress(number, owes_progress);
                pool.release(number, end == BatchEnd::More);
            }
        }
    }

    /// The place of a region that the thread begins to run.
    fn enter(&self) -> Rc<RunningRegion> {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        let mut running = self.running.borrow_mut();
        if running.len() == depth {
            running.push(Rc::default());
        }
        running[depth].clone()
    }
}

impl PoolThread for RegionRunner {
    fn run_region_of(&self, thread: PeThreadId) -> bool {
        let region = self.shared.by_thread.get(thread.index());
        let Some(region) = region.copied().flatten() else {
            return false;
        };
        if self.depth.get() >= DEPTH_MAX || !self.pool().try_claim(region) {
            return false;
        }
        self.run_claimed(region);
        true
    }

    fn pool(&self) -> &Arc<RegionPool> {
        &self.shared.pool
    }
}

/// Locks a region. A thread that panicked outside of operators has ended the PE.
pub(super) fn lock(region: &Mutex<PooledRegion>) -> MutexGuard<'_, PooledRegion> {
    region.lock().unwrap_or_else(PoisonError::into_inner)
}
