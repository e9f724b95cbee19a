//! Stack for recursive functions over trees.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Bytes of stack that suffice for every walk of a tree that the parser makes of any text, and of
/// all that is derived from it. Trees are high where a sum has thousands of terms, and a thread's
/// own stack may be small. The system provides memory only for the part that is used.
pub const DEEP_STACK_BYTES: usize = 256 << 20;

/// Does work on a stack of [`DEEP_STACK_BYTES`].
///
/// # Errors
/// The system gives no thread with such a stack.
///
/// # Panics
/// If the work does.
pub fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    scope(|scope| {
        let thread = Builder::new().stack_size(DEEP_STACK_BYTES);
        let done = thread.spawn_scoped(scope, work)?.join();
        Ok(done.unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
