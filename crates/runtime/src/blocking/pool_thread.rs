//! The pool that the calling thread belongs to: what such a thread does instead of blocking.
//!
//! A thread of a pool that finds a queue full runs the queue's region itself. If another thread has
//! claimed that region, or the wait is for something else, a further thread of the pool takes the
//! place of the one that waits. So a pool of one thread never comes to a stop.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use graph::PeThreadId;

use super::region_pool::RegionPool;

/// A thread of a pool.
pub(crate) trait PoolThread {
    /// Runs the region that stands for a thread of the plan, for a bounded time. `false`: it is not
    /// pooled, or another thread runs it.
    fn run_region_of(&self, thread: PeThreadId) -> bool;

    /// The pool that the thread belongs to.
    fn pool(&self) -> &Arc<RegionPool>;
}

thread_local! {
    /// The calling thread as a thread of a pool; `None` if it is none.
    static CURRENT: RefCell<Option<Rc<dyn PoolThread>>> = const { RefCell::new(None) };

    /// Whether the calling thread waits, and a further one has taken its place.
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
}

/// Makes the calling thread one of a pool, or takes that back.
pub(crate) fn set_current(thread: Option<Rc<dyn PoolThread>>) {
    CURRENT.set(thread);
}

/// Runs the region that stands for `thread`, for a bounded time, if the calling thread belongs to a
/// pool and no other thread runs that region.
pub(crate) fn run_region_of(thread: PeThreadId) -> bool {
    let current = CURRENT.with_borrow(Clone::clone);
    current.is_some_and(|current| current.run_region_of(thread))
}

/// Runs `wait`, which waits for another thread. Meanwhile a further thread of the pool works in
/// place of the calling one, if that belongs to a pool.
pub(crate) fn while_waiting<T>(wait: impl FnOnce() -> T) -> T {
    let pool = CURRENT.with_borrow(|current| Some(current.as_ref()?.pool().clone()));
    let _waiting = pool
        .filter(|_| !IS_WAITING.replace(true))
        .map(PoolWait::begin);
    wait()
}

/// The wait of a thread of a pool; ends when it is dropped.
struct PoolWait(Arc<RegionPool>);

impl PoolWait {
    fn begin(pool: Arc<RegionPool>) -> PoolWait {
        pool.begin_wait();
        PoolWait(pool)
    }
}

impl Drop for PoolWait {
    fn drop(&mut self) {
        IS_WAITING.set(false);
        self.0.end_wait();
    }
}
