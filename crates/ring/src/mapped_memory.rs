//! The memory of a ring: zeroed, touched beforehand, given back when the last end is dropped.

use std::io;
use std::ptr::NonNull;

/// Bytes that nobody moves.
pub(crate) struct MappedMemory {
    base: NonNull<u8>,
    bytes: usize,
    /// The mapping it is a part of.
    #[cfg(not(any(loom, miri)))]
    _mapping: mapped::AddressMapping,
}

// SAFETY: an address range that belongs to the value as a whole; who may touch what in it and when
// is said by the ends of the ring.
unsafe impl Send for MappedMemory {}
// SAFETY: as above.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// The first byte, at a multiple of a page.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(not(any(loom, miri)))]
pub(crate) use mapped::{create_sealed_file, is_sealed};

#[cfg(not(any(loom, miri)))]
mod mapped {
    use super::*;
    use crate::page_policy::PagePolicy;
    use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
    use rustix::fs::{fallocate, fcntl_add_seals, ftruncate, memfd_create};
    use rustix::io::retry_on_intr;
    use rustix::mm::{Advice, MapFlags, ProtFlags};
    use rustix::mm::{madvise, mmap, mmap_anonymous, munmap};
    use std::ffi::c_void;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::ptr;

    /// The size of a huge page on the machines that matter.
    const HUGE_PAGE_BYTES: usize = 2 << 20;

    /// From here on it does not matter that a segment of huge pages is a multiple of their size.
    const HUGE_SEGMENT_BYTES: usize = 8 * HUGE_PAGE_BYTES;

    const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

    /// An address range of this process.
    pub(super) struct AddressMapping {
        start: *mut c_void,
        bytes: usize,
    }

    impl Drop for AddressMapping {
        fn drop(&mut self) {
            // SAFETY: the range was mapped by us, and with its owner the last pointer into it goes.
            let unmapped = unsafe { munmap(self.start, self.bytes) };
            debug_assert!(unmapped.is_ok());
        }
    }

    impl MappedMemory {
        /// Memory of this process alone. What begins at `data` gets huge pages if it fills some and
        /// there are any.
        pub(crate) fn private(bytes: usize, data: usize) -> io::Result<MappedMemory> {
            let is_huge = bytes - data >= HUGE_PAGE_BYTES;
            let slack = if is_huge { HUGE_PAGE_BYTES } else { 0 };
            let (anywhere, flags) = (ptr::null_mut(), MapFlags::PRIVATE);
            // SAFETY: a new range, where the system likes.
            let start = unsafe { mmap_anonymous(anywhere, bytes + slack, READ_WRITE, flags)? };
            let mapping = AddressMapping {
                start,
                bytes: bytes + slack,
            };
            let skip = (start as usize + data).wrapping_neg() % HUGE_PAGE_BYTES;
            MappedMemory::from_mapping(mapping, skip.min(slack), bytes, data)
        }

        /// Memory that other processes can map, and what they need for it: anonymous, and sealed so
        /// that nobody can cut it off under the others.
        pub(crate) fn shared(
            bytes: usize,
            data: usize,
            pages: PagePolicy,
        ) -> io::Result<(MappedMemory, OwnedFd)> {
            let huge = MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
            let on_huge = || {
                create_sealed_file(
                    RING_MEMFD_NAME,
                    bytes.next_multiple_of(HUGE_PAGE_BYTES),
                    huge,
                )
            };
            let on_small = || create_sealed_file(RING_MEMFD_NAME, bytes, MemfdFlags::empty());
            let fd = match pages {
                PagePolicy::Auto if bytes >= HUGE_SEGMENT_BYTES => {
                    on_huge().or_else(|_| on_small())?
                }
                PagePolicy::Huge => on_huge()?,
                PagePolicy::Auto | PagePolicy::Small => on_small()?,
            };
            let file_bytes = rustix::fs::fstat(&fd)?.st_size as usize;
            let memory = MappedMemory::map(fd.as_fd(), file_bytes, data)?;
            Ok((memory, fd))
        }

        /// The whole of a file, which is so long and cannot become shorter.
        pub(crate) fn map(
            fd: BorrowedFd<'_>,
            bytes: usize,
            data: usize,
        ) -> io::Result<MappedMemory> {
            let (anywhere, flags) = (ptr::null_mut(), MapFlags::SHARED);
            // SAFETY: a new range, where the system likes.
            let start = unsafe { mmap(anywhere, bytes, READ_WRITE, flags, fd, 0)? };
            MappedMemory::from_mapping(AddressMapping { start, bytes }, 0, bytes, data)
        }

        /// `bytes` of a mapping, after `skip`, touched beforehand.
        fn from_mapping(
            mapping: AddressMapping,
            skip: usize,
            bytes: usize,
            data: usize,
        ) -> io::Result<MappedMemory> {
            debug_assert!(skip + bytes <= mapping.bytes);
            let base = mapping.start.cast::<u8>().wrapping_add(skip);
            let huge = (bytes - data) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
            // SAFETY: within the mapping; advice that does not change what is there. Huge pages may
            // not be had, and an old system does not know how to touch a range: as well.
            unsafe {
                if huge > 0 {
                    let _ = madvise(base.wrapping_add(data).cast(), huge, Advice::LinuxHugepage);
                }
                let _ = madvise(base.cast(), bytes, Advice::LinuxPopulateWrite);
            }
            Ok(MappedMemory {
                base: NonNull::new(base).ok_or(io::ErrorKind::OutOfMemory)?,
                bytes,
                _mapping: mapping,
            })
        }
    }

    /// What the files of rings are called in `/proc/PID/fd`.
    const RING_MEMFD_NAME: &str = "thalweg-ring";

    /// A file that no folder has, of a length that never changes, with all of its memory.
    pub(crate) fn create_sealed_file(
        name: &str,
        bytes: usize,
        kind: MemfdFlags,
    ) -> io::Result<OwnedFd> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | kind;
        let fd = memfd_create(name, flags)?;
        retry_on_intr(|| ftruncate(&fd, bytes as u64))?;
        // A program with timers has signals that come while memory is made.
        retry_on_intr(|| fallocate(&fd, FallocateFlags::empty(), 0, bytes as u64))?;
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(fd)
    }

    /// Whether the length of a file never changes.
    pub(crate) fn is_sealed(fd: BorrowedFd<'_>) -> bool {
        let seals = rustix::fs::fcntl_get_seals(fd);
        seals.is_ok_and(|seals| seals.contains(SealFlags::SHRINK | SealFlags::GROW))
    }
}

/// From the allocator: for what knows of no mappings.
#[cfg(any(loom, miri))]
mod allocated {
    use super::*;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    fn layout(bytes: usize) -> io::Result<Layout> {
        Layout::from_size_align(bytes, 4096).map_err(io::Error::other)
    }

    impl MappedMemory {
        pub(crate) fn private(bytes: usize, _data: usize) -> io::Result<MappedMemory> {
            // SAFETY: a ring has a head, so the size is not zero.
            let base = unsafe { alloc_zeroed(layout(bytes)?) };
            let base = NonNull::new(base).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(MappedMemory { base, bytes })
        }
    }

    impl Drop for MappedMemory {
        fn drop(&mut self) {
            if let Ok(layout) = layout(self.bytes) {
                // SAFETY: allocated with this layout.
                unsafe { dealloc(self.base.as_ptr(), layout) }
            }
        }
    }
}
