//! libthalweg: topics for C programs. `include/thalweg.h` is the contract, and says who owns what.
//!
//! Each function of the header is one here. It looks at its pointers, hands over to `topic`, and
//! makes a number of what comes back ([`ffi`]). Nothing unwinds into C.
//!
//! # Why the unsafe code is sound
//! C hands in pointers, and what the header says of them is the caller's to keep: a handle is one
//! that the library gave out and was not closed, a text ends with a zero byte, a message has as
//! many bytes as it is said to have. All else is checked.
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

/// Of the header: changes when a program that was built with an older one would not work.
pub const API_VERSION: u32 = 1;

/// `thalweg_api_version`
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_api_version() -> u32 {
    API_VERSION
}
