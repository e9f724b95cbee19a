//! The bump arena of a handle: the bytes of strings and lists that compiled code makes.
//!
//! ```text
//!   chunks[0]            chunks[last]
//!   +-----------------+  +--------------------+
//!   | used            |  | used   | free      |
//!   +-----------------+  +--------------------+
//!                                 ^ bump       ^ limit     (both in the Env, for compiled code)
//! ```
//! Compiled code takes bytes by moving `bump` and calls [`Arena::grow`] when `limit` is in the way.
//! A mark is a value of `bump`; going back to it gives everything taken since back. The largest
//! chunk given back is kept, up to a gigabyte, so a handle in its steady state never calls the
//! allocator. Debug builds fill what is given back ([`FREED_PATTERN`]), so that code which still
//! reads it is found out.

/// Size of the first chunk, in bytes; each further chunk is at least twice as large, up to
/// [`CHUNK_BYTES_MAX`].
const FIRST_CHUNK_BYTES: usize = 4096;

/// Size of the largest chunk that is made for less and of the largest that is kept as spare, in
/// bytes. So the room that is left in a chunk is below the greatest length of a string, and code
/// that makes one too long calls [`Arena::grow`].
const CHUNK_BYTES_MAX: usize = 1 << 30;

/// Word that debug builds write over memory that is given back: neither an address nor text.
const FREED_PATTERN: u64 = 0xfdfd_fdfd_fdfd_fdfd;

/// The part that compiled code reads and writes.
#[derive(Debug)]
#[repr(C)]
pub struct Bump {
    /// The next free byte; a multiple of 8.
    pub next: usize,
    /// The end of the current chunk.
    pub limit: usize,
}

/// Bytes that last until the function that a handle calls returns, or until a loop's turn ends.
#[derive(Debug, Default)]
pub struct Arena {
    chunks: Vec<Box<[u64]>>,
    /// The largest chunk up to [`CHUNK_BYTES_MAX`] that was given back, so that growing again costs
    /// nothing.
    spare: Option<Box<[u64]>>,
}

impl Bump {
    /// State for an arena without chunks.
    pub const EMPTY: Bump = Bump { next: 0, limit: 0 };
}

impl Arena {
    /// Takes bytes, with a new chunk if need be. Returns their address, a multiple of 8.
    pub fn allocate(&mut self, bump: &mut Bump, bytes: usize) -> *mut u8 {
        let bytes = bytes.next_multiple_of(8);
        if bump.limit - bump.next < bytes || bump.limit == 0 {
            self.grow(bump, bytes);
        }
        let taken = bump.next;
        bump.next += bytes;
        std::ptr::with_exposed_provenance_mut(taken)
    }

    /// Starts a chunk that has room for at least `bytes` bytes.
    fn grow(&mut self, bump: &mut Bump, bytes: usize) {
        let spare = self.spare.take_if(|spare| spare.len() * 8 >= bytes);
        let mut chunk = spare.unwrap_or_else(|| {
            let last = self
                .chunks
                .last()
                .map_or(FIRST_CHUNK_BYTES / 2, |c| c.len() * 8);
            let wanted = (2 * last).min(CHUNK_BYTES_MAX).max(bytes);
            vec![0u64; wanted / 8].into_boxed_slice()
        });
        bump.next = chunk.as_mut_ptr().expose_provenance();
        bump.limit = bump.next + chunk.len() * 8;
        self.chunks.push(chunk);
    }

    /// Gives back the bytes taken since `bump.next` was `mark` (0: since the beginning).
    pub fn reset(&mut self, bump: &mut Bump, mark: usize) {
        // Of the last chunk; those before it count as used up.
        let mut used = bump.next;
        while let Some(mut chunk) = self.chunks.pop() {
            let start = chunk.as_ptr().addr();
            let end = start + chunk.len() * 8;
            let holds_mark = start <= mark && mark <= end;
            if cfg!(debug_assertions) {
                let kept = if holds_mark { mark } else { start };
                let used = std::mem::replace(&mut used, usize::MAX).clamp(kept, end);
                chunk[(kept - start) / 8..(used - start) / 8].fill(FREED_PATTERN);
            }
            if holds_mark {
                *bump = Bump {
                    next: mark,
                    limit: end,
                };
                self.chunks.push(chunk);
                return;
            }
            let spare_len = self.spare.as_ref().map_or(0, |spare| spare.len());
            if spare_len < chunk.len() && chunk.len() * 8 <= CHUNK_BYTES_MAX {
                self.spare = Some(chunk);
            }
        }
        *bump = Bump::EMPTY;
        if self.spare.is_some() {
            self.grow(bump, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_and_gives_back() {
        let mut arena = Arena::default();
        let mut bump = Bump::EMPTY;
        let first = arena.allocate(&mut bump, 5);
        let mark = bump.next;
        let second = arena.allocate(&mut bump, 16);
        assert_eq!(second.addr() - first.addr(), 8);
        arena.allocate(&mut bump, 100_000);
        arena.reset(&mut bump, mark);
        assert_eq!(arena.allocate(&mut bump, 1), second);
    }

    #[test]
    #[cfg(debug_assertions)]
    fn what_is_given_back_is_filled() {
        let mut arena = Arena::default();
        let mut bump = Bump::EMPTY;
        arena.allocate(&mut bump, 8);
        let mark = bump.next;
        arena.allocate(&mut bump, 64);
        arena.reset(&mut bump, mark);
        let freed = |words: &[u64]| words.iter().filter(|&&word| word == FREED_PATTERN).count();
        assert_eq!(freed(&arena.chunks[0][1..9]), 8);
        assert_eq!(freed(&arena.chunks[0]), 8, "nothing else was taken");
        arena.reset(&mut bump, 0);
        assert_eq!(freed(&arena.chunks[0]), 9);
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_chunk_is_filled_as_far_as_it_was_used() {
        let mut arena = Arena::default();
        let mut bump = Bump::EMPTY;
        arena.allocate(&mut bump, 8);
        arena.allocate(&mut bump, 1 << 20);
        arena.reset(&mut bump, 0);
        assert!(arena.chunks[0].iter().all(|&word| word == FREED_PATTERN));
        arena.chunks[0].fill(1);
        for _ in 0..3 {
            arena.allocate(&mut bump, 24);
            arena.reset(&mut bump, 0);
        }
        let filled = arena.chunks[0]
            .iter()
            .filter(|&&word| word == FREED_PATTERN);
        assert_eq!(filled.count(), 3);
    }

    #[test]
    fn keeps_memory_over_a_whole_reset() {
        let mut arena = Arena::default();
        let mut bump = Bump::EMPTY;
        for _ in 0..3 {
            arena.allocate(&mut bump, 100_000);
            arena.reset(&mut bump, 0);
        }
        let first = arena.allocate(&mut bump, 100_000);
        arena.reset(&mut bump, 0);
        assert_eq!(arena.allocate(&mut bump, 100_000), first);
    }

    #[test]
    fn a_chunk_of_more_than_a_gigabyte_is_not_kept() {
        let mut arena = Arena::default();
        let mut bump = Bump::EMPTY;
        for bytes in [8, CHUNK_BYTES_MAX + 8] {
            let start = arena.allocate(&mut bump, bytes);
            // As if nothing of it had been taken, so that debug builds do not fill it.
            bump.next = start.addr();
        }
        arena.reset(&mut bump, 0);
        assert_eq!(bump.limit - bump.next, FIRST_CHUNK_BYTES);
    }
}
