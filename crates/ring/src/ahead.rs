//! Lines fetched before a reader needs them.

/// Of a cache line.
const LINE_BYTES: usize = 64;

/// So far ahead of a reader lines are fetched.
const AHEAD_BYTES: usize = 2048;

/// Of a frame no more than this is looked ahead of: the processor itself does, once it is in one.
const AHEAD_FRAME_BYTES: usize = 1024;

/// Fetches what lies some way behind a frame, as much as the frame has, within what is `left` of the
/// batch from the frame on: lines behind it belong to the writer. A load that waits for a line of
/// another processor holds up those behind it before long; a fetch holds up nothing, so that more
/// lines are on their way at once.
#[inline(always)]
pub fn fetch_ahead(frame: *const u8, bytes: usize, left: usize) {
    let end = left.min(AHEAD_BYTES + bytes.min(AHEAD_FRAME_BYTES));
    for at in (AHEAD_BYTES..end).step_by(LINE_BYTES) {
        fetch(frame.wrapping_add(at));
    }
}

#[inline(always)]
fn fetch(line: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, on whatever address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}
