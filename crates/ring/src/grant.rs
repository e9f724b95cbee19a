//! Room that compiled code fills by itself: a piece of a ring behind the last frame, in which
//! frames are written and committed without a call.
//!
//! ```text
//!            base + head                          base + end
//!   ---------+------------------------------------+-------------------
//!   frames   | room for whole frames, contiguous  | wrap, or unreleased
//!   ---------+------------------------------------+-------------------
//! ```
//! To write a frame of `n` bytes, header and padding included:
//! 1. `head + n > end`: leave it to the [`crate::Writer`], which grants a new piece;
//! 2. write header and payload at `base + head`;
//! 3. `head += n`, then store `head` in `committed` with release;
//! 4. if `asleep` is not 0 then, a reader must be woken: tell the writer.
//!
//! Code that uses a grant runs on the writer's thread and outside the writer's calls.

use std::ptr::NonNull;

#[cfg(not(loom))]
pub use compiled::{BASE_OFFSET, END_OFFSET, GrantAddresses, HEAD_OFFSET};

/// The words of a grant. They do not move as long as their writer lives, and lie on cache lines
/// that no other thread writes.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Grant {
    /// Index up to which there are frames: the value of `committed`, kept where no other process
    /// can change it. Changed by the writer and by code that uses the grant.
    head: u64,
    /// Index up to which there is room; no room if it is not above `head`. Changed by the writer.
    end: u64,
    /// Number that is added to an index to get its address. Changed by the writer.
    base: usize,
}

/// A writer's ownership of its grant.
pub(crate) struct OwnedGrant(NonNull<Grant>);

impl OwnedGrant {
    /// A grant at the beginning of a ring, with no room yet.
    pub(crate) fn new() -> OwnedGrant {
        OwnedGrant(NonNull::from(Box::leak(Box::default())))
    }

    #[inline(always)]
    pub(crate) fn head(&self) -> u64 {
        // SAFETY: the grant lives until `drop`; compiled code that uses it runs on this thread and
        // not now.
        unsafe { (*self.0.as_ptr()).head }
    }

    #[inline(always)]
    pub(crate) fn set_head(&mut self, head: u64) {
        // SAFETY: as in `head`.
        unsafe { (*self.0.as_ptr()).head = head };
    }

    #[inline(always)]
    pub(crate) fn end(&self) -> u64 {
        // SAFETY: as in `head`.
        unsafe { (*self.0.as_ptr()).end }
    }

    /// Number that is added to an index to get its address.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn base(&self) -> usize {
        // SAFETY: as in `head`.
        unsafe { (*self.0.as_ptr()).base }
    }

    #[inline]
    pub(crate) fn set_end(&mut self, end: u64) {
        // SAFETY: as in `head`.
        unsafe { (*self.0.as_ptr()).end = end };
    }

    /// Grants room from `head` to `end`; `base` is added to indexes to get their addresses.
    #[inline]
    pub(crate) fn renew(&mut self, end: u64, base: usize) {
        let head = self.head();
        // SAFETY: as in `head`.
        unsafe { self.0.write(Grant { head, end, base }) };
    }
}

// SAFETY: the value owns the grant that it points to.
unsafe impl Send for OwnedGrant {}

impl Drop for OwnedGrant {
    fn drop(&mut self) {
        // SAFETY: `new` made it from a box, and it is not used any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Addresses and offsets for compiled code.
#[cfg(not(loom))]
mod compiled {
    use std::mem::offset_of;
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

    use super::{Grant, OwnedGrant};
    use crate::failpoints::{Failpoint, hit};
    use crate::frame::{FrameHeader, HEADER_BYTES, frame_bytes};

    /// Offset of `head` in a [`Grant`].
    pub const HEAD_OFFSET: i32 = offset_of!(Grant, head) as i32;
    /// Offset of `end` in a [`Grant`].
    pub const END_OFFSET: i32 = offset_of!(Grant, end) as i32;
    /// Offset of `base` in a [`Grant`].
    pub const BASE_OFFSET: i32 = offset_of!(Grant, base) as i32;

    /// Addresses of a writer's grant and of the ring's words: constants for compiled code.
    #[derive(Clone, Copy, Debug)]
    pub struct GrantAddresses {
        grant: NonNull<Grant>,
        committed: NonNull<AtomicU64>,
        asleep: NonNull<AtomicU64>,
    }

    impl OwnedGrant {
        pub(crate) fn addresses(
            &self,
            committed: &AtomicU64,
            asleep: &AtomicU64,
        ) -> GrantAddresses {
            GrantAddresses {
                grant: self.0,
                committed: NonNull::from(committed),
                asleep: NonNull::from(asleep),
            }
        }
    }

    impl GrantAddresses {
        /// Address of the [`Grant`].
        pub fn grant(self) -> usize {
            self.grant.as_ptr().expose_provenance()
        }

        /// Address of the ring's `committed` index.
        pub fn committed(self) -> usize {
            self.committed.as_ptr().expose_provenance()
        }

        /// Address of the word that is not 0 when a reader sleeps.
        pub fn asleep(self) -> usize {
            self.asleep.as_ptr().expose_provenance()
        }

        /// Writes a frame by the module's four steps, as compiled code does. `None`: the grant has
        /// no room for it. `Some(true)`: a reader must be woken.
        ///
        /// # Safety
        /// The writer lives, and the caller is on its thread.
        pub unsafe fn try_write(self, kind: u8, payload: &[u8]) -> Option<bool> {
            // SAFETY: the grant lives as long as the writer, which by the caller's promise is not
            // using it now.
            let grant = unsafe { &mut *self.grant.as_ptr() };
            let end = grant.head + frame_bytes(payload.len()) as u64;
            if end > grant.end {
                return None;
            }
            let at = grant.base.wrapping_add(grant.head as usize);
            let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
            let len = payload.len() as u32;
            let flags = 0;
            let header = FrameHeader { len, kind, flags };
            // SAFETY: the writer has granted that many bytes there, from a multiple of 8 on.
            unsafe {
                at.cast::<u64>().write(header.to_word());
                hit(Failpoint::GrantHeaderWritten);
                at.add(HEADER_BYTES)
                    .copy_from_nonoverlapping(payload.as_ptr(), payload.len());
            }
            hit(Failpoint::GrantPayloadWritten);
            grant.head = end;
            hit(Failpoint::GrantHeadMoved);
            // SAFETY: both words live as long as the writer.
            let (committed, asleep) = unsafe { (self.committed.as_ref(), self.asleep.as_ref()) };
            committed.store(end, Ordering::Release); // [frames]
            hit(Failpoint::GrantCommitted);
            compiler_fence(Ordering::SeqCst);
            Some(asleep.load(Ordering::Relaxed) != 0)
        }
    }
}
