//! `thalweg_config_*`

use std::ffi::{c_char, c_int};
use std::path::Path;

use topic::Config;

use crate::border::{cross, out, text};
use crate::handle::Handle;
use crate::status::Status;

/// `thalweg_config_new`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_new(config: *mut *mut Handle<Config>) -> c_int {
    cross(|| {
        // SAFETY: by the header a place for a pointer, or null.
        let place = unsafe { out("config", config) }?;
        place.set(Handle::give(Config::default()));
        Ok(Status::Ok)
    })
}

/// `thalweg_config_read`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_read(
    config: *mut Handle<Config>,
    file: *const c_char,
) -> c_int {
    cross(|| {
        // SAFETY: by the header a text, or null.
        let file = unsafe { text("file", file) }?;
        let read =
            |config: &mut Config| Ok(config.read(Path::new(file)).map_err(topic::Error::from)?);
        // SAFETY: by the header a handle, or null.
        unsafe { Handle::with("config", config, read) }.map(|()| Status::Ok)
    })
}

/// `thalweg_config_apply`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_apply(
    config: *mut Handle<Config>,
    words: *const c_char,
) -> c_int {
    cross(|| {
        // SAFETY: by the header a text, or null.
        let words = unsafe { text("text", words) }?;
        let apply =
            |config: &mut Config| Ok(config.apply("text", words).map_err(topic::Error::from)?);
        // SAFETY: by the header a handle, or null.
        unsafe { Handle::with("config", config, apply) }.map(|()| Status::Ok)
    })
}

/// `thalweg_config_free`
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_config_free(config: *mut Handle<Config>) -> c_int {
    // SAFETY: by the header a handle that is used no more, or null.
    cross(|| unsafe { Handle::close("config", config) })
}
