//! Handles: values that C holds by a pointer, used by one call at a time.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::ffi::null_argument;
use crate::status::{ApiError, ApiStatus};

/// State of a handle: no call uses the value.
const FREE: u8 = 0;
/// State of a handle: a call uses the value. A callback that calls again finds this state; a second
/// thread, which the header forbids, mostly does.
const IN_USE: u8 = 1;
/// State of a handle: a call has panicked while it used the value.
const POISONED: u8 = 2;

/// A value that C holds by a pointer, with its state.
pub(crate) struct ApiHandle<T> {
    state: AtomicU8,
    value: UnsafeCell<T>,
}

/// A use of a handle, which ends when it is dropped.
struct HandleUse<'a>(&'a AtomicU8);

impl Drop for HandleUse<'_> {
    #[inline]
    fn drop(&mut self) {
        let state = if std::thread::panicking() {
            POISONED
        } else {
            FREE
        };
        self.0.store(state, Ordering::Relaxed);
    }
}

impl<T> ApiHandle<T> {
    /// Moves a value to the heap, and returns the pointer for C.
    pub(crate) fn into_raw(value: T) -> *mut ApiHandle<T> {
        Box::into_raw(Box::new(ApiHandle {
            state: AtomicU8::new(FREE),
            value: UnsafeCell::new(value),
        }))
    }

    /// Calls a function with the value.
    ///
    /// # Errors
    /// The pointer is null, another call uses the value, or a call has panicked with it.
    ///
    /// # Safety
    /// The pointer is null, or was returned by [`ApiHandle::into_raw`] and not closed; no other
    /// thread uses it now.
    #[inline]
    pub(crate) unsafe fn with_value<R>(
        what: &str,
        handle: *const ApiHandle<T>,
        call: impl FnOnce(&mut T) -> Result<R, ApiError>,
    ) -> Result<R, ApiError> {
        // SAFETY: the caller promises that a handle is there, unless the pointer is null.
        let handle = unsafe { handle.as_ref() }.ok_or_else(|| null_argument(what))?;
        let state = handle.state.load(Ordering::Relaxed);
        if state != FREE {
            return Err(unusable(what, state));
        }
        handle.state.store(IN_USE, Ordering::Relaxed);
        let _use = HandleUse(&handle.state);
        // SAFETY: the state was free, so no call of this thread has the value, and the caller
        // promises that no other thread has.
        call(unsafe { &mut *handle.value.get() })
    }

    /// Drops the value; null is ignored.
    ///
    /// # Safety
    /// Like [`ApiHandle::with_value`], and the pointer is not used afterwards.
    pub(crate) unsafe fn close(
        what: &str,
        handle: *mut ApiHandle<T>,
    ) -> Result<ApiStatus, ApiError> {
        // SAFETY: as in `with_value`.
        let Some(inside) = (unsafe { handle.as_ref() }) else {
            return Ok(ApiStatus::Ok);
        };
        if inside.state.load(Ordering::Relaxed) == IN_USE {
            return Err(unusable(what, IN_USE));
        }
        // SAFETY: `into_raw` returned it, and the caller promises that this is its last use.
        drop(unsafe { Box::from_raw(handle) });
        Ok(ApiStatus::Ok)
    }
}

#[cold]
fn unusable(what: &str, state: u8) -> ApiError {
    let (status, why) = match state {
        POISONED => (
            ApiStatus::Bug,
            "has met a bug in libthalweg before; close it",
        ),
        _ => (
            ApiStatus::Busy,
            "is in use by another call: of its own callback, or of a thread",
        ),
    };
    let message = format!("{what} {why}");
    ApiError { status, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::catch_errors;

    #[test]
    fn a_handle_is_used_by_one_call_at_a_time_and_closed_after_a_panic() {
        let handle = ApiHandle::into_raw(7);
        let use_it = |call: &dyn Fn(&mut i32)| {
            catch_errors(|| {
                let call = |value: &mut i32| {
                    call(value);
                    Ok(ApiStatus::Ok)
                };
                // SAFETY: made above, and not closed.
                unsafe { ApiHandle::with_value("it", handle, call) }
            })
        };
        assert_eq!(use_it(&|value| *value += 1), ApiStatus::Ok as i32);
        let again = &|_: &mut i32| assert_eq!(use_it(&|_| {}), ApiStatus::Busy as i32);
        assert_eq!(use_it(again), ApiStatus::Ok as i32);
        // SAFETY: made above; it is not closed while it is used.
        let close = || catch_errors(|| unsafe { ApiHandle::close("it", handle) });
        assert_eq!(use_it(&|_| assert_eq!(close(), ApiStatus::Busy as i32)), 0);
        assert_eq!(use_it(&|value| panic!("{value}")), ApiStatus::Bug as i32);
        assert_eq!(use_it(&|_| {}), ApiStatus::Bug as i32);
        assert_eq!(close(), ApiStatus::Ok as i32);
    }
}
