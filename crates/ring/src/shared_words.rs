//! Words that threads or processes share without a protocol: the control that rings are measured
//! against.
//!
//! No tuple passes through them. A benchmark builds the simplest possible hand-over from these
//! words, so that a ring is compared with something that is no ring of this crate.

use std::io;
use std::ops::Deref;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;

use crate::mapped_memory::{MappedMemory, is_sealed};
use crate::page_policy::PagePolicy;

/// Zeroed atomic words that begin at a page.
pub struct SharedWords {
    memory: MappedMemory,
    count: usize,
}

impl SharedWords {
    /// Allocates `count` words for this process alone.
    ///
    /// # Errors
    /// `count` is 0, or there is no memory.
    pub fn private(count: usize) -> io::Result<SharedWords> {
        let memory = MappedMemory::private(words_bytes(count)?, 0)?;
        Ok(SharedWords { memory, count })
    }

    /// Allocates `count` words that other processes can [`join`](SharedWords::join) with the
    /// returned descriptor.
    ///
    /// # Errors
    /// `count` is 0, or there is no memory.
    pub fn shared(count: usize) -> io::Result<(SharedWords, OwnedFd)> {
        let (memory, fd) = MappedMemory::shared(words_bytes(count)?, 0, PagePolicy::Auto)?;
        Ok((SharedWords { memory, count }, fd))
    }

    /// Maps the words of another process: as many as the file holds.
    ///
    /// # Errors
    /// The file is not sealed, so that it could be shortened while it is mapped, or it is empty.
    pub fn join(fd: BorrowedFd<'_>) -> io::Result<SharedWords> {
        if !is_sealed(fd) {
            return Err(invalid("the file of shared words is not sealed"));
        }
        let length = rustix::fs::fstat(fd)?.st_size;
        let count = usize::try_from(length).unwrap_or(0) / WORD_BYTES;
        let memory = MappedMemory::map(fd, words_bytes(count)?, 0)?;
        Ok(SharedWords { memory, count })
    }
}

impl Deref for SharedWords {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        let first = self.memory.base().cast::<AtomicU64>();
        // SAFETY: the memory begins at a page, holds `count` words as long as this value lives, any
        // bits are valid words, and every process accesses them by atomics only.
        unsafe { std::slice::from_raw_parts(first.as_ptr(), self.count) }
    }
}

/// Bytes of one word.
const WORD_BYTES: usize = size_of::<u64>();

/// Bytes of `count` words; an error if `count` is 0 or the bytes overflow.
fn words_bytes(count: usize) -> io::Result<usize> {
    let bytes = count.checked_mul(WORD_BYTES).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| invalid("there must be a shared word, and no more than memory holds"))
}

fn invalid(sentence: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn who_joins_sees_the_same_words() {
        let (words, fd) = SharedWords::shared(1000).unwrap();
        let joined = SharedWords::join(fd.as_fd()).unwrap();
        words[999].store(7, Ordering::Release);
        assert_eq!(joined[999].load(Ordering::Acquire), 7);
        assert!(joined.len() >= 1000);
        let own = SharedWords::private(3).unwrap();
        own[2].store(5, Ordering::Relaxed);
        assert_eq!(
            own.iter()
                .map(|word| word.load(Ordering::Relaxed))
                .sum::<u64>(),
            5
        );
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        assert!(SharedWords::private(0).is_err());
        assert!(SharedWords::shared(usize::MAX).is_err());
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(SharedWords::join(file.as_fd()).is_err());
    }
}
