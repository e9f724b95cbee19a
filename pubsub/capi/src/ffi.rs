//! The boundary between C and Rust: results become numbers, errors become sentences, panics do not
//! leave, null pointers do not enter.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{ApiError, ApiStatus};

thread_local! {
    /// Sentence of the last error on this thread.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Runs a call and returns its status number. Keeps the sentence of an error, and turns a panic
/// into [`ApiStatus::Bug`].
#[inline]
pub(crate) fn catch_errors(call: impl FnOnce() -> Result<ApiStatus, ApiError>) -> c_int {
    // State that a panic has broken is behind a handle that stays in use.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(status)) => status as c_int,
        Ok(Err(failure)) => store_error(failure),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            store_error(ApiError {
                status: ApiStatus::Bug,
                message: format!("a bug in libthalweg: {}", text.unwrap_or("a panic")),
            })
        }
    }
}

/// Keeps an error's sentence for `thalweg_error`, and returns its number.
#[cold]
fn store_error(failure: ApiError) -> c_int {
    // Names of files may contain any byte; a zero byte would end the text in C.
    let message = failure.message.replace('\0', "?");
    let message = CString::new(message).unwrap_or_default();
    // A thread that is ending cannot keep the sentence.
    let _ = LAST_ERROR.try_with(|kept| *kept.borrow_mut() = message);
    failure.status as c_int
}

/// `thalweg_error` of the header: the sentence of the last error on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_error() -> *const c_char {
    let kept = LAST_ERROR.try_with(|kept| kept.borrow().as_ptr());
    kept.unwrap_or(c"".as_ptr())
}

/// Reads a text that C has passed.
///
/// # Errors
/// The pointer is null, or the text is not UTF-8.
///
/// # Safety
/// The pointer is null, or the text ends with a zero byte and no thread changes it while the result
/// lives.
pub(crate) unsafe fn read_c_str<'a>(what: &str, text: *const c_char) -> Result<&'a str, ApiError> {
    if text.is_null() {
        return Err(null_argument(what));
    }
    // SAFETY: not null; the caller promises that it ends and stays.
    let text = unsafe { CStr::from_ptr(text) };
    let checked = text.to_str();
    checked.map_err(|_| ApiError::argument(format!("{what} is not UTF-8")))
}

/// Checks a pointer to a place for a result.
///
/// # Errors
/// The pointer is null.
///
/// # Safety
/// The pointer is null, or leads to a `T` that may be written.
pub(crate) unsafe fn out_pointer<'a, T>(
    what: &str,
    place: *mut T,
) -> Result<OutPointer<'a, T>, ApiError> {
    if place.is_null() {
        return Err(null_argument(what));
    }
    let place = OutPointer {
        target: place,
        _borrowed: std::marker::PhantomData,
    };
    Ok(place)
}

/// A place that may be written once. It need not hold a value before.
pub(crate) struct OutPointer<'a, T> {
    target: *mut T,
    _borrowed: std::marker::PhantomData<&'a mut T>,
}

impl<T> OutPointer<'_, T> {
    pub(crate) fn set(self, value: T) {
        // SAFETY: made by `out_pointer`: not null, and its caller promises that it may be written.
        unsafe { self.target.write(value) }
    }
}

pub(crate) fn null_argument(what: &str) -> ApiError {
    ApiError::argument(format!("{what} is null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: `thalweg_error` returns a text.
        let text = unsafe { CStr::from_ptr(thalweg_error()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_is_a_number_and_a_sentence() {
        assert_eq!(catch_errors(|| panic!("index {}", 7)), -10);
        assert_eq!(message(), "a bug in libthalweg: index 7");
        assert_eq!(catch_errors(|| panic!("plain")), -10);
        assert_eq!(message(), "a bug in libthalweg: plain");
    }

    #[test]
    fn the_message_is_of_the_last_error_of_this_thread() {
        assert_eq!(message(), "");
        assert_eq!(catch_errors(|| Err(ApiError::argument("wr\0ng"))), -1);
        assert_eq!(catch_errors(|| Ok(ApiStatus::WouldBlock)), 1);
        assert_eq!(message(), "wr?ng");
        std::thread::spawn(|| assert_eq!(message(), ""))
            .join()
            .unwrap();
    }
}
