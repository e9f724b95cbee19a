//! Stack for whatever walks a tree.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// So much stack is enough for every walk of the tree that the parser makes of any text, and of what
/// comes of it. Trees are high where a sum has thousands of terms, and a thread's own stack may be small.
/// The system gives memory only to what is used.
pub const STACK_BYTES: usize = 256 << 20;

/// Does work on a stack of [`STACK_BYTES`].
///
/// # Errors
/// There is no thread to be had for it.
///
/// # Panics
/// If the work does.
pub fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    scope(|scope| {
        let thread = Builder::new().stack_size(STACK_BYTES);
        let done = thread.spawn_scoped(scope, work)?.join();
        Ok(done.unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
