//! `spl.utility`: printing, messages, conversion of numbers, the process and its surroundings.

mod compile_time;
mod connection;
mod convert;
mod format;
mod message;
mod metric;
mod output;
mod predicate;
mod process;
mod region;
mod value;

use eval::NativeFn;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    output::FUNCTIONS,
    message::FUNCTIONS,
    value::FUNCTIONS,
    format::FUNCTIONS,
    convert::FUNCTIONS,
    process::FUNCTIONS,
    metric::FUNCTIONS,
    region::FUNCTIONS,
    connection::FUNCTIONS,
    predicate::FUNCTIONS,
    compile_time::FUNCTIONS,
];
