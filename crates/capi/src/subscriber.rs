//! `thalweg_sub_*`

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::time::Duration;

use topic::{Event, Source, Subscriber};

use crate::border::{cross, null, out, text};
use crate::handle::Handle;
use crate::status::Status;

/// `struct thalweg_event`
#[repr(C)]
pub struct CEvent {
    kind: c_int,
    data: *const c_void,
    len: usize,
    topic: *const c_char,
    source: *const c_char,
}

/// `enum thalweg_event_type`
const BOS: c_int = 1;
const DATA: c_int = 2;
const EOS: c_int = 3;

/// `thalweg_callback`
pub type Callback = Option<unsafe extern "C" fn(*const CEvent, *mut c_void)>;

/// `thalweg_sub_open`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_open(
    topic: *const c_char,
    subscriber: *mut *mut Handle<Subscriber>,
) -> c_int {
    cross(|| {
        // SAFETY: by the header a text and a place for a pointer, or null.
        let (topic, place) = unsafe { (text("topic", topic)?, out("sub", subscriber)?) };
        place.set(Handle::give(Subscriber::open(topic)?));
        Ok(Status::Ok)
    })
}

/// `thalweg_sub_poll`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_poll(
    subscriber: *mut Handle<Subscriber>,
    callback: Callback,
    user: *mut c_void,
    events: *mut usize,
) -> c_int {
    cross(|| {
        let callback = callback.ok_or_else(|| null("callback"))?;
        let tell = |event: Event<'_>| {
            // SAFETY: by the header a function for this, and what the user wants to be handed.
            with_event(event, |event| unsafe { callback(event, user) });
        };
        let poll = |subscriber: &mut Subscriber| Ok(subscriber.poll(tell)?);
        // SAFETY: by the header a handle, or null.
        let count = unsafe { Handle::with("sub", subscriber, poll) }?;
        if !events.is_null() {
            // SAFETY: by the header a place for a number.
            unsafe { out("events", events) }?.set(count);
        }
        Ok(Status::Ok)
    })
}

/// `thalweg_sub_wait`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_wait(
    subscriber: *mut Handle<Subscriber>,
    timeout_ms: c_int,
) -> c_int {
    cross(|| {
        let timeout = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
        let wait = |subscriber: &mut Subscriber| Ok(subscriber.wait(timeout)?);
        // SAFETY: by the header a handle, or null.
        unsafe { Handle::with("sub", subscriber, wait) }.map(|()| Status::Ok)
    })
}

/// `thalweg_sub_close`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_close(subscriber: *mut Handle<Subscriber>) -> c_int {
    // SAFETY: by the header a handle that is used no more, or null.
    cross(|| unsafe { Handle::close("sub", subscriber) })
}

/// An event as C sees it, while the call lasts.
#[inline]
fn with_event(event: Event<'_>, tell: impl FnOnce(&CEvent)) {
    match event {
        Event::Message(bytes) => tell(&CEvent {
            kind: DATA,
            data: bytes.as_ptr().cast(),
            len: bytes.len(),
            topic: ptr::null(),
            source: ptr::null(),
        }),
        Event::Began(source) => with_source(BOS, source, tell),
        Event::Ended(source) => with_source(EOS, source, tell),
    }
}

#[cold]
fn with_source(kind: c_int, source: &Source, tell: impl FnOnce(&CEvent)) {
    // Neither has a zero byte: the topic came from C.
    let topic = CString::new(source.topic()).unwrap_or_default();
    let source = CString::new(source.to_string()).unwrap_or_default();
    tell(&CEvent {
        kind,
        data: ptr::null(),
        len: 0,
        topic: topic.as_ptr(),
        source: source.as_ptr(),
    });
}
