//! How much of the thread's stack evaluations may use.

use std::cell::Cell;

use crate::Fault;
use crate::ops::faults;

/// Bound on nested calls of user functions; one more is a fault. Programs that recurse to 10,000
/// make a few calls more.
pub const MAX_CALL_DEPTH: u32 = 12_000;

/// Stack that evaluations use on a thread that has not said more: half of what Rust gives a thread.
pub const STACK_BYTES: usize = 1 << 20;

thread_local! {
    /// The lowest address that an evaluation may reach; 0 before the first one.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// Lets evaluations on this thread use `bytes` bytes of stack below the caller's frame. Leave the
/// callees of library functions a margin.
pub fn reserve_stack(bytes: usize) {
    FLOOR.set(stack_address().saturating_sub(bytes).max(1));
}

/// The lowest address that evaluations on this thread may reach, interpreted or compiled; set now
/// if it was not.
pub fn stack_floor() -> usize {
    if FLOOR.get() == 0 {
        reserve_stack(STACK_BYTES);
    }
    FLOOR.get()
}

/// Checks the stack: a fault if it has grown below the limit.
#[inline]
pub(super) fn check_floor(floor: usize) -> Result<(), Fault> {
    if stack_address() < floor {
        Err(faults::recursion_too_deep())
    } else {
        Ok(())
    }
}

/// About the address of the caller's frame. Stacks grow down on every machine we run on.
#[inline]
fn stack_address() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&mark)).addr()
}
