//! Index of a small table: each entry has a slot of its own, where one multiplication leads to.
//!
//! ```text
//!   word = first word of the key; for each further one: word = word * HASH_MULTIPLIER ^ further
//!   slots[word * multiplier >> shift] = id of the entry (0: free)
//! ```
//! Groups and partitions are often few. [`super::index::Index`] takes some fifty instructions for
//! each search, and this index ten: an entry that is added where another is makes it look for
//! a multiplier, or for more slots, by which none meets another. It serves compiled code, which
//! goes on with the other index if it does not find the key here, so it may be without any entry.

use super::key_layout::{HASH_MULTIPLIER, hash_seed};

/// Most entries: with more, it takes too many slots to keep them apart.
const ENTRIES_MAX: usize = 32;

/// Numbers of slots, as powers of two: at first, and at most (4 KiB).
const FIRST_BITS: u32 = 4;
const BITS_MAX: u32 = 10;

/// Multipliers that are tried for each number of slots. For 32 entries in 1,024 slots each of them
/// succeeds with a probability of 0.6.
const TRIALS: u32 = 8;

/// Ids of the entries of a small table, by their keys.
#[derive(Debug)]
pub(super) struct DirectIndex {
    /// Words of keys, and ids.
    entries: Vec<(u64, u32)>,
    /// Ids by slot; none while the index is not in use.
    slots: Vec<u32>,
    multiplier: u64,
    shift: u32,
    /// Whether the table had too many entries, and was not empty since.
    is_off: bool,
}

/// The index of a small table, as compiled code reads it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct DirectSlots {
    /// Address of the first slot, a uint32; 0 if there are none.
    pub slots: usize,
    /// Factor of the word of a key.
    pub multiplier: u64,
    /// By how many bits the product is shifted to be the number of a slot.
    pub shift: u32,
}

impl DirectIndex {
    /// An index without entries.
    pub(super) fn new() -> DirectIndex {
        DirectIndex {
            entries: Vec::new(),
            slots: Vec::new(),
            multiplier: hash_seed() | 1,
            shift: u64::BITS - FIRST_BITS,
            is_off: false,
        }
    }

    /// Bytes of memory that the index takes.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u64, u32)>() + self.slots.capacity() * size_of::<u32>()
    }

    pub(super) fn slots(&self) -> DirectSlots {
        let slots = match self.slots.is_empty() {
            true => 0,
            false => self.slots.as_ptr().expose_provenance(),
        };
        DirectSlots {
            slots,
            multiplier: self.multiplier,
            shift: self.shift,
        }
    }

    /// Adds an entry, given the words of its key, which no other entry has.
    pub(super) fn insert(&mut self, key: &[u64], id: u32) {
        if self.is_off {
            return;
        }
        let is_full = self.entries.len() == ENTRIES_MAX;
        if is_full || self.entries.try_reserve(1).is_err() {
            return self.turn_off();
        }
        let word = word_of(key);
        self.entries.push((word, id));
        let place = self.place(word);
        match self.slots.get_mut(place) {
            Some(slot @ 0) => *slot = id,
            _ => self.keep_apart(),
        }
    }

    /// Removes an entry, given the words of its key; `is_last` says that the table has no other.
    pub(super) fn remove(&mut self, key: &[u64], id: u32, is_last: bool) {
        if self.is_off {
            self.is_off = !is_last;
            return;
        }
        let place = self.place(word_of(key));
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = 0;
        }
        self.entries.retain(|entry| entry.1 != id);
    }

    fn place(&self, word: u64) -> usize {
        (word.wrapping_mul(self.multiplier) >> self.shift) as usize
    }

    /// Gives each entry a slot of its own, or gives the index up.
    fn keep_apart(&mut self) {
        let bits = (u64::BITS - self.shift).max(FIRST_BITS);
        for bits in bits..=BITS_MAX {
            self.slots.clear();
            if self.slots.try_reserve_exact(1 << bits).is_err() {
                break;
            }
            self.slots.resize(1 << bits, 0);
            self.shift = u64::BITS - bits;
            if (0..TRIALS).any(|_| self.fill()) {
                return;
            }
        }
        self.turn_off();
    }

    /// Puts all entries into slots by another multiplier. Whether none meets another.
    fn fill(&mut self) -> bool {
        self.multiplier = self.multiplier.wrapping_mul(HASH_MULTIPLIER);
        self.slots.fill(0);
        self.entries.iter().all(|&(word, id)| {
            let place = (word.wrapping_mul(self.multiplier) >> self.shift) as usize;
            std::mem::replace(&mut self.slots[place], id) == 0
        })
    }

    /// Forgets the entries, and gives back the memory.
    fn turn_off(&mut self) {
        *self = DirectIndex {
            is_off: true,
            ..DirectIndex::new()
        };
    }
}

/// The words of a key in one.
fn word_of(key: &[u64]) -> u64 {
    let words = key.iter().copied();
    words
        .reduce(|word, further| word.wrapping_mul(HASH_MULTIPLIER) ^ further)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(index: &DirectIndex, key: &[u64]) -> Option<u32> {
        index.slots.get(index.place(word_of(key))).copied()
    }

    #[test]
    fn each_entry_has_a_slot_of_its_own_until_there_are_too_many() {
        let mut index = DirectIndex::new();
        let key = |id: u32| [u64::from(id % 5), u64::from(id) << 40];
        for count in 1..=ENTRIES_MAX as u32 {
            index.insert(&key(count), count);
            for id in 1..=count {
                assert_eq!(find(&index, &key(id)), Some(id), "of {count}");
            }
        }
        assert!(index.slots.len() <= 1 << BITS_MAX);
        index.insert(&key(100), 100);
        assert_eq!((index.slots().slots, index.bytes()), (0, 0));
        index.remove(&key(3), 3, false);
        index.insert(&key(3), 3);
        assert_eq!(find(&index, &key(3)), None);
        // An empty table is a small one again.
        index.remove(&key(3), 3, true);
        index.insert(&key(4), 4);
        assert_eq!(find(&index, &key(4)), Some(4));
    }

    #[test]
    fn a_removed_entry_is_not_found() {
        let mut index = DirectIndex::new();
        for id in 1..=20 {
            index.insert(&[u64::from(id)], id);
        }
        for id in (1..=20).step_by(2) {
            index.remove(&[u64::from(id)], id, false);
        }
        for id in 1..=20 {
            let is_there = id % 2 == 0;
            assert_eq!(find(&index, &[u64::from(id)]) == Some(id), is_there, "{id}");
        }
    }

    #[test]
    fn keys_with_equal_words_turn_it_off() {
        let mut index = DirectIndex::new();
        index.insert(&[0, HASH_MULTIPLIER], 1);
        index.insert(&[1, 0], 2);
        assert_eq!(index.slots().slots, 0);
    }
}
