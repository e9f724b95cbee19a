//! Stack for programs with sums of thousands of terms.

use crate::error::Error;

/// What evaluations of constants leave of the stack to everything else.
const MARGIN_BYTES: usize = 64 << 20;

/// Does work on a stack that is enough for every program that the parser lets through: whoever
/// compiles programs, prints or wires them, and does not know them, does so in here.
///
/// # Errors
/// There is no thread to be had for it.
pub fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    let reserved = || {
        eval::interp::reserve_stack(syntax::DEEP_STACK_BYTES - MARGIN_BYTES);
        work()
    };
    syntax::with_deep_stack(reserved).map_err(|error| Error::system("start a thread", error))
}
