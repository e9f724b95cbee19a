//! A grant over memory of another owner, such as a medium that a user has written: frames are
//! written into its room without a call, by compiled code too.
//!
//! The owner gives room, and two words: one in which the number of committed bytes is stored with
//! each frame, and one that is not 0 while a reader sleeps. The steps are those of
//! [`grant`](crate::grant).

use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

use crate::frame::HEADER_BYTES;
use crate::grant::{GrantAddresses, OwnedGrant};

/// Room for frames, and the words of its owner. One thread at a time uses it.
pub struct ExternalGrant {
    grant: OwnedGrant,
    committed: NonNull<AtomicU64>,
    asleep: NonNull<AtomicU64>,
}

// SAFETY: the words are atomic and live as long as the value, by the promise of its maker; the
// grant may move between threads.
unsafe impl Send for ExternalGrant {}

impl ExternalGrant {
    /// A grant without room, and with 0 bytes committed.
    ///
    /// # Safety
    /// Both words live as long as the grant and as code that uses [`ExternalGrant::addresses`], and
    /// nothing accesses them but by atomic operations.
    pub unsafe fn new(committed: NonNull<AtomicU64>, asleep: NonNull<AtomicU64>) -> ExternalGrant {
        ExternalGrant {
            grant: OwnedGrant::new(),
            committed,
            asleep,
        }
    }

    /// Bytes of all frames that were committed.
    #[inline]
    pub fn head(&self) -> u64 {
        self.grant.head()
    }

    /// Grants `bytes` bytes from `room` on for the next frames, and no other room.
    ///
    /// # Safety
    /// Until the next call of this or of [`ExternalGrant::limit`], these bytes may be written, and
    /// nothing else reads or writes them unless they are committed. `room` is a multiple of 8.
    #[inline]
    pub unsafe fn renew(&mut self, room: NonNull<u8>, bytes: u64) {
        let head = self.grant.head();
        let base = room
            .as_ptr()
            .expose_provenance()
            .wrapping_sub(head as usize);
        self.grant.renew(head + bytes, base);
    }

    /// Shortens the room to at most `bytes` bytes.
    #[inline]
    pub fn limit(&mut self, bytes: u64) {
        let end = self.grant.head().saturating_add(bytes);
        self.grant.set_end(self.grant.end().min(end));
    }

    /// Room for a frame of `bytes` bytes with its header; `None`: the grant has less.
    #[inline(always)]
    pub fn room(&mut self, bytes: u64) -> Option<&mut [u8]> {
        let head = self.grant.head();
        if head + bytes > self.grant.end() {
            return None;
        }
        let at = self.grant.base().wrapping_add(head as usize);
        let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
        // SAFETY: the owner has granted these bytes until the grant changes, which needs the grant
        // that the slice borrows.
        Some(unsafe { slice::from_raw_parts_mut(at, bytes as usize) })
    }

    /// Writes a header and commits the frame of `bytes` bytes behind the last one. `true`: a reader
    /// sleeps and has to be woken.
    ///
    /// # Panics
    /// If the grant has no room for the frame, or it is smaller than a header.
    #[inline(always)]
    pub fn commit(&mut self, header: u64, bytes: u64) -> bool {
        let room = self.room(bytes).expect("room for the frame");
        room[..HEADER_BYTES].copy_from_slice(&header.to_ne_bytes());
        let head = self.grant.head() + bytes;
        self.grant.set_head(head);
        // SAFETY: the maker has promised that both words live.
        let (committed, asleep) = unsafe { (self.committed.as_ref(), self.asleep.as_ref()) };
        committed.store(head, Ordering::Release); // [frames]
        compiler_fence(Ordering::SeqCst);
        asleep.load(Ordering::Relaxed) != 0
    }

    /// Addresses at which compiled code finds the grant and the words; they do not change.
    pub fn addresses(&self) -> GrantAddresses {
        // SAFETY: the maker has promised that both words live.
        let (committed, asleep) = unsafe { (self.committed.as_ref(), self.asleep.as_ref()) };
        self.grant.addresses(committed, asleep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::FrameHeader;

    fn header(len: usize) -> u64 {
        let len = len as u32;
        let header = FrameHeader {
            len,
            kind: 1,
            flags: 0,
        };
        header.to_word()
    }

    #[test]
    fn frames_lie_one_after_the_other_and_each_is_told() {
        let (committed, asleep) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut memory = [0_u64; 8];
        let room = NonNull::from(&mut memory).cast::<u8>();
        let words = [&committed, &asleep].map(NonNull::from);
        // SAFETY: the words and the memory outlive the grant, and are used by it alone.
        let mut grant = unsafe { ExternalGrant::new(words[0], words[1]) };
        assert!(grant.room(8).is_none(), "no room yet");
        // SAFETY: as above.
        unsafe { grant.renew(room, 64) };
        grant.room(16).expect("room")[8..].fill(5);
        assert!(!grant.commit(header(8), 16));
        assert_eq!(committed.load(Ordering::Relaxed), 16);
        asleep.store(1, Ordering::Relaxed);
        // SAFETY: the grant lives and is used on this thread.
        let is_asleep = unsafe { grant.addresses().try_write(2, &[6; 16]) };
        assert_eq!(is_asleep, Some(true), "by compiled code");
        assert!(grant.commit(header(0), 8), "a reader sleeps");
        assert_eq!((grant.head(), committed.load(Ordering::Relaxed)), (48, 48));
        assert!(grant.room(24).is_none() && grant.room(16).is_some());
        grant.limit(8);
        assert!(grant.room(16).is_none() && grant.room(8).is_some());
        grant.limit(0);
        // SAFETY: as above; the rest of the memory.
        unsafe { grant.renew(room.add(48), 16) };
        let at = grant.room(16).expect("room").as_ptr().addr();
        assert_eq!(at, room.addr().get() + 48);
        drop(grant);
        assert_eq!(memory[0], header(8));
        assert_eq!(memory[1], u64::from_ne_bytes([5; 8]));
        assert_eq!(memory[5], header(0));
    }
}
