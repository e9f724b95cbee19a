//! Lines fetched before a reader needs them.
//!
//! A load that waits for a line of another processor holds up those behind it before long; a fetch
//! holds up nothing, so that more lines are on their way at once.

/// Of a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// So far ahead of a reader lines are fetched.
const PREFETCH_DISTANCE_BYTES: usize = 2048;

/// So many bytes of small frames are fetched at a time.
pub const PREFETCH_BYTES: usize = 512;

/// For frames of less an iterator does not look ahead: it brings nothing there.
pub(crate) const PREFETCH_FRAME_BYTES_MIN: usize = 128;

/// Of a frame no more than this is looked ahead of: the processor itself does, once it is in one.
const PREFETCH_FRAME_BYTES_MAX: usize = 1024;

/// Fetches so many bytes some way behind a frame, within what is `left` of the batch from the frame
/// on: lines behind it belong to the writer. A call, so that loops over small frames keep their
/// registers.
#[inline(never)]
pub fn prefetch_ahead(frame: *const u8, bytes: usize, left: usize) {
    let end = left.min(PREFETCH_DISTANCE_BYTES + bytes.min(PREFETCH_FRAME_BYTES_MAX));
    for at in (PREFETCH_DISTANCE_BYTES..end).step_by(CACHE_LINE_BYTES) {
        prefetch_line(frame.wrapping_add(at));
    }
}

#[inline(always)]
fn prefetch_line(line: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, on whatever address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}
