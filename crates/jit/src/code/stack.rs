//! How far down compiled code may use a thread's stack.

use std::cell::Cell;

/// Stack that compiled code uses on a thread: as the interpreter.
use graph::interp::STACK_BYTES;

thread_local! {
    /// The lowest address that a call may begin at; 0 before the first one.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// The floor of this thread, set when it is first asked for.
pub fn floor() -> usize {
    if FLOOR.get() == 0 {
        let mark = 0u8;
        let here = std::ptr::from_ref(std::hint::black_box(&mark)).addr();
        FLOOR.set(here.saturating_sub(STACK_BYTES).max(1));
    }
    FLOOR.get()
}
