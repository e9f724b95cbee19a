//! A claim word: which of several threads may run a piece of work, and whether there is any.
//!
//! ```text
//!              notify                  notify
//!     IDLE ------------> READY    CLAIMED ----> CLAIMED | READY
//!       \                /            \             /
//!        `-- try_claim -´              `- release -´   READY stays
//!               |                             |
//!            CLAIMED                    IDLE or READY
//! ```
//! One thread at a time holds the claim. What it has written is visible to the next one. Work that
//! is announced while the claim is held is not lost: the word is `READY` after the release.

use crate::sync::{AtomicU32, Ordering, fence};

/// A try-lock word with a flag for work.
///
/// ```
/// use thalweg_ring::ClaimWord;
///
/// let word = ClaimWord::default();
/// assert!(word.notify(), "it was idle: see that a thread looks for work");
/// assert!(word.try_claim());
/// assert!(!word.try_claim(), "one thread at a time");
/// assert!(!word.notify(), "the thread that holds the claim leaves a note");
/// word.release(false);
/// assert!(word.is_ready());
/// ```
#[derive(Debug, Default)]
pub struct ClaimWord {
    /// Bits [`READY`] and [`CLAIMED`]. Written by all threads. A fence follows the announcement of
    /// work, because a thread that goes to sleep looks at the words of all work after its own
    /// announcement ([`crate::ThreadLevel`]).
    word: AtomicU32,
}

/// Work was announced since the last claim began.
const READY: u32 = 1;

/// A thread holds the claim.
const CLAIMED: u32 = 2;

impl ClaimWord {
    /// Announces work. `true`: nobody holds the claim and nobody has announced work before, so the
    /// caller sees to it that a thread looks.
    #[inline]
    pub fn notify(&self) -> bool {
        let is_first = self.word.fetch_or(READY, Ordering::AcqRel) == 0;
        if is_first {
            fence(Ordering::SeqCst); // [sleep]
        }
        is_first
    }

    /// Whether there is work that no thread has claimed.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.word.load(Ordering::Acquire) == READY
    }

    /// Claims the work, whether any is announced or not. `false`: another thread has it.
    #[inline]
    pub fn try_claim(&self) -> bool {
        let mut found = self.word.load(Ordering::Relaxed);
        while found & CLAIMED == 0 {
            let claimed = self.word.compare_exchange(
                found,
                CLAIMED,
                Ordering::Acquire, // [claim]
                Ordering::Relaxed,
            );
            match claimed {
                Ok(_) => return true,
                Err(now) => found = now,
            }
        }
        false
    }

    /// Gives the claim back; `has_more`: there is work left. Called by the holder alone.
    #[inline]
    pub fn release(&self, has_more: bool) {
        if has_more {
            self.word.store(READY, Ordering::Release); // [claim]
        } else {
            self.word.fetch_and(!CLAIMED, Ordering::Release); // [claim]
        }
    }
}
