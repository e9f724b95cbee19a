//! Before a thread sleeps, what its Sends hold back gets out.
//!
//! Media hold frames back to send several together. Whoever is about to sleep, anywhere in the
//! operators' code, calls [`flush`]: the thread knows its region here.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::order;
use crate::thread_region::ThreadRegion;
use crate::thread_waits::PeThreadId;

/// Whoever sleeps without an end tries for so long.
const FLUSH_TIME_MAX: Duration = Duration::from_millis(20);

/// What found no room is tried again after so long, by a thread that does nothing else meanwhile.
const FLUSH_RETRY: Duration = Duration::from_micros(100);

thread_local! {
    /// What this thread runs, if that holds something back.
    static REGION: RefCell<Option<Rc<ThreadRegion>>> = const { RefCell::new(None) };
    /// Which thread of the PE it is.
    static THREAD: Cell<Option<PeThreadId>> = const { Cell::new(None) };
}

/// Runs what a thread of the PE runs, and gives its region back.
pub(crate) fn run_in_region(
    region: ThreadRegion,
    run: impl FnOnce(&ThreadRegion),
) -> Option<ThreadRegion> {
    let region = Rc::new(region);
    THREAD.set(Some(region.thread));
    if region.needs_flush() {
        REGION.set(Some(region.clone()));
    }
    run(&region);
    REGION.set(None);
    Rc::into_inner(region)
}

/// Which thread of the PE this is; `None`: of none.
pub(crate) fn current_thread() -> Option<PeThreadId> {
    THREAD.get()
}

/// The thread is about to sleep, for as long as it likes: what it has to say gets out before,
/// unless there is no room for it for a while. (What makes room may need what this thread has
/// locked.)
pub(crate) fn flush() {
    flush_until(Instant::now() + FLUSH_TIME_MAX);
}

/// To be called by an operator whose thread is about to sleep by means of its own, in poll(2) or at
/// a condition variable: what was sent with more to come gets out before.
pub fn about_to_sleep() {
    flush();
}

/// The same before a sleep that ends then.
pub(crate) fn flush_until(end: Instant) {
    flush_while(|| Instant::now() < end);
}

/// The thread ends: it says everything.
pub(crate) fn flush_all() {
    flush_while(|| true);
}

fn flush_while(has_time: impl Fn() -> bool) {
    flush_once();
    while order::take_progress_pending() && has_time() && !has_failed() {
        std::thread::sleep(FLUSH_RETRY);
        flush_once();
    }
}

fn has_failed() -> bool {
    REGION.with_borrow(|region| {
        let pe_context = region.as_ref().map(|region| &region.wiring.context);
        pe_context.is_some_and(|house| house.failed.is_requested())
    })
}

/// The same, if it looks again soon: [`order::take_progress_pending`] tells whether it has to.
pub(crate) fn flush_once() {
    with_region(ThreadRegion::flush);
}

/// The thread goes on, but says how far it has come: what media hold back they keep.
pub(super) fn send_progress() {
    with_region(ThreadRegion::send_progress);
}

fn with_region(act: impl FnOnce(&ThreadRegion)) {
    // Neither sleeps, so it does not come back here.
    let region = REGION.with_borrow(Clone::clone);
    if let Some(region) = region {
        act(&region);
    }
}
