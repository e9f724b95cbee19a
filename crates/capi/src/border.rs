//! Between C and Rust: numbers for results, sentences for errors, no panic out, no null pointer in.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{Failure, Status};

thread_local! {
    /// On the last error of this thread.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// What a call does, and the number that it returns.
#[inline]
pub(crate) fn cross(call: impl FnOnce() -> Result<Status, Failure>) -> c_int {
    // What a panic has broken is behind a handle that stays in use.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(status)) => status as c_int,
        Ok(Err(failure)) => fail(failure),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            fail(Failure {
                status: Status::Bug,
                message: format!("a bug in libthalweg: {}", text.unwrap_or("a panic")),
            })
        }
    }
}

/// Keeps the sentence.
#[cold]
fn fail(failure: Failure) -> c_int {
    // Names of files may have anything in them but what ends a text of C.
    let message = failure.message.replace('\0', "?");
    let message = CString::new(message).unwrap_or_default();
    // A thread that is ending has nowhere to keep it.
    let _ = MESSAGE.try_with(|kept| *kept.borrow_mut() = message);
    failure.status as c_int
}

/// `thalweg_error`
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_error() -> *const c_char {
    let kept = MESSAGE.try_with(|kept| kept.borrow().as_ptr());
    kept.unwrap_or(c"".as_ptr())
}

/// A text of C.
///
/// # Safety
/// It is null or ends with a zero byte, and nobody changes it while the result lives.
pub(crate) unsafe fn text<'a>(what: &str, text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(what));
    }
    // SAFETY: not null; by the caller's word it ends and stays.
    let text = unsafe { CStr::from_ptr(text) };
    let checked = text.to_str();
    checked.map_err(|_| Failure::argument(format!("{what} is not UTF-8")))
}

/// A place for a result.
///
/// # Safety
/// It is null or leads to a `T` that may be written.
pub(crate) unsafe fn out<'a, T>(what: &str, place: *mut T) -> Result<Out<'a, T>, Failure> {
    if place.is_null() {
        return Err(null(what));
    }
    let place = Out {
        place,
        _borrowed: std::marker::PhantomData,
    };
    Ok(place)
}

/// A place that may be written, once. What is there before need not be a value.
pub(crate) struct Out<'a, T> {
    place: *mut T,
    _borrowed: std::marker::PhantomData<&'a mut T>,
}

impl<T> Out<'_, T> {
    pub(crate) fn set(self, value: T) {
        // SAFETY: made by `out`: not null, and by its caller's word it may be written.
        unsafe { self.place.write(value) }
    }
}

pub(crate) fn null(what: &str) -> Failure {
    Failure::argument(format!("{what} is null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: `thalweg_error` says a text.
        let text = unsafe { CStr::from_ptr(thalweg_error()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_is_a_number_and_a_sentence() {
        assert_eq!(cross(|| panic!("index {}", 7)), -10);
        assert_eq!(message(), "a bug in libthalweg: index 7");
        assert_eq!(cross(|| panic!("plain")), -10);
        assert_eq!(message(), "a bug in libthalweg: plain");
    }

    #[test]
    fn the_message_is_of_the_last_error_of_this_thread() {
        assert_eq!(message(), "");
        assert_eq!(cross(|| Err(Failure::argument("wr\0ng"))), -1);
        assert_eq!(cross(|| Ok(Status::WouldBlock)), 1);
        assert_eq!(message(), "wr?ng");
        std::thread::spawn(|| assert_eq!(message(), ""))
            .join()
            .unwrap();
    }
}
