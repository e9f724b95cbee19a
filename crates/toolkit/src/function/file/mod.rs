//! `spl.file`: files as C's standard library has them, by number.
//!
//! Errors come back in the last argument: 0, an error number of the operating system, or -1 at the
//! end of the file. Names that are not absolute are relative to the data directory.

mod error;
mod name;
mod open_file;
mod position;
mod reading;
mod status;
mod writing;

use eval::NativeFn;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    name::FUNCTIONS,
    position::FUNCTIONS,
    status::FUNCTIONS,
    writing::FUNCTIONS,
    reading::FUNCTIONS,
    error::FUNCTIONS,
];
