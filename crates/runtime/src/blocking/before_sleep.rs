//! The before-sleep hook: what a thread does before it blocks, so that nothing is held back
//! meanwhile.
//!
//! ```text
//!   region:   push_hook(hook) ------------ runs ------------ pop_hook()
//!   operator:                 flush() before each sleep
//! ```
//! Media hold frames back to send several together, and only the thread that runs the sending
//! operators may call them. A thread registers a hook when it starts to run a region. A thread of a
//! pool that runs one region within another has the hooks of both. A function that sleeps,
//! or waits for room or input, calls [`flush`] or one of its variants first. The wait for the lock
//! of an operator or a loop does so only in a PE with ordered streams. A thread without a hook
//! holds nothing back.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::pool_thread;

/// Longest time that a flush before a sleep without an end tries to find room: 20 ms. The thread
/// that could make room may need a lock that this one holds, so it does not try for ever.
const FLUSH_TIME_MAX: Duration = Duration::from_millis(20);

/// Pause between two tries of a flush that found no room: 100 microseconds, short because the
/// thread does nothing else meanwhile.
const FLUSH_RETRY: Duration = Duration::from_micros(100);

/// Access to the tuples that a thread's operators hold back. None of the methods sleeps.
pub(crate) trait BeforeSleep {
    /// Sends what the thread's operators hold back, as far as there is room for it.
    fn flush(&self);

    /// Tells receivers how far the thread has come. Media keep what they hold back.
    fn send_progress(&self);

    /// Whether something has found no room since this was last asked, and another try is worth it.
    fn take_retry(&self) -> bool;
}

thread_local! {
    /// The hooks of the regions that the calling thread runs, the innermost one's last.
    static HOOKS: RefCell<Vec<Rc<dyn BeforeSleep>>> = const { RefCell::new(Vec::new()) };
}

/// Registers a hook of the calling thread, until [`pop_hook`].
pub(crate) fn push_hook(hook: Rc<dyn BeforeSleep>) {
    HOOKS.with_borrow_mut(|hooks| hooks.push(hook));
}

/// Takes the last hook of the calling thread back.
pub(crate) fn pop_hook() {
    HOOKS.with_borrow_mut(Vec::pop);
}

/// Sends what the calling thread holds back, before a sleep without an end. Gives up after
/// [`FLUSH_TIME_MAX`].
pub(crate) fn flush() {
    flush_until(Instant::now() + FLUSH_TIME_MAX);
}

/// Sends what the operators of the calling thread hold back.
///
/// An operator calls this before its thread sleeps by other means than [`eval::Services::block`]:
/// in poll(2), or at a condition variable. Does nothing on threads that hold nothing back.
///
/// ```
/// use std::sync::mpsc::channel;
///
/// let (sender, lines) = channel();
/// sender.send("one").unwrap();
/// thalweg_runtime::about_to_sleep();
/// assert_eq!(lines.recv().unwrap(), "one");
/// ```
pub fn about_to_sleep() {
    flush();
}

/// Runs `sleep`, which sleeps by other means than [`eval::Services::block`], after what the
/// operators of the calling thread hold back is sent. If the thread belongs to a pool, another one
/// takes its place meanwhile.
///
/// ```
/// use std::sync::mpsc::channel;
///
/// let (sender, lines) = channel();
/// sender.send("one").unwrap();
/// assert_eq!(thalweg_runtime::while_asleep(|| lines.recv()), Ok("one"));
/// ```
pub fn while_asleep<T>(sleep: impl FnOnce() -> T) -> T {
    flush();
    pool_thread::while_waiting(sleep)
}

/// Sends what the calling thread holds back, before a sleep that ends at `end`.
pub(crate) fn flush_until(end: Instant) {
    flush_while(|| Instant::now() < end);
}

/// Sends what the calling thread holds back, however long that takes: the thread is about to end.
pub(crate) fn flush_all() {
    flush_while(|| true);
}

fn flush_while(has_time: impl Fn() -> bool) {
    flush_once();
    if take_retry() {
        pool_thread::while_waiting(|| {
            while has_time() {
                std::thread::sleep(FLUSH_RETRY);
                flush_once();
                if !take_retry() {
                    break;
                }
            }
        });
    }
}

/// Whether something has found no room since this was last asked, and another try is worth it.
pub(crate) fn take_retry() -> bool {
    let mut is_due = false;
    for_each_hook(|hook| is_due |= hook.take_retry());
    is_due
}

/// Sends what the calling thread holds back, once, for a thread that looks again soon.
pub(crate) fn flush_once() {
    for_each_hook(|hook| hook.flush());
}

/// Tells receivers how far the calling thread has come; it goes on, and media keep what they hold
/// back.
pub(crate) fn send_progress() {
    for_each_hook(|hook| hook.send_progress());
}

fn for_each_hook(mut call: impl FnMut(&dyn BeforeSleep)) {
    let mut at = 0;
    // Cloned, for the hook calls operators and these may ask for a flush again.
    while let Some(hook) = HOOKS.with_borrow(|hooks| hooks.get(at).cloned()) {
        call(&*hook);
        at += 1;
    }
}
