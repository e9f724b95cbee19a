//! Character encodings: conversion between text and bytes.
//!
//! [`names`] lists the encodings and their names. Unlike on the web, ISO-8859-1, ISO-8859-9 and
//! US-ASCII are not aliases of a Windows code page, and UTF-16 and UTF-32 can be written. A
//! character that the target lacks becomes its substitute character, U+001A. `charset_stream`
//! converts text that comes piece by piece.

mod character_set;
mod charset_stream;
mod code_page;
mod names;
mod utf16_utf32;
mod utf7;

pub use character_set::Charset;
pub use charset_stream::{CharsetDecoder, CharsetEncoder};
use eval::Fault;
pub use names::encodings;

/// Converts text from one encoding to another.
///
/// # Errors
/// If an encoding is not known by its name.
pub fn convert(from: &str, to: &str, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let text = Charset::from_name(from)?.decode(bytes);
    Ok(Charset::from_name(to)?.encode(&String::from_utf8_lossy(&text)))
}
