//! Memory of a ring: zeroed, touched beforehand, and returned to the system when the last end is
//! dropped.

use std::io;
use std::ptr::NonNull;

/// A range of bytes whose address does not change while the value lives.
pub(crate) struct MappedMemory {
    base: NonNull<u8>,
    bytes: usize,
    /// Mapping that holds the range, and perhaps more.
    #[cfg(not(any(loom, miri)))]
    _mapping: mapped::AddressMapping,
}

// SAFETY: an address range that belongs to the value as a whole; the ends of the ring define which
// thread may touch which bytes, and when.
unsafe impl Send for MappedMemory {}
// SAFETY: as above.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// Address of the first byte, a multiple of the page size.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Number of bytes in the range.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(not(any(loom, miri)))]
pub(crate) use mapped::{create_sealed_file, is_sealed};

#[cfg(not(any(loom, miri)))]
mod mapped {
    use std::ffi::c_void;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::ptr;

    use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
    use rustix::fs::{fallocate, fcntl_add_seals, ftruncate, memfd_create};
    use rustix::io::retry_on_intr;
    use rustix::mm::{Advice, MapFlags, ProtFlags};
    use rustix::mm::{madvise, mmap, mmap_anonymous, munmap};

    use super::*;
    use crate::page_policy::PagePolicy;

    /// Bytes of a huge page on x86-64 and most ARM systems.
    const HUGE_PAGE_BYTES: usize = 2 << 20;

    /// Bytes of a segment from which huge pages are tried: rounding up to a multiple of their size
    /// then wastes at most an eighth.
    const HUGE_SEGMENT_BYTES: usize = 8 * HUGE_PAGE_BYTES;

    const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

    /// A mapped address range of this process, unmapped when it is dropped.
    pub(super) struct AddressMapping {
        start: *mut c_void,
        bytes: usize,
    }

    impl Drop for AddressMapping {
        fn drop(&mut self) {
            // SAFETY: this value mapped the range, and the last pointer into it goes with its
            // owner.
            let unmapped = unsafe { munmap(self.start, self.bytes) };
            debug_assert!(unmapped.is_ok());
        }
    }

    impl MappedMemory {
        /// Maps memory of this process alone. The bytes from `data` on get huge pages, if they fill
        /// at least one and the system has any.
        pub(crate) fn private(bytes: usize, data: usize) -> io::Result<MappedMemory> {
            let is_huge = bytes - data >= HUGE_PAGE_BYTES;
            let slack = if is_huge { HUGE_PAGE_BYTES } else { 0 };
            let (anywhere, flags) = (ptr::null_mut(), MapFlags::PRIVATE);
            // SAFETY: the system chooses the address of a new range.
            let start = unsafe { mmap_anonymous(anywhere, bytes + slack, READ_WRITE, flags)? };
            let mapping = AddressMapping {
                start,
                bytes: bytes + slack,
            };
            let skip = (start as usize + data).wrapping_neg() % HUGE_PAGE_BYTES;
            MappedMemory::from_mapping(mapping, skip.min(slack), bytes, data)
        }

        /// Maps memory that other processes can map, and returns the descriptor for it: anonymous,
        /// and sealed so that no process can shorten it under the others.
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

        /// Maps the whole of a file of `bytes` bytes, which must not become shorter.
        pub(crate) fn map(
            fd: BorrowedFd<'_>,
            bytes: usize,
            data: usize,
        ) -> io::Result<MappedMemory> {
            let (anywhere, flags) = (ptr::null_mut(), MapFlags::SHARED);
            // SAFETY: the system chooses the address of a new range.
            let start = unsafe { mmap(anywhere, bytes, READ_WRITE, flags, fd, 0)? };
            MappedMemory::from_mapping(AddressMapping { start, bytes }, 0, bytes, data)
        }

        /// The `bytes` bytes of a mapping that begin after `skip`, touched beforehand.
        fn from_mapping(
            mapping: AddressMapping,
            skip: usize,
            bytes: usize,
            data: usize,
        ) -> io::Result<MappedMemory> {
            debug_assert!(skip + bytes <= mapping.bytes);
            let base = mapping.start.cast::<u8>().wrapping_add(skip);
            let huge = (bytes - data) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
            // SAFETY: within the mapping, and the advice does not change its contents. Huge pages
            // may be missing, and an old system cannot touch a range: both are fine.
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

    /// Name of a ring's memory file in `/proc/PID/fd`.
    const RING_MEMFD_NAME: &str = "thalweg-ring";

    /// Creates an anonymous file in memory whose length never changes, with all of its pages
    /// allocated.
    pub(crate) fn create_sealed_file(
        name: &str,
        bytes: usize,
        kind: MemfdFlags,
    ) -> io::Result<OwnedFd> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | kind;
        let fd = memfd_create(name, flags)?;
        retry_on_intr(|| ftruncate(&fd, bytes as u64))?;
        // A program with timers gets signals while the memory is allocated.
        retry_on_intr(|| fallocate(&fd, FallocateFlags::empty(), 0, bytes as u64))?;
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(fd)
    }

    /// Whether the file is sealed, so that its length never changes.
    pub(crate) fn is_sealed(fd: BorrowedFd<'_>) -> bool {
        let seals = rustix::fs::fcntl_get_seals(fd);
        seals.is_ok_and(|seals| seals.contains(SealFlags::SHRINK | SealFlags::GROW))
    }
}

/// Memory from the allocator, for loom and Miri, which have no mappings.
#[cfg(any(loom, miri))]
mod allocated {
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    use super::*;

    fn layout(bytes: usize) -> io::Result<Layout> {
        Layout::from_size_align(bytes, 4096).map_err(io::Error::other)
    }

    impl MappedMemory {
        pub(crate) fn private(bytes: usize, _data: usize) -> io::Result<MappedMemory> {
            // SAFETY: a ring has a control block, so the size is not zero.
            let base = unsafe { alloc_zeroed(layout(bytes)?) };
            let base = NonNull::new(base).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(MappedMemory { base, bytes })
        }
    }

    impl Drop for MappedMemory {
        fn drop(&mut self) {
            if let Ok(layout) = layout(self.bytes) {
                // SAFETY: it was allocated with this layout.
                unsafe { dealloc(self.base.as_ptr(), layout) }
            }
        }
    }
}
