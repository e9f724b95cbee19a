//! The functions `thalweg_sub_*` of the header: the subscribing end of a topic.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::time::Duration;

use topic::{Subscriber, TopicEvent, TopicSource};

use crate::ffi::{catch_errors, null_argument, out_pointer, read_c_str};
use crate::handle::ApiHandle;
use crate::status::ApiStatus;

/// `struct thalweg_event` of the header: an event during a callback.
#[repr(C)]
pub struct CEvent {
    kind: c_int,
    data: *const c_void,
    len: usize,
    topic: *const c_char,
    source: *const c_char,
}

/// Value `THALWEG_BOS` of `enum thalweg_event_type`: a publisher is there.
const BOS: c_int = 1;
/// Value `THALWEG_DATA` of `enum thalweg_event_type`: a message.
const DATA: c_int = 2;
/// Value `THALWEG_EOS` of `enum thalweg_event_type`: the publisher has ended.
const EOS: c_int = 3;

/// Function type `thalweg_callback` of the header: called for each event.
pub type EventCallback = Option<unsafe extern "C" fn(*const CEvent, *mut c_void)>;

/// `thalweg_sub_open` of the header: subscribes to a topic.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_open(
    topic: *const c_char,
    subscriber: *mut *mut ApiHandle<Subscriber>,
) -> c_int {
    catch_errors(|| {
        // SAFETY: by the header a text and a place for a pointer, or null.
        let (topic, place) =
            unsafe { (read_c_str("topic", topic)?, out_pointer("sub", subscriber)?) };
        place.set(ApiHandle::into_raw(Subscriber::open(topic)?));
        Ok(ApiStatus::Ok)
    })
}

/// `thalweg_sub_poll` of the header: calls back for each event that has happened.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_poll(
    subscriber: *mut ApiHandle<Subscriber>,
    callback: EventCallback,
    user: *mut c_void,
    events: *mut usize,
) -> c_int {
    catch_errors(|| {
        let callback = callback.ok_or_else(|| null_argument("callback"))?;
        let tell = |event: TopicEvent<'_>| {
            // SAFETY: by the header a function of this type, and the pointer that its user wants to
            // get.
            with_event(event, |event| unsafe { callback(event, user) });
        };
        let poll = |subscriber: &mut Subscriber| Ok(subscriber.poll(tell)?);
        // SAFETY: by the header a handle, or null.
        let count = unsafe { ApiHandle::with_value("sub", subscriber, poll) }?;
        if !events.is_null() {
            // SAFETY: by the header a place for a number.
            unsafe { out_pointer("events", events) }?.set(count);
        }
        Ok(ApiStatus::Ok)
    })
}

/// `thalweg_sub_wait` of the header: sleeps until there may be an event.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_wait(
    subscriber: *mut ApiHandle<Subscriber>,
    timeout_ms: c_int,
) -> c_int {
    catch_errors(|| {
        let timeout = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
        let wait = |subscriber: &mut Subscriber| Ok(subscriber.wait(timeout)?);
        // SAFETY: by the header a handle, or null.
        unsafe { ApiHandle::with_value("sub", subscriber, wait) }.map(|()| ApiStatus::Ok)
    })
}

/// `thalweg_sub_close` of the header: closes a subscriber.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_sub_close(subscriber: *mut ApiHandle<Subscriber>) -> c_int {
    // SAFETY: by the header a handle that is used no more, or null.
    catch_errors(|| unsafe { ApiHandle::close("sub", subscriber) })
}

/// Calls `tell` with an event as C sees it, valid for the length of the call.
#[inline]
fn with_event(event: TopicEvent<'_>, tell: impl FnOnce(&CEvent)) {
    match event {
        TopicEvent::Message(bytes) => tell(&CEvent {
            kind: DATA,
            data: bytes.as_ptr().cast(),
            len: bytes.len(),
            topic: ptr::null(),
            source: ptr::null(),
        }),
        TopicEvent::Began(source) => with_source(BOS, source, tell),
        TopicEvent::Ended(source) => with_source(EOS, source, tell),
    }
}

#[cold]
fn with_source(kind: c_int, source: &TopicSource, tell: impl FnOnce(&CEvent)) {
    // Neither text has a zero byte: the topic came from C.
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
