//! Handles: values that C holds by a pointer, used by one call at a time.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::border::null;
use crate::status::{Failure, Status};

/// No call is using the value.
const FREE: u8 = 0;
/// One is. A callback that calls again finds it so; of two threads, which the header forbids, one
/// mostly does.
const USED: u8 = 1;
/// One has panicked in doing so.
const BROKEN: u8 = 2;

/// What a pointer of C leads to.
pub(crate) struct Handle<T> {
    state: AtomicU8,
    value: UnsafeCell<T>,
}

/// A use of a handle, until it is dropped.
struct Use<'a>(&'a AtomicU8);

impl Drop for Use<'_> {
    #[inline]
    fn drop(&mut self) {
        let state = if std::thread::panicking() {
            BROKEN
        } else {
            FREE
        };
        self.0.store(state, Ordering::Relaxed);
    }
}

impl<T> Handle<T> {
    /// Gives a value to C.
    pub(crate) fn give(value: T) -> *mut Handle<T> {
        Box::into_raw(Box::new(Handle {
            state: AtomicU8::new(FREE),
            value: UnsafeCell::new(value),
        }))
    }

    /// Uses the value.
    ///
    /// # Safety
    /// The pointer is null, or was given by [`Handle::give`] and not taken back; no other thread uses it
    /// now.
    #[inline]
    pub(crate) unsafe fn with<R>(
        what: &str,
        handle: *const Handle<T>,
        call: impl FnOnce(&mut T) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        // SAFETY: by the caller's word a handle is there, unless it is null.
        let handle = unsafe { handle.as_ref() }.ok_or_else(|| null(what))?;
        let state = handle.state.load(Ordering::Relaxed);
        if state != FREE {
            return Err(unusable(what, state));
        }
        handle.state.store(USED, Ordering::Relaxed);
        let _use = Use(&handle.state);
        // SAFETY: it was free, so no call of this thread has the value, and by the caller's word none
        // of another thread has.
        call(unsafe { &mut *handle.value.get() })
    }

    /// Takes the value back and drops it; null is nothing.
    ///
    /// # Safety
    /// As [`Handle::with`], and nobody uses the pointer afterwards.
    pub(crate) unsafe fn close(what: &str, handle: *mut Handle<T>) -> Result<Status, Failure> {
        // SAFETY: as in `with`.
        let Some(inside) = (unsafe { handle.as_ref() }) else {
            return Ok(Status::Ok);
        };
        if inside.state.load(Ordering::Relaxed) == USED {
            return Err(unusable(what, USED));
        }
        // SAFETY: it was given by `give`, and by the caller's word this is its last use.
        drop(unsafe { Box::from_raw(handle) });
        Ok(Status::Ok)
    }
}

#[cold]
fn unusable(what: &str, state: u8) -> Failure {
    let (status, why) = match state {
        BROKEN => (Status::Bug, "has met a bug in libthalweg before; close it"),
        _ => (
            Status::Busy,
            "is in use by another call: of its own callback, or of a thread",
        ),
    };
    let message = format!("{what} {why}");
    Failure { status, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::cross;

    #[test]
    fn a_handle_is_used_by_one_call_at_a_time_and_closed_after_a_panic() {
        let handle = Handle::give(7);
        let use_it = |call: &dyn Fn(&mut i32)| {
            cross(|| {
                let call = |value: &mut i32| {
                    call(value);
                    Ok(Status::Ok)
                };
                // SAFETY: given above, and not closed.
                unsafe { Handle::with("it", handle, call) }
            })
        };
        assert_eq!(use_it(&|value| *value += 1), Status::Ok as i32);
        let again = &|_: &mut i32| assert_eq!(use_it(&|_| {}), Status::Busy as i32);
        assert_eq!(use_it(again), Status::Ok as i32);
        // SAFETY: as above; it is not closed while it is used.
        let close = || cross(|| unsafe { Handle::close("it", handle) });
        assert_eq!(use_it(&|_| assert_eq!(close(), Status::Busy as i32)), 0);
        assert_eq!(use_it(&|value| panic!("{value}")), Status::Bug as i32);
        assert_eq!(use_it(&|_| {}), Status::Bug as i32);
        assert_eq!(close(), Status::Ok as i32);
    }
}
