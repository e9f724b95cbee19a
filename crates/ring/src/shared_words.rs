//! Words that threads or processes share with no protocol at all: what rings are measured against.
//!
//! Nothing here is on the path of a tuple. A benchmark builds the barest hand-over that there can
//! be from these words, so that a ring has something to be compared with that is not a ring of
//! ours.

use std::io;
use std::ops::Deref;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;

use crate::mapped_memory::{MappedMemory, is_sealed};
use crate::page_policy::PagePolicy;

/// Words that begin as zero, from the beginning of a page on.
pub struct SharedWords {
    memory: MappedMemory,
    count: usize,
}

impl SharedWords {
    /// So many words of this process.
    ///
    /// # Errors
    /// No memory.
    pub fn private(count: usize) -> io::Result<SharedWords> {
        let memory = MappedMemory::private(words_bytes(count)?, 0)?;
        Ok(SharedWords { memory, count })
    }

    /// So many words that other processes can [`join`](Words::join) with the descriptor.
    ///
    /// # Errors
    /// No memory.
    pub fn shared(count: usize) -> io::Result<(SharedWords, OwnedFd)> {
        let (memory, fd) = MappedMemory::shared(words_bytes(count)?, 0, PagePolicy::Auto)?;
        Ok((SharedWords { memory, count }, fd))
    }

    /// The words of another process: as many as the file holds.
    ///
    /// # Errors
    /// What the descriptor leads to could be cut off while it is mapped, or is empty.
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
        // SAFETY: the memory begins at a page, holds `count` words as long as this value lives, has
        // bits that are words whatever they are, and everybody reaches them by atomics alone.
        unsafe { std::slice::from_raw_parts(first.as_ptr(), self.count) }
    }
}

/// Bytes of a word.
const WORD_BYTES: usize = size_of::<u64>();

/// Bytes of so many words, of which there has to be one.
fn words_bytes(count: usize) -> io::Result<usize> {
    let bytes = count.checked_mul(WORD_BYTES).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| invalid("there must be a shared word, and no more than memory holds"))
}

fn invalid(sentence: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::sync::atomic::Ordering;

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
