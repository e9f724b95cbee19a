//! `spl.time`: instants, civil time, time zones, and their texts.
//!
//! Civil time is computed here for every instant that a timestamp can express; the `jiff` library
//! only gives the offset of a zone from UTC.

mod calendar;
mod clock;
mod field;
mod fixed_format;
mod instant;
mod strftime;
mod strptime;
mod tm;
mod zone;

use eval::NativeFn;
pub(super) use instant::normalized_timestamp;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    instant::FUNCTIONS,
    clock::FUNCTIONS,
    tm::FUNCTIONS,
    field::FUNCTIONS,
    fixed_format::FUNCTIONS,
];
