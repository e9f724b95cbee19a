//! Cache lines fetched before a reader needs them.
//!
//! A load that waits for a line of another processor soon holds up the loads behind it. A prefetch
//! holds up nothing, so that more lines are on their way at once.

/// Bytes of a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// Distance in bytes between the frame that a reader is at and the lines that are fetched for it.
const PREFETCH_DISTANCE_BYTES: usize = 2048;

/// Bytes of small frames that are fetched with one call.
pub const PREFETCH_BYTES: usize = 512;

/// Fewest bytes of a frame for which an iterator fetches ahead: with smaller ones it gains nothing.
pub(crate) const PREFETCH_FRAME_BYTES_MIN: usize = 128;

/// Most bytes of one frame that are fetched ahead: the processor itself fetches the rest once it
/// reads the frame.
const PREFETCH_FRAME_BYTES_MAX: usize = 1024;

/// Fetches `bytes` bytes some way behind a frame, within the `left` bytes of the batch from the
/// frame on: lines behind the batch belong to the writer. Not inlined, so that loops over small
/// frames keep their registers.
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
    // SAFETY: the instruction is a hint, allowed on any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}
