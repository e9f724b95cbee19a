//! `thalweg_pub_*`

use std::ffi::{c_char, c_int, c_uint, c_void};

use topic::{Config, Error, Publisher};

use crate::border::{cross, null, out, text};
use crate::handle::Handle;
use crate::status::{Failure, Status};

/// `THALWEG_NONBLOCK`
const NONBLOCK: c_uint = 1;

/// `thalweg_pub_open`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_open(
    topic: *const c_char,
    config: *const Handle<Config>,
    publisher: *mut *mut Handle<Publisher>,
) -> c_int {
    cross(|| {
        // SAFETY: by the header a text and a place for a pointer, or null.
        let (topic, place) = unsafe { (text("topic", topic)?, out("pub", publisher)?) };
        let config = match config.is_null() {
            true => Config::default(),
            // SAFETY: by the header a handle.
            false => unsafe { Handle::with("config", config, |config| Ok(*config)) }?,
        };
        place.set(Handle::give(Publisher::open(topic, &config)?));
        Ok(Status::Ok)
    })
}

/// `thalweg_pub_acquire`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_acquire(
    publisher: *mut Handle<Publisher>,
    len: usize,
    flags: c_uint,
    room: *mut *mut c_void,
) -> c_int {
    cross(|| {
        // SAFETY: by the header a place for a pointer, or null.
        let place = unsafe { out("room", room) }?;
        let waits = waits(flags)?;
        let acquire = |publisher: &mut Publisher| {
            let room = match waits {
                true => Some(publisher.acquire(len)?),
                false => publisher.try_acquire(len)?,
            };
            Ok(room.map(|room| room.as_mut_ptr().cast()))
        };
        // SAFETY: by the header a handle, or null.
        Ok(match unsafe { Handle::with("pub", publisher, acquire) }? {
            Some(room) => {
                place.set(room);
                Status::Ok
            }
            None => Status::WouldBlock,
        })
    })
}

/// `thalweg_pub_complete`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_complete(
    publisher: *mut Handle<Publisher>,
    len: usize,
) -> c_int {
    cross(|| {
        let complete = |publisher: &mut Publisher| Ok(publisher.complete(len)?);
        // SAFETY: by the header a handle, or null.
        unsafe { Handle::with("pub", publisher, complete) }.map(|()| Status::Ok)
    })
}

/// `thalweg_pub_cancel`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_cancel(publisher: *mut Handle<Publisher>) -> c_int {
    cross(|| {
        let cancel = |publisher: &mut Publisher| {
            publisher.cancel();
            Ok(Status::Ok)
        };
        // SAFETY: by the header a handle, or null.
        unsafe { Handle::with("pub", publisher, cancel) }
    })
}

/// `thalweg_pub_send`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_send(
    publisher: *mut Handle<Publisher>,
    message: *const c_void,
    len: usize,
    flags: c_uint,
) -> c_int {
    cross(|| {
        if message.is_null() {
            return Err(null("message"));
        }
        let waits = waits(flags)?;
        let send = |publisher: &mut Publisher| {
            // Before it is taken for bytes: so many there cannot be.
            let most = publisher.message_bytes_max();
            if len > most {
                return Err(Error::TooLong { bytes: len, most }.into());
            }
            // SAFETY: by the header so many bytes, which nobody changes meanwhile.
            let message = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), len) };
            let is_sent = match waits {
                true => publisher.send(message).map(|()| true)?,
                false => publisher.try_send(message)?,
            };
            Ok(if is_sent {
                Status::Ok
            } else {
                Status::WouldBlock
            })
        };
        // SAFETY: by the header a handle, or null.
        unsafe { Handle::with("pub", publisher, send) }
    })
}

/// `thalweg_pub_receivers`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_receivers(
    publisher: *mut Handle<Publisher>,
    count: *mut usize,
) -> c_int {
    // SAFETY: as the header says of this function.
    unsafe { ask(publisher, "count", count, |publisher| publisher.receivers()) }
}

/// `thalweg_pub_message_max`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_message_max(
    publisher: *mut Handle<Publisher>,
    len: *mut usize,
) -> c_int {
    // SAFETY: as the header says of this function.
    unsafe {
        ask(publisher, "len", len, |publisher| {
            publisher.message_bytes_max()
        })
    }
}

/// `thalweg_pub_close`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_pub_close(publisher: *mut Handle<Publisher>) -> c_int {
    // SAFETY: by the header a handle that is used no more, or null.
    cross(|| unsafe { Handle::close("pub", publisher) })
}

/// Stores what a publisher says.
///
/// # Safety
/// A handle, or null; a place for a number, or null.
unsafe fn ask(
    publisher: *mut Handle<Publisher>,
    what: &str,
    place: *mut usize,
    question: impl FnOnce(&Publisher) -> usize,
) -> c_int {
    cross(|| {
        // SAFETY: by the caller's word.
        let place = unsafe { out(what, place) }?;
        // SAFETY: by the caller's word.
        let answer = unsafe { Handle::with("pub", publisher, |it| Ok(question(it))) }?;
        place.set(answer);
        Ok(Status::Ok)
    })
}

/// Whether a call with these flags waits for room.
fn waits(flags: c_uint) -> Result<bool, Failure> {
    match flags {
        0 => Ok(true),
        NONBLOCK => Ok(false),
        _ => Err(Failure::argument(format!(
            "flags are 0 or THALWEG_NONBLOCK (1), not {flags}"
        ))),
    }
}
