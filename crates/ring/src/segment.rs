//! A ring's memory as both sides see it: the head with its indexes, the readers' cursors, the
//! frames.
//!
//! ```text
//!      0   label      what this is: never written again once a reader may join
//!    128   committed  writer's index: stored with every frame
//!    256   published  writer's index: stored with every batch
//!    384   marks      where a reader may end a run
//!    512   parking    of the writer: what it waits for; whether it is gone
//!    640   sleepers   of the readers: who sleeps, who is gone
//!    768   cursor 0, cursor 1, ...   128 bytes each: how far a reader has released
//!   data   frames     capacity bytes, from a multiple of a page on
//! ```
//! Each line of 128 bytes (processors fetch cache lines in pairs) has one side that writes it while
//! frames flow. An index is a count of bytes since the beginning and never wraps: it lies in the
//! frames at `index & (capacity - 1)`, always a multiple of 8.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::frame::ALIGN;
use crate::mapped_memory::MappedMemory;
use crate::memory_barrier::MemoryBarrier;
use crate::sync::{AtomicU32, AtomicU64, ShadowMemory};

/// First bytes of a segment.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"THALRING");

/// Of this layout and of the rules between the sides.
pub(crate) const VERSION: u32 = 1;

/// Readers of a ring at most: sleepers are bits of a word.
pub const READERS_MAX: u32 = 64;

/// The smallest ring; that of loom, small enough to try everything.
pub const CAPACITY_MIN: usize = 32;

/// The largest: lengths of frames are `u32`s.
pub const CAPACITY_MAX: usize = 1 << 31;

/// A run that a reader polls ends at the first frame past one of so many parts of the ring.
pub(crate) const PART_COUNT: u64 = 8;

const PAGE_BYTES: usize = 4096;

/// Lines that are fetched before a page is begun: with 4 to 8 the writer of a stream of small
/// frames takes a seventh less time, with 16 it takes more.
const PREFETCH_PAGE_LINES: u64 = 8;

/// Lines that a reader without work fetches: a frame of 248 bytes is there a sixth sooner, one of
/// up to 56 a tenth, where cores are far from each other.
const PREFETCH_FRAME_LINES: u64 = 4;

/// Bytes of a label that say something.
#[cfg(not(any(loom, miri)))]
pub(crate) const SEGMENT_HEADER_BYTES: usize = 36;

/// A pair of cache lines.
#[repr(C, align(128))]
pub(crate) struct CachePadded<T>(pub(crate) T);

/// What a segment is. Checked and copied when a reader joins, never looked at again.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SegmentHeader {
    pub(crate) magic: u64,
    pub(crate) version: u32,
    pub(crate) readers: u32,
    pub(crate) capacity: u64,
    /// Where the frames begin.
    pub(crate) data_offset: u64,
    /// A [`MemoryBarrier`].
    pub(crate) barrier: u32,
}

/// What the writer says while it waits, and when it goes.
#[repr(C)]
pub(crate) struct WriterStatus {
    /// Not 0: the writer sleeps until the slowest reader has released up to here.
    /// Written by the writer, cleared by the reader that wakes it, read by readers.
    pub(crate) wakeup_index: AtomicU64,
    /// 1: the writer has dropped its end. Written by the writer after its last commit.
    pub(crate) is_closed: AtomicU32,
}

/// What readers say when they go to sleep, and when they go; a bit for each.
#[repr(C)]
pub(crate) struct ReaderStatus {
    /// Who sleeps. Set by the reader, cleared by it or by the writer that wakes it.
    pub(crate) asleep: AtomicU64,
    /// Who has dropped its end. Written by readers.
    pub(crate) gone: AtomicU64,
}

/// The fixed part.
#[repr(C)]
pub(crate) struct RingControl {
    pub(crate) header: CachePadded<SegmentHeader>,
    /// Up to where there are frames. Written by the writer with every frame, read by readers that
    /// have run out. Release pairs with acquire: `[frames]`.
    pub(crate) committed: CachePadded<AtomicU64>,
    /// The same, some frames behind. Written by the writer with every batch, read by readers that
    /// have run out in a stream. Release pairs with acquire: `[frames]`.
    pub(crate) published: CachePadded<AtomicU64>,
    /// For each part of the ring the index of the first frame that begins in it or, if none does,
    /// after it. Written by the writer before the frame's end is in `committed`, which orders it.
    pub(crate) part_marks: CachePadded<[AtomicU64; PART_COUNT as usize]>,
    pub(crate) writer_status: CachePadded<WriterStatus>,
    pub(crate) reader_status: CachePadded<ReaderStatus>,
}

/// A reader's line.
#[repr(C)]
pub(crate) struct ReaderCursor {
    /// Up to where it has released. Written by the reader, read by the writer when it runs out of
    /// room. Release pairs with acquire: `[writable_bytes]`.
    pub(crate) released: AtomicU64,
    /// 1: a reader has joined.
    pub(crate) is_taken: AtomicU32,
}

/// The head as it lies in a file of another process.
#[cfg(not(loom))]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(SegmentHeader, version) == 8);
    assert!(offset_of!(SegmentHeader, readers) == 12);
    assert!(offset_of!(SegmentHeader, capacity) == 16);
    assert!(offset_of!(SegmentHeader, data_offset) == 24);
    assert!(offset_of!(SegmentHeader, barrier) == 32);
    assert!(offset_of!(RingControl, committed) == 128);
    assert!(offset_of!(RingControl, published) == 256);
    assert!(offset_of!(RingControl, part_marks) == 384);
    assert!(offset_of!(RingControl, writer_status) == 512);
    assert!(offset_of!(WriterStatus, is_closed) == 8);
    assert!(offset_of!(RingControl, reader_status) == 640);
    assert!(offset_of!(ReaderStatus, gone) == 8);
    assert!(size_of::<RingControl>() == 768);
    assert!(size_of::<CachePadded<ReaderCursor>>() == 128);
    assert!(offset_of!(ReaderCursor, is_taken) == 8);
};

/// Where the frames of a ring with so many readers begin.
pub(crate) const fn data_offset(readers: u32) -> usize {
    let cursors = readers as usize * size_of::<CachePadded<ReaderCursor>>();
    (size_of::<RingControl>() + cursors).next_multiple_of(PAGE_BYTES)
}

/// A ring's memory, and where things lie in it.
#[derive(Clone)]
pub(crate) struct RingSegment {
    control: NonNull<RingControl>,
    cursors: NonNull<CachePadded<ReaderCursor>>,
    data: NonNull<u8>,
    /// The capacity less one: a mask.
    mask: u64,
    /// Bytes of a part are 1 shifted by this.
    part_shift: u32,
    readers: u32,
    barrier: MemoryBarrier,
    shadow: ShadowMemory,
    /// Keeps all of it alive.
    _memory: Arc<MappedMemory>,
}

// SAFETY: the pointers lead into memory that the value keeps alive; what is shared there is atomic,
// and frames are handed from one side to the other by the indexes.
unsafe impl Send for RingSegment {}

impl RingSegment {
    /// A ring's beginnings in zeroed memory.
    pub(crate) fn create(
        memory: MappedMemory,
        capacity: usize,
        readers: u32,
        barrier: MemoryBarrier,
    ) -> io::Result<RingSegment> {
        let data = data_offset(readers);
        let segment = RingSegment::from_memory(memory, data, capacity, readers, barrier)?;
        let label = SegmentHeader {
            magic: MAGIC,
            version: VERSION,
            readers,
            capacity: capacity as u64,
            data_offset: data as u64,
            barrier: barrier as u32,
        };
        // SAFETY: `over` has checked that both lie in the memory, which nobody else has yet.
        unsafe {
            segment.control.write(RingControl::new(label));
            for reader in 0..readers as usize {
                segment
                    .cursors
                    .add(reader)
                    .write(CachePadded(ReaderCursor::new()));
            }
        }
        Ok(segment)
    }

    /// Where things lie in the memory of a ring. Touches nothing.
    pub(crate) fn from_memory(
        memory: MappedMemory,
        data: usize,
        capacity: usize,
        readers: u32,
        barrier: MemoryBarrier,
    ) -> io::Result<RingSegment> {
        let is_sound = capacity.is_power_of_two()
            && (CAPACITY_MIN..=CAPACITY_MAX).contains(&capacity)
            && (1..=READERS_MAX).contains(&readers)
            && data == data_offset(readers)
            && memory.bytes() >= data + capacity;
        if !is_sound {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let base = memory.base();
        // SAFETY: head, cursors and frames lie one after the other, and the memory holds them all.
        let (cursors, frames) = unsafe { (base.add(size_of::<RingControl>()), base.add(data)) };
        Ok(RingSegment {
            control: base.cast(),
            cursors: cursors.cast(),
            data: frames,
            mask: capacity as u64 - 1,
            part_shift: capacity.trailing_zeros() - PART_COUNT.trailing_zeros(),
            readers,
            barrier,
            shadow: ShadowMemory::new(capacity),
            _memory: Arc::new(memory),
        })
    }

    #[inline(always)]
    pub(crate) fn control(&self) -> &RingControl {
        // SAFETY: a head lies there as long as the memory lives; but for the label, which nobody
        // writes any more, it is made of atomics.
        unsafe { self.control.as_ref() }
    }

    /// A reader's line. The number has to be one of this ring's.
    #[inline(always)]
    pub(crate) fn cursor(&self, reader: u32) -> &ReaderCursor {
        debug_assert!(reader < self.readers);
        // SAFETY: `readers` lines follow the head, made of atomics.
        unsafe { &self.cursors.add(reader as usize).as_ref().0 }
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> u64 {
        self.mask + 1
    }

    pub(crate) fn readers(&self) -> u32 {
        self.readers
    }

    #[inline(always)]
    pub(crate) fn barrier(&self) -> MemoryBarrier {
        self.barrier
    }

    /// The index at which the ring begins anew, after this one.
    #[inline(always)]
    pub(crate) fn wrap_after(&self, index: u64) -> u64 {
        (index | self.mask) + 1
    }

    /// Of which part of the ring the index is, counted since the beginning.
    #[inline(always)]
    pub(crate) fn part(&self, index: u64) -> u64 {
        index >> self.part_shift
    }

    /// Bytes of a part.
    #[inline(always)]
    pub(crate) fn part_bytes(&self) -> u64 {
        1 << self.part_shift
    }

    /// The index at which the next part begins.
    #[inline(always)]
    pub(crate) fn part_end(&self, index: u64) -> u64 {
        (index | (self.part_bytes() - 1)) + 1
    }

    /// What is added to an index for its address, up to the next wrap.
    #[inline(always)]
    pub(crate) fn base_address(&self, index: u64) -> usize {
        let data = self.data.as_ptr().expose_provenance();
        data.wrapping_sub((index & !self.mask) as usize)
    }

    /// Frames, to be read.
    ///
    /// # Safety
    /// `from..to` does not reach over a wrap, is committed, and is not released while the slice
    /// lives.
    #[inline(always)]
    pub(crate) unsafe fn readable_bytes(&self, from: u64, to: u64) -> &[u8] {
        let (at, len) = self.locate(from, to);
        self.shadow.read(at, len);
        // SAFETY: `locate` lies within the frames, whose memory is initialised; by the caller's
        // word nobody writes it.
        unsafe { std::slice::from_raw_parts(self.data.add(at).as_ptr(), len) }
    }

    /// Room, to be written.
    ///
    /// # Safety
    /// `from..to` does not reach over a wrap, and is the writer's: behind the last commit, and
    /// released by every reader that is waited for.
    #[inline(always)]
    #[expect(
        clippy::mut_from_ref,
        reason = "the bytes are the writer's, which calls it"
    )]
    pub(crate) unsafe fn writable_bytes(&self, from: u64, to: u64) -> &mut [u8] {
        let (at, len) = self.locate(from, to);
        self.shadow.write(at, len);
        // SAFETY: as in `run`; by the caller's word nobody else reads or writes it.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(at).as_ptr(), len) }
    }

    /// Fetches the first lines of the page that begins after an index, to be written soon. The
    /// processor fetches ahead by itself, but not from one page into the next.
    #[inline(always)]
    pub(crate) fn prefetch_page_after(&self, index: u64) {
        let page = (index | (PAGE_BYTES as u64 - 1)) + 1;
        for line in 0..PREFETCH_PAGE_LINES {
            let at = (page + line * 64) & self.mask;
            // SAFETY: within the frames, and not touched.
            prefetch_write(unsafe { self.data.add(at as usize) });
        }
    }

    /// Fetches the lines in which the next frame will be: whoever waits for a lone one then gets it
    /// and the index that tells of it at the same time, not one after the other.
    #[inline(always)]
    pub(crate) fn prefetch_frame(&self, index: u64) {
        for line in 0..PREFETCH_FRAME_LINES {
            let at = index.wrapping_add(line * 64) & self.mask;
            // SAFETY: within the frames, and not touched.
            prefetch_read(unsafe { self.data.add(at as usize) });
        }
    }

    /// Writes a header.
    ///
    /// # Safety
    /// As for [`RingSegment::writable_bytes`], with `at..at + 8`; `at` is a multiple of 8.
    #[inline(always)]
    pub(crate) unsafe fn write_header(&self, at: u64, word: u64) {
        debug_assert!(at.is_multiple_of(ALIGN as u64));
        let (at, len) = self.locate(at, at + ALIGN as u64);
        self.shadow.write(at, len);
        // SAFETY: 8 aligned bytes within the frames; by the caller's word they are the writer's.
        unsafe { self.data.add(at).cast::<u64>().write(word) }
    }

    /// Tells loom that the reader has been reading until now.
    #[inline(always)]
    pub(crate) fn record_read(&self, from: u64, to: u64) {
        if cfg!(loom) && from < to {
            let wrap = self.wrap_after(from).min(to);
            let (at, len) = self.locate(from, wrap);
            self.shadow.read(at, len);
            self.record_read(wrap, to);
        }
    }

    #[inline(always)]
    fn locate(&self, from: u64, to: u64) -> (usize, usize) {
        let at = from & self.mask;
        debug_assert!(from <= to && at + (to - from) <= self.capacity());
        (at as usize, (to - from) as usize)
    }
}

/// Takes a cache line from the other processor, without waiting for it.
#[inline(always)]
fn prefetch_write(line: NonNull<u8>) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // The intrinsic becomes a fetch to read, after which the line has still to be taken: that costs
    // more than it saves.
    // SAFETY: a hint, on whatever address.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Asks for a cache line, without waiting for it.
#[inline(always)]
fn prefetch_read(line: NonNull<u8>) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast_const().cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

#[cfg(not(any(loom, miri)))]
impl SegmentHeader {
    /// As it lies in a segment.
    pub(crate) fn from_bytes(bytes: &[u8; SEGMENT_HEADER_BYTES]) -> SegmentHeader {
        let number = |at: usize| {
            let word = bytes[at..].first_chunk().copied().unwrap_or_default();
            u32::from_ne_bytes(word)
        };
        let wide = |at: usize| {
            let word = bytes[at..].first_chunk().copied().unwrap_or_default();
            u64::from_ne_bytes(word)
        };
        SegmentHeader {
            magic: wide(0),
            version: number(8),
            readers: number(12),
            capacity: wide(16),
            data_offset: wide(24),
            barrier: number(32),
        }
    }
}

impl RingControl {
    fn new(label: SegmentHeader) -> RingControl {
        RingControl {
            header: CachePadded(label),
            committed: CachePadded(AtomicU64::new(0)),
            published: CachePadded(AtomicU64::new(0)),
            part_marks: CachePadded(std::array::from_fn(|_| AtomicU64::new(0))),
            writer_status: CachePadded(WriterStatus {
                wakeup_index: AtomicU64::new(0),
                is_closed: AtomicU32::new(0),
            }),
            reader_status: CachePadded(ReaderStatus {
                asleep: AtomicU64::new(0),
                gone: AtomicU64::new(0),
            }),
        }
    }
}

impl ReaderCursor {
    fn new() -> ReaderCursor {
        ReaderCursor {
            released: AtomicU64::new(0),
            is_taken: AtomicU32::new(0),
        }
    }
}
