//! Index of a small table: each entry has a slot of its own, where one multiplication leads to.
//!
//! ```text
//!   word = first word of the key; for each further one: word = word * HASH_MULTIPLIER ^ further
//!   slots[word * multiplier >> shift] = address and id of the entry (0: free)
//! ```
//! Groups and partitions are often few. [`super::index::Index`] takes some fifty instructions for
//! each search, and this index ten: an entry that is added where another is makes it look for
//! a multiplier, or for more slots, by which none meets another. It serves compiled code, which
//! goes on with the other index if it does not find the key here, so it may be without any entry.
//!
//! The address saves the two loads that lead from an id to an entry, one after the other. Entries
//! keep theirs but for the first few of a table, whose page is doubled: then all are asked anew.

use super::key_layout::{HASH_MULTIPLIER, hash_seed};

/// Most entries: with more, it takes too many slots to keep them apart.
const ENTRIES_MAX: usize = 32;

/// Numbers of slots, as powers of two: at first, and at most (16 KiB).
const FIRST_BITS: u32 = 4;
const BITS_MAX: u32 = 10;

/// Multipliers that are tried for each number of slots. For 32 entries in 1,024 slots each of them
/// succeeds with a probability of 0.6.
const TRIALS: u32 = 8;

/// Entries of a small table, by their keys.
#[derive(Debug)]
pub(super) struct DirectIndex {
    /// Words of keys, and what their slots have.
    entries: Vec<(u64, DirectSlot)>,
    /// Slots by number; none while the index is not in use.
    slots: Vec<DirectSlot>,
    multiplier: u64,
    shift: u32,
    /// How often the table's entries had moved when their addresses were taken.
    moves: u64,
    /// Whether the table had too many entries, and was not empty since.
    is_off: bool,
}

/// The index of a small table, as compiled code reads it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct DirectSlots {
    /// Address of the first slot, a [`DirectSlot`]; 0 if there are none.
    pub slots: usize,
    /// Factor of the word of a key.
    pub multiplier: u64,
    /// By how many bits the product is shifted to be the number of a slot.
    pub shift: u32,
}

/// An entry in the index of a small table, as compiled code reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct DirectSlot {
    /// Address of the entry; 0 in a free slot.
    pub entry: usize,
    /// Id of the entry; 0 in a free slot.
    pub id: u32,
}

impl DirectSlot {
    fn is_free(self) -> bool {
        self.id == 0
    }
}

impl DirectIndex {
    /// An index without entries.
    pub(super) fn new() -> DirectIndex {
        DirectIndex {
            entries: Vec::new(),
            slots: Vec::new(),
            multiplier: hash_seed() | 1,
            shift: u64::BITS - FIRST_BITS,
            moves: 0,
            is_off: false,
        }
    }

    /// Bytes of memory that the index takes.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u64, DirectSlot)>()
            + self.slots.capacity() * size_of::<DirectSlot>()
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
    pub(super) fn insert(&mut self, key: &[u64], new: DirectSlot) {
        if self.is_off {
            return;
        }
        let is_full = self.entries.len() == ENTRIES_MAX;
        if is_full || self.entries.try_reserve(1).is_err() {
            return self.turn_off();
        }
        let word = word_of(key);
        self.entries.push((word, new));
        let place = self.place(word);
        match self.slots.get_mut(place) {
            Some(slot) if slot.is_free() => *slot = new,
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
            *slot = DirectSlot::default();
        }
        self.entries.retain(|(_, slot)| slot.id != id);
    }

    /// Takes the addresses of all entries anew if the table's have moved more often than before.
    pub(super) fn follow_moves(&mut self, moves: u64, address_of: impl Fn(u32) -> usize) {
        if moves == self.moves {
            return;
        }
        self.moves = moves;
        for at in 0..self.entries.len() {
            let (word, slot) = &mut self.entries[at];
            slot.entry = address_of(slot.id);
            let (word, slot) = (*word, *slot);
            let place = self.place(word);
            if let Some(own) = self.slots.get_mut(place) {
                *own = slot;
            }
        }
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
            self.slots.resize(1 << bits, DirectSlot::default());
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
        self.slots.fill(DirectSlot::default());
        self.entries.iter().all(|&(word, slot)| {
            let place = (word.wrapping_mul(self.multiplier) >> self.shift) as usize;
            std::mem::replace(&mut self.slots[place], slot).is_free()
        })
    }

    /// Forgets the entries, and gives back the memory.
    fn turn_off(&mut self) {
        *self = DirectIndex {
            is_off: true,
            moves: self.moves,
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
        let slot = index.slots.get(index.place(word_of(key)))?;
        assert_eq!(slot.entry, address(slot.id));
        Some(slot.id)
    }

    /// An address as if each entry had 16 bytes.
    fn address(id: u32) -> usize {
        16 * id as usize
    }

    fn slot(id: u32) -> DirectSlot {
        let entry = address(id);
        DirectSlot { entry, id }
    }

    #[test]
    fn each_entry_has_a_slot_of_its_own_until_there_are_too_many() {
        let mut index = DirectIndex::new();
        let key = |id: u32| [u64::from(id % 5), u64::from(id) << 40];
        for count in 1..=ENTRIES_MAX as u32 {
            index.insert(&key(count), slot(count));
            for id in 1..=count {
                assert_eq!(find(&index, &key(id)), Some(id), "of {count}");
            }
        }
        assert!(index.slots.len() <= 1 << BITS_MAX);
        index.insert(&key(100), slot(100));
        assert_eq!((index.slots().slots, index.bytes()), (0, 0));
        index.remove(&key(3), 3, false);
        index.insert(&key(3), slot(3));
        assert_eq!(find(&index, &key(3)), None);
        // An empty table is a small one again.
        index.remove(&key(3), 3, true);
        index.insert(&key(4), slot(4));
        assert_eq!(find(&index, &key(4)), Some(4));
    }

    #[test]
    fn a_removed_entry_is_not_found() {
        let mut index = DirectIndex::new();
        for id in 1..=20 {
            index.insert(&[u64::from(id)], slot(id));
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
    fn entries_that_move_have_other_addresses() {
        let mut index = DirectIndex::new();
        let key = |id: u32| [u64::from(id) * 77];
        for id in 1..=20 {
            let entry = 7;
            index.insert(&key(id), DirectSlot { entry, id });
        }
        index.follow_moves(1, address);
        for id in 1..=20 {
            assert_eq!(find(&index, &key(id)), Some(id));
        }
        // As often as before: nothing is asked.
        index.follow_moves(1, |_| 7);
        assert_eq!(find(&index, &key(3)), Some(3));
    }

    #[test]
    fn keys_with_equal_words_turn_it_off() {
        let mut index = DirectIndex::new();
        index.insert(&[0, HASH_MULTIPLIER], slot(1));
        index.insert(&[1, 0], slot(2));
        assert_eq!(index.slots().slots, 0);
    }
}
