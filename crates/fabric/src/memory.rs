//! Memory that a provider reads and writes: pages of its own, which stay where they are.
//!
//! Such memory is written by peers, by way of a network card or a provider's code, while threads of
//! this process hold references into other parts of it. Which part belongs to whom at a time is the
//! business of the protocol above: a part that a peer may write now is read by words only
//! ([`PinnedMemory::word`]), and by [`PinnedMemory::bytes`] once the peer has handed it over.

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags};

/// Bytes of a huge page on x86-64 and most 64-bit ARM systems: 2 MiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Pages of one memory, with all bytes 0 at first. Has no second handle, so that a reference for
/// writing is the only one in this process.
pub struct PinnedMemory {
    mapping: Arc<Mapping>,
}

/// Pages that are unmapped when the last of memory and registrations is dropped.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is an address range of the process, not of a thread.
unsafe impl Send for Mapping {}
// SAFETY: shared references of a mapping give out addresses only.
unsafe impl Sync for Mapping {}

impl PinnedMemory {
    /// Makes a memory of at least `bytes` bytes, raised to whole pages. A memory of 2 MiB and more
    /// asks for huge pages, which the system may refuse without harm.
    ///
    /// # Errors
    /// The system has no memory left.
    pub fn new(bytes: usize) -> io::Result<PinnedMemory> {
        let is_huge = bytes >= HUGE_PAGE_BYTES;
        let page = if is_huge {
            HUGE_PAGE_BYTES
        } else {
            rustix::param::page_size()
        };
        let bytes = bytes.max(1).next_multiple_of(page);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new private mapping, at an address that the system chooses.
        let start = unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), bytes, protection, MapFlags::PRIVATE)?
        };
        let Some(start) = NonNull::new(start.cast::<u8>()) else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        if is_huge {
            // SAFETY: the advice is about the pages that were just mapped.
            let advised =
                unsafe { rustix::mm::madvise(start.as_ptr().cast(), bytes, Advice::LinuxHugepage) };
            // A kernel without huge pages has small ones.
            let _ = advised;
        }
        let mapping = Arc::new(Mapping { start, bytes });
        Ok(PinnedMemory { mapping })
    }

    /// Bytes of the memory.
    pub fn len(&self) -> usize {
        self.mapping.bytes
    }

    /// Whether the memory has no bytes, which is never so.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Loads the word at `offset`, a multiple of 8; what the peer wrote before it is seen by later
    /// loads, where the provider keeps the order of writes.
    ///
    /// # Panics
    /// The word is not aligned or not within the memory.
    #[inline]
    pub fn word(&self, offset: usize) -> u64 {
        assert!(offset.is_multiple_of(8) && offset < self.len());
        // SAFETY: the word is aligned and in the mapping, which lives as long as `self`.
        let word = unsafe { AtomicU64::from_ptr(self.mapping.start.add(offset).cast().as_ptr()) };
        word.load(Ordering::Acquire)
    }

    /// Bytes that the peer does not write now: see the [module](self).
    ///
    /// # Panics
    /// The range is not within the memory.
    #[inline]
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.len());
        // SAFETY: in the mapping; no reference for writing exists while `self` is borrowed, and by
        // the protocol the peer does not write these bytes now.
        unsafe {
            let start = self.mapping.start.add(range.start);
            std::slice::from_raw_parts(start.as_ptr(), range.len())
        }
    }

    /// Bytes to write, that neither the peer nor a posted operation uses now.
    ///
    /// # Panics
    /// The range is not within the memory.
    #[inline]
    pub fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.len());
        // SAFETY: in the mapping; `self` is the only handle and is borrowed for writing.
        unsafe {
            let start = self.mapping.start.add(range.start);
            std::slice::from_raw_parts_mut(start.as_ptr(), range.len())
        }
    }

    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }
}

impl Mapping {
    pub(crate) fn address(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is what was mapped, and no handle and no registration is left.
        let unmapped = unsafe { rustix::mm::munmap(self.address(), self.bytes) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_and_keeps_what_is_written() {
        for bytes in [1, 4096, 5000, 3 << 20] {
            let mut memory = PinnedMemory::new(bytes).unwrap();
            assert!(memory.len() >= bytes && !memory.is_empty());
            let all = 0..memory.len();
            assert!(memory.bytes(all).iter().all(|byte| *byte == 0));
            memory.bytes_mut(8..16).copy_from_slice(&7u64.to_ne_bytes());
            assert_eq!([memory.word(0), memory.word(8)], [0, 7]);
        }
    }

    #[test]
    #[should_panic = "offset.is_multiple_of(8)"]
    fn a_word_is_within_the_memory() {
        let memory = PinnedMemory::new(4096).unwrap();
        memory.word(memory.len());
    }
}
