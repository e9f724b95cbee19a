//! Whole machine functions: entries that handles call, and user functions.

mod compile;
mod entry;
mod user_function;

pub use entry::{EntryBody, EntryContext};
