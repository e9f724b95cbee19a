//! The functions `thalweg_config_*` of the header: settings of a publisher.

use std::ffi::{c_char, c_int};
use std::path::Path;

use topic::PublisherConfig;

use crate::ffi::{catch_errors, out_pointer, read_c_str};
use crate::handle::ApiHandle;
use crate::status::ApiStatus;

/// `thalweg_config_new` of the header: makes a configuration with default settings.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_new(config: *mut *mut ApiHandle<PublisherConfig>) -> c_int {
    catch_errors(|| {
        // SAFETY: by the header a place for a pointer, or null.
        let place = unsafe { out_pointer("config", config) }?;
        place.set(ApiHandle::into_raw(PublisherConfig::default()));
        Ok(ApiStatus::Ok)
    })
}

/// `thalweg_config_read` of the header: applies the settings of a file.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_read(
    config: *mut ApiHandle<PublisherConfig>,
    file: *const c_char,
) -> c_int {
    catch_errors(|| {
        // SAFETY: by the header a text, or null.
        let file = unsafe { read_c_str("file", file) }?;
        let read = |config: &mut PublisherConfig| {
            Ok(config.read(Path::new(file)).map_err(topic::Error::from)?)
        };
        // SAFETY: by the header a handle, or null.
        unsafe { ApiHandle::with_value("config", config, read) }.map(|()| ApiStatus::Ok)
    })
}

/// `thalweg_config_apply` of the header: applies the settings of a text.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_apply(
    config: *mut ApiHandle<PublisherConfig>,
    words: *const c_char,
) -> c_int {
    catch_errors(|| {
        // SAFETY: by the header a text, or null.
        let words = unsafe { read_c_str("text", words) }?;
        let apply = |config: &mut PublisherConfig| {
            Ok(config.apply("text", words).map_err(topic::Error::from)?)
        };
        // SAFETY: by the header a handle, or null.
        unsafe { ApiHandle::with_value("config", config, apply) }.map(|()| ApiStatus::Ok)
    })
}

/// `thalweg_config_free` of the header: frees a configuration.
///
/// # Safety
/// The rules of the header for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_free(config: *mut ApiHandle<PublisherConfig>) -> c_int {
    // SAFETY: by the header a handle that is used no more, or null.
    catch_errors(|| unsafe { ApiHandle::close("config", config) })
}
