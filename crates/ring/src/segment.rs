//! The memory of a ring as both sides see it: a control block with the indexes, the readers'
//! cursors, and the frames.
//!
//! ```text
//!      0   header         identity of the segment: not written once a reader may join
//!    128   committed      writer's index: stored with every frame
//!    256   published      writer's index: stored with every batch
//!    384   part marks     indexes where a reader may end a run
//!    512   writer status  index and readers that a sleeping writer waits for; whether it is gone
//!    640   reader status  sets of the readers that sleep, and of those that are gone
//!    768   cursor 0, cursor 1, ...   128 bytes each: index up to which a reader has released
//!   data   frames         capacity bytes, from a multiple of a page on
//! ```
//! One side writes each line of 128 bytes (processors fetch cache lines in pairs) while frames
//! flow. An index counts bytes since the beginning and never wraps: its place among the frames is
//! `index & (capacity - 1)`, always a multiple of 8.
//!
//! In this crate `head` is the writer's index, where the committed frames end, and `tail` a
//! reader's, up to which it has polled. Many other queues name them the other way round: there a
//! producer appends at the tail and a consumer takes from the head.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::frame::ALIGN;
use crate::live_readers::ReadersInProcess;
use crate::mapped_memory::MappedMemory;
use crate::memory_barrier::MemoryBarrier;
use crate::sync::{AtomicU32, AtomicU64, ShadowMemory};

/// First 8 bytes of a segment: they tell it from other files.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"THALRING");

/// Version of this layout and of the rules between the two sides. A reader joins only a ring of its
/// own version.
pub(crate) const VERSION: u32 = 1;

/// Most readers of a ring: sleeping and gone readers are bits of a 64-bit word.
pub const READERS_MAX: u32 = 64;

/// Fewest bytes of frames in a ring. Loom uses this size, small enough to try every interleaving.
pub const CAPACITY_MIN: usize = 32;

/// Most bytes of frames in a ring, so that lengths of frames fit a `u32`.
pub const CAPACITY_MAX: usize = 1 << 31;

/// Number of parts of a ring. If more bytes than a part are ready, a run that a reader polls ends
/// with the frame that reaches the end of the part in which the run begins, so that the reader
/// releases room while the writer still has some.
pub(crate) const PART_COUNT: u64 = 8;

const PAGE_BYTES: usize = 4096;

/// Cache lines that the writer fetches before it begins a page: with 4 to 8 the writer of a stream
/// of small frames takes a seventh less time, with 16 it takes more.
const PREFETCH_PAGE_LINES: u64 = 8;

/// Cache lines that a reader without work fetches: where cores are far from each other, a frame of
/// 248 bytes arrives a sixth sooner, one of up to 56 bytes a tenth.
const PREFETCH_FRAME_LINES: u64 = 4;

/// Bytes of a [`SegmentHeader`] without its trailing padding.
#[cfg(not(any(loom, miri)))]
pub(crate) const SEGMENT_HEADER_BYTES: usize = 36;

/// A value alone on a pair of cache lines, which processors fetch together.
#[repr(C, align(128))]
pub(crate) struct CachePadded<T>(pub(crate) T);

/// Identity of a segment. A reader checks and copies it when it joins, and never looks at it again.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SegmentHeader {
    pub(crate) magic: u64,
    pub(crate) version: u32,
    pub(crate) readers: u32,
    pub(crate) capacity: u64,
    /// Offset in bytes where the frames begin.
    pub(crate) data_offset: u64,
    /// Number of a [`MemoryBarrier`] that both sides use.
    pub(crate) barrier: u32,
}

/// Words with which the writer announces a sleep and its end.
#[repr(C)]
pub(crate) struct WriterStatus {
    /// Not 0: the writer is about to sleep, and needs every reader to release up to this index.
    /// Written and cleared by the writer, read by readers, cleared by the reader that finds that
    /// it and the other awaited readers have released that far, and wakes the writer. Release pairs
    /// with acquire: `[wakeup]`.
    pub(crate) wakeup_index: AtomicU64,
    /// 1: the writer has dropped its end. Written by the writer after its last commit.
    pub(crate) is_closed: AtomicU32,
    /// Readers that a sleeping writer waits for, a bit for each. Written by the writer before
    /// `wakeup_index`, which orders it; read by readers. Without a reader's bit, the writer is
    /// woken although that reader still holds the room.
    pub(crate) awaited: AtomicU64,
}

/// Words with which readers announce a sleep and their end; a bit for each reader.
#[repr(C)]
pub(crate) struct ReaderStatus {
    /// Readers that sleep. Set by the reader, cleared by it or by the writer that wakes it.
    pub(crate) asleep: AtomicU64,
    /// Readers that have dropped their end. Written by readers.
    pub(crate) gone: AtomicU64,
}

/// Fixed part of a segment, before the cursors.
#[repr(C)]
pub(crate) struct RingControl {
    pub(crate) header: CachePadded<SegmentHeader>,
    /// Index up to which there are frames. Written by the writer with every frame, read by readers
    /// that have run out. Release pairs with acquire: `[frames]`.
    pub(crate) committed: CachePadded<AtomicU64>,
    /// Index up to which there are whole batches, behind `committed`. Written by the writer with
    /// every batch, read by readers that have run out in a stream. Release pairs with acquire:
    /// `[frames]`.
    pub(crate) published: CachePadded<AtomicU64>,
    /// For each part of the ring, the index of the first frame that begins in it or, if none does,
    /// after it. Written by the writer before the frame's end is in `committed`, which orders it.
    pub(crate) part_marks: CachePadded<[AtomicU64; PART_COUNT as usize]>,
    pub(crate) writer_status: CachePadded<WriterStatus>,
    pub(crate) reader_status: CachePadded<ReaderStatus>,
}

/// Words of one reader, on a line of its own.
#[repr(C)]
pub(crate) struct ReaderCursor {
    /// Index up to which the reader has released. Written by the reader, read by the writer when it
    /// runs out of room. Release pairs with acquire: `[room]`.
    pub(crate) released: AtomicU64,
    /// 1: a reader has joined under this number.
    pub(crate) is_taken: AtomicU32,
}

/// The control block's layout is shared with other processes.
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
    assert!(offset_of!(WriterStatus, awaited) == 16);
    assert!(offset_of!(RingControl, reader_status) == 640);
    assert!(offset_of!(ReaderStatus, gone) == 8);
    assert!(size_of::<RingControl>() == 768);
    assert!(size_of::<CachePadded<ReaderCursor>>() == 128);
    assert!(offset_of!(ReaderCursor, is_taken) == 8);
};

/// Offset in bytes of the frames in a ring with `readers` readers.
pub(crate) const fn data_offset(readers: u32) -> usize {
    let cursors = readers as usize * size_of::<CachePadded<ReaderCursor>>();
    (size_of::<RingControl>() + cursors).next_multiple_of(PAGE_BYTES)
}

/// Memory of a ring, and the addresses of its parts.
#[derive(Clone)]
pub(crate) struct RingSegment {
    control: NonNull<RingControl>,
    cursors: NonNull<CachePadded<ReaderCursor>>,
    data: NonNull<u8>,
    /// Capacity less one: the mask that makes an index a place.
    mask: u64,
    /// A part has `1 << part_shift` bytes.
    part_shift: u32,
    readers: u32,
    barrier: MemoryBarrier,
    shadow: ShadowMemory,
    readers_in_process: Arc<ReadersInProcess>,
    /// Keeps the memory mapped while a clone of the segment lives.
    _memory: Arc<MappedMemory>,
}

// SAFETY: the pointers lead into memory that the value keeps alive. Shared words are atomic, and
// the indexes hand frames from one side to the other.
unsafe impl Send for RingSegment {}

impl RingSegment {
    /// Writes the control block and the cursors of a new ring into zeroed memory.
    ///
    /// # Errors
    /// The memory is too small, or a number is out of bounds.
    pub(crate) fn create(
        memory: MappedMemory,
        capacity: usize,
        readers: u32,
        barrier: MemoryBarrier,
    ) -> io::Result<RingSegment> {
        let data = data_offset(readers);
        let segment = RingSegment::from_memory(memory, data, capacity, readers, barrier)?;
        let header = SegmentHeader {
            magic: MAGIC,
            version: VERSION,
            readers,
            capacity: capacity as u64,
            data_offset: data as u64,
            barrier: barrier as u32,
        };
        // SAFETY: `from_memory` has checked that both lie in the memory, which no other thread has
        // yet.
        unsafe {
            segment.control.write(RingControl::new(header));
            for reader in 0..readers as usize {
                segment
                    .cursors
                    .add(reader)
                    .write(CachePadded(ReaderCursor::new()));
            }
        }
        Ok(segment)
    }

    /// Computes the addresses of a ring's parts. Touches no memory.
    ///
    /// # Errors
    /// The memory is too small, or a number is out of bounds.
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
        // SAFETY: control block, cursors and frames lie one after the other, and the memory holds
        // them all.
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
            readers_in_process: Arc::new(ReadersInProcess::new()),
            _memory: Arc::new(memory),
        })
    }

    #[inline(always)]
    pub(crate) fn control(&self) -> &RingControl {
        // SAFETY: a control block lies there as long as the memory lives; apart from the header,
        // which is not written any more, it consists of atomics.
        unsafe { self.control.as_ref() }
    }

    /// Words of a reader, whose number must be one of this ring's.
    #[inline(always)]
    pub(crate) fn cursor(&self, reader: u32) -> &ReaderCursor {
        debug_assert!(reader < self.readers);
        // SAFETY: `readers` cursors follow the control block; they consist of atomics.
        unsafe { &self.cursors.add(reader as usize).as_ref().0 }
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> u64 {
        self.mask + 1
    }

    pub(crate) fn readers(&self) -> u32 {
        self.readers
    }

    /// Readers that share this segment with the writer.
    pub(crate) fn readers_in_process(&self) -> &ReadersInProcess {
        &self.readers_in_process
    }

    #[inline(always)]
    pub(crate) fn barrier(&self) -> MemoryBarrier {
        self.barrier
    }

    /// Index at which the ring begins anew, after this one.
    #[inline(always)]
    pub(crate) fn wrap_after(&self, index: u64) -> u64 {
        (index | self.mask) + 1
    }

    /// Number of the part that holds the index, counted since the beginning.
    #[inline(always)]
    pub(crate) fn part(&self, index: u64) -> u64 {
        index >> self.part_shift
    }

    /// Bytes of one part of the ring.
    #[inline(always)]
    pub(crate) fn part_bytes(&self) -> u64 {
        1 << self.part_shift
    }

    /// Index at which the next part begins.
    #[inline(always)]
    pub(crate) fn part_end(&self, index: u64) -> u64 {
        (index | (self.part_bytes() - 1)) + 1
    }

    /// Number that is added to an index to get its address, valid up to the next wrap.
    #[inline(always)]
    pub(crate) fn base_address(&self, index: u64) -> usize {
        let data = self.data.as_ptr().expose_provenance();
        data.wrapping_sub((index & !self.mask) as usize)
    }

    /// Bytes of frames, for reading.
    ///
    /// # Safety
    /// `from..to` does not reach over a wrap, is committed, and is not released while the slice
    /// lives.
    #[inline(always)]
    pub(crate) unsafe fn readable_bytes(&self, from: u64, to: u64) -> &[u8] {
        let (at, len) = self.locate(from, to);
        self.shadow.read(at, len);
        // SAFETY: `locate` stays within the frames, whose memory is initialised; by the caller's
        // promise no thread writes the range.
        unsafe { std::slice::from_raw_parts(self.data.add(at).as_ptr(), len) }
    }

    /// Bytes of free room, for writing.
    ///
    /// # Safety
    /// `from..to` does not reach over a wrap, and belongs to the writer: behind the last commit,
    /// and released by every reader that is waited for.
    #[inline(always)]
    #[expect(
        clippy::mut_from_ref,
        reason = "the bytes are the writer's, which calls it"
    )]
    pub(crate) unsafe fn writable_bytes(&self, from: u64, to: u64) -> &mut [u8] {
        let (at, len) = self.locate(from, to);
        self.shadow.write(at, len);
        // SAFETY: as in `readable_bytes`; by the caller's promise no other thread reads or writes
        // it.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(at).as_ptr(), len) }
    }

    /// Fetches the first cache lines of the page that begins after an index, to be written soon.
    /// The processor fetches ahead by itself, but not from one page into the next.
    #[inline(always)]
    pub(crate) fn prefetch_page_after(&self, index: u64) {
        let page = (index | (PAGE_BYTES as u64 - 1)) + 1;
        for line in 0..PREFETCH_PAGE_LINES {
            let at = (page + line * 64) & self.mask;
            // SAFETY: the address is within the frames, and nothing is read or written there.
            prefetch_write(unsafe { self.data.add(at as usize) });
        }
    }

    /// Fetches the cache lines in which the next frame will be. A reader that waits for a lone
    /// frame then gets the frame and the index at the same time, not one after the other.
    #[inline(always)]
    pub(crate) fn prefetch_frame(&self, index: u64) {
        for line in 0..PREFETCH_FRAME_LINES {
            let at = index.wrapping_add(line * 64) & self.mask;
            // SAFETY: the address is within the frames, and nothing is read or written there.
            prefetch_read(unsafe { self.data.add(at as usize) });
        }
    }

    /// Writes the header word of a frame.
    ///
    /// # Safety
    /// The caller is the writer, and has claimed the bytes `at..at + 8` (see
    /// [`RingSegment::writable_bytes`]); `at` is a multiple of 8.
    #[inline(always)]
    pub(crate) unsafe fn write_header(&self, at: u64, word: u64) {
        debug_assert!(at.is_multiple_of(ALIGN as u64));
        let (at, len) = self.locate(at, at + ALIGN as u64);
        self.shadow.write(at, len);
        // SAFETY: 8 aligned bytes within the frames; by the caller's promise they belong to the
        // writer.
        unsafe { self.data.add(at).cast::<u64>().write(word) }
    }

    /// Tells loom that the reader has been reading `from..to` until now.
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

/// Takes a cache line from the other processor for writing, without waiting for it.
#[inline(always)]
fn prefetch_write(line: NonNull<u8>) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // The intrinsic becomes a fetch for reading, after which the line has still to be taken: that
    // costs more than it saves.
    // SAFETY: the instruction is a hint, allowed on any address.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Fetches a cache line for reading, without waiting for it.
#[inline(always)]
fn prefetch_read(line: NonNull<u8>) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction is a hint, allowed on any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast_const().cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

#[cfg(not(any(loom, miri)))]
impl SegmentHeader {
    /// Decodes the first bytes of a segment.
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
    fn new(header: SegmentHeader) -> RingControl {
        RingControl {
            header: CachePadded(header),
            committed: CachePadded(AtomicU64::new(0)),
            published: CachePadded(AtomicU64::new(0)),
            part_marks: CachePadded(std::array::from_fn(|_| AtomicU64::new(0))),
            writer_status: CachePadded(WriterStatus {
                wakeup_index: AtomicU64::new(0),
                is_closed: AtomicU32::new(0),
                awaited: AtomicU64::new(0),
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
