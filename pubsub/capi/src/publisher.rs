//! The functions `thalweg_pub_*` of the header: the publishing end of a topic.

use std::ffi::{c_char, c_int, c_uint, c_void};

use topic::{Error, Publisher, PublisherConfig};

use crate::ffi::{catch_errors, null_argument, out_pointer, read_c_str};
use crate::handle::ApiHandle;
use crate::status::{ApiError, ApiStatus};

/// Flag `THALWEG_NONBLOCK` of the header: return instead of waiting for room.
const NONBLOCK: c_uint = 1;

/// `thalweg_pub_open` of the header: opens the publisher of a topic.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_open(
    topic: *const c_char,
    config: *const ApiHandle<PublisherConfig>,
    publisher: *mut *mut ApiHandle<Publisher>,
) -> c_int {
    catch_errors(|| {
        // SAFETY: by the header a text and a place for a pointer, or null.
        let (topic, place) =
            unsafe { (read_c_str("topic", topic)?, out_pointer("pub", publisher)?) };
        let config = match config.is_null() {
            true => PublisherConfig::default(),
            // SAFETY: by the header a handle.
            false => unsafe { ApiHandle::with_value("config", config, |config| Ok(*config)) }?,
        };
        place.set(ApiHandle::into_raw(Publisher::open(topic, &config)?));
        Ok(ApiStatus::Ok)
    })
}

/// `thalweg_pub_acquire` of the header: acquires room for a message.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_acquire(
    publisher: *mut ApiHandle<Publisher>,
    len: usize,
    flags: c_uint,
    room: *mut *mut c_void,
) -> c_int {
    catch_errors(|| {
        // SAFETY: by the header a place for a pointer, or null.
        let place = unsafe { out_pointer("room", room) }?;
        let waits = is_blocking(flags)?;
        let acquire = |publisher: &mut Publisher| {
            let room = match waits {
                true => Some(publisher.acquire(len)?),
                false => publisher.try_acquire(len)?,
            };
            Ok(room.map(|room| room.as_mut_ptr().cast()))
        };
        // SAFETY: by the header a handle, or null.
        Ok(
            match unsafe { ApiHandle::with_value("pub", publisher, acquire) }? {
                Some(room) => {
                    place.set(room);
                    ApiStatus::Ok
                }
                None => ApiStatus::WouldBlock,
            },
        )
    })
}

/// `thalweg_pub_complete` of the header: completes the acquired message.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_complete(
    publisher: *mut ApiHandle<Publisher>,
    len: usize,
) -> c_int {
    catch_errors(|| {
        let complete = |publisher: &mut Publisher| Ok(publisher.complete(len)?);
        // SAFETY: by the header a handle, or null.
        unsafe { ApiHandle::with_value("pub", publisher, complete) }.map(|()| ApiStatus::Ok)
    })
}

/// `thalweg_pub_cancel` of the header: gives up the acquired room.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_cancel(publisher: *mut ApiHandle<Publisher>) -> c_int {
    catch_errors(|| {
        let cancel = |publisher: &mut Publisher| {
            publisher.cancel();
            Ok(ApiStatus::Ok)
        };
        // SAFETY: by the header a handle, or null.
        unsafe { ApiHandle::with_value("pub", publisher, cancel) }
    })
}

/// `thalweg_pub_send` of the header: sends a copy of a message.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_send(
    publisher: *mut ApiHandle<Publisher>,
    message: *const c_void,
    len: usize,
    flags: c_uint,
) -> c_int {
    catch_errors(|| {
        if message.is_null() {
            return Err(null_argument("message"));
        }
        let waits = is_blocking(flags)?;
        let send = |publisher: &mut Publisher| {
            // Checked before the slice is made: no message can have more bytes.
            let most = publisher.message_bytes_max();
            if len > most {
                return Err(Error::MessageTooLong {
                    bytes: len,
                    bytes_max: most,
                }
                .into());
            }
            // SAFETY: by the header `len` bytes, which no thread changes meanwhile.
            let message = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), len) };
            let is_sent = match waits {
                true => publisher.send(message).map(|()| true)?,
                false => publisher.try_send(message)?,
            };
            Ok(if is_sent {
                ApiStatus::Ok
            } else {
                ApiStatus::WouldBlock
            })
        };
        // SAFETY: by the header a handle, or null.
        unsafe { ApiHandle::with_value("pub", publisher, send) }
    })
}

/// `thalweg_pub_receivers` of the header: the number of connected subscribers.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_receivers(
    publisher: *mut ApiHandle<Publisher>,
    count: *mut usize,
) -> c_int {
    // SAFETY: as the header says of this function.
    unsafe {
        query(publisher, "count", count, |publisher| {
            publisher.receiver_count()
        })
    }
}

/// `thalweg_pub_message_max` of the header: the most bytes of a message.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_message_max(
    publisher: *mut ApiHandle<Publisher>,
    len: *mut usize,
) -> c_int {
    // SAFETY: as the header says of this function.
    unsafe {
        query(publisher, "len", len, |publisher| {
            publisher.message_bytes_max()
        })
    }
}

/// `thalweg_pub_close` of the header: closes a publisher.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_close(publisher: *mut ApiHandle<Publisher>) -> c_int {
    // SAFETY: by the header a handle that is used no more, or null.
    catch_errors(|| unsafe { ApiHandle::close("pub", publisher) })
}

/// Stores a number that `question` reads from a publisher.
///
/// # Safety
/// `publisher` is a handle or null; `place` may be written or is null.
unsafe fn query(
    publisher: *mut ApiHandle<Publisher>,
    what: &str,
    place: *mut usize,
    question: impl FnOnce(&Publisher) -> usize,
) -> c_int {
    catch_errors(|| {
        // SAFETY: the caller promises it.
        let place = unsafe { out_pointer(what, place) }?;
        // SAFETY: the caller promises it.
        let answer = unsafe { ApiHandle::with_value("pub", publisher, |it| Ok(question(it))) }?;
        place.set(answer);
        Ok(ApiStatus::Ok)
    })
}

/// Whether a call with these flags waits for room.
fn is_blocking(flags: c_uint) -> Result<bool, ApiError> {
    match flags {
        0 => Ok(true),
        NONBLOCK => Ok(false),
        _ => Err(ApiError::argument(format!(
            "flags are 0 or THALWEG_NONBLOCK (1), not {flags}"
        ))),
    }
}
