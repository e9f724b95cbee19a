//! Stack for deeply nested programs, such as sums of thousands of terms.

use crate::error::Error;

/// Bytes of the deep stack that evaluations of constants leave to all other work.
const MARGIN_BYTES: usize = 64 << 20;

/// Runs `work` on a thread whose stack suffices for every program that the parser accepts.
/// Compiling, printing and wiring unknown programs belong in here.
///
/// # Errors
/// [`Error::System`] if the system cannot start the thread.
pub fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    let reserved = || {
        eval::interp::reserve_stack(syntax::DEEP_STACK_BYTES - MARGIN_BYTES);
        work()
    };
    syntax::with_deep_stack(reserved).map_err(|error| Error::system("start a thread", error))
}
