//! libthalweg: topics for C programs. `include/thalweg.h` is the contract, and says who owns what.
//!
//! Each function of the header is a function here. It checks its pointers, calls the crate `topic`,
//! and turns the result into a number ([`ffi`]). No panic unwinds into C.
//!
//! # Why the unsafe code is sound
//! The caller in C must keep the header's rules on pointers: a handle was returned by the library
//! and not closed, a text ends with a zero byte, a message has as many bytes as given. Everything
//! else is checked.
#![expect(
    unsafe_code,
    reason = "pointers from C, and names that the linker sees"
)]

mod config;
mod ffi;
mod handle;
mod publisher;
mod status;
mod subscriber;

/// Version of the header. It changes when a program built with an older header would not work.
pub const API_VERSION: u32 = 1;

/// `thalweg_api_version` of the header: the version that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_api_version() -> u32 {
    API_VERSION
}
