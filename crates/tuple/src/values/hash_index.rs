//! The index of a hash table: from a key to the position of its entry.
//!
//! ```text
//!   word of the key * multiplier = | home slot ...  tag | ...         |
//!                                    <----- 32 bits ----> <- 32 bits ->
//!   slots                         entries (of the table)
//!   +----------+----------+       +-----------+
//!   | tag, odd | position | ----> | key ...   |
//!   +----------+----------+       +-----------+
//!   | 0        | 0        |       | ...       |       a free slot
//!   +----------+----------+       +-----------+
//! ```
//! A search begins at the home slot, the highest bits of the product, and goes on from slot to slot
//! up to a free one. At most half of the slots are taken.
//!
//! # Why this way
//! Compiled code searches for integers itself, so the table has to lie open; those of libraries are
//! theirs to change. A multiplication is all it takes to hash an integer, and by the golden ratio
//! it spreads keys that follow each other so evenly that nearly each has a slot to itself. Some
//! stride of keys is bad for any multiplier, and about one in five for each: when a search is long,
//! or those of a table that grows are long on average, another one is taken, until all were.
//!
//! # Invariants
//! Each position has one slot, and no slot between that and its home slot is free. The position in
//! a free slot is 0. So as long as there are entries, every slot, free or not, leads to an entry,
//! and an entry with the right key is the right one. A table that has just grown, or has just taken
//! another multiplier, is not crowded: its searches look at [`CROWDED_SEARCH_FACTOR`] slots on
//! average at most. There is no such bound for a single search, nor for keys that all multipliers
//! crowd; of 1,000 strides at random, which a test tries, none needs more than seven multipliers.

/// The odd numbers that words are multiplied with. The first is 2^64 divided by the golden ratio,
/// the others are those of known hash functions. Four are not enough: a test has two strides
/// that are bad for each of the first four.
pub(super) const MULTIPLIERS: [u64; 12] = [
    0x9E37_79B9_7F4A_7C15,
    0xF135_7AEA_2E62_A9C5,
    0xD6E8_FEB8_6659_FD93,
    0xBF58_476D_1CE4_E5B9,
    0x94D0_49BB_1331_11EB,
    0xFF51_AFD7_ED55_8CCD,
    0xC4CE_B9FE_1A85_EC53,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
    0x5851_F42D_4C95_7F2D,
];

/// A search of more slots than this many times the bits of a slot's number is long: where keys lie
/// at random there is none.
pub(super) const LONG_SEARCH_FACTOR: usize = 4;

/// A table with a quarter of its slots taken is crowded if its searches look at more slots than
/// this on average. At random it is 1.17: (1 + 1 / (1 - share)) / 2 for a share of taken slots
/// (Knuth, The Art of Computer Programming, volume 3, section 6.4, on linear probing).
pub(super) const CROWDED_SEARCH_FACTOR: usize = 2;

/// The fewest slots, unless there are none.
const SLOTS_MIN: usize = 8;

/// The most slots: a tag holds no more bits of the home slot.
const SLOTS_MAX: usize = 1 << 31;

/// Map from words of keys to positions of entries.
#[derive(Clone, Debug)]
pub(crate) struct HashIndex {
    /// A tag and a position each; as many as a power of 2, or none.
    pub(crate) slots: Vec<u64>,
    /// 64 less the bits of a slot's number.
    pub(crate) shift: u32,
    /// Member of [`MULTIPLIERS`] that words are multiplied with.
    pub(crate) multiplier: u64,
}

impl Default for HashIndex {
    fn default() -> HashIndex {
        HashIndex {
            slots: Vec::new(),
            shift: u64::BITS - 1,
            multiplier: MULTIPLIERS[0],
        }
    }
}

impl HashIndex {
    /// The position with this word that satisfies a condition.
    #[inline]
    pub(crate) fn find(&self, word: u64, is_it: impl FnMut(usize) -> bool) -> Option<usize> {
        self.find_slot(word, is_it)
            .map(|slot| position(self.slots[slot]))
    }

    /// Adds a position. The caller has made room for it, and it is not there yet. Returns whether
    /// the search was long.
    pub(crate) fn add(&mut self, word: u64, at: usize) -> bool {
        let bits = (u64::BITS - self.shift) as usize;
        self.put_word(word, at) > LONG_SEARCH_FACTOR * bits
    }

    /// Adds the positions from 0 on, after [`HashIndex::clear`]. Whether they are crowded.
    pub(crate) fn add_all(&mut self, words: impl ExactSizeIterator<Item = u64>) -> bool {
        let len = words.len();
        let looks = words.enumerate().map(|(at, word)| self.put_word(word, at));
        looks.sum::<usize>() > CROWDED_SEARCH_FACTOR * len
    }

    /// Takes a position out.
    pub(crate) fn remove(&mut self, word: u64, at: usize) {
        if let Some(slot) = self.find_slot(word, |found| found == at) {
            self.free_slot(slot);
        }
    }

    /// Sets another position in place of one.
    pub(crate) fn set(&mut self, word: u64, from: usize, to: usize) {
        if let Some(slot) = self.find_slot(word, |found| found == from) {
            self.slots[slot] = tag(self.slots[slot]) << 32 | to as u64;
        }
    }

    /// Takes all positions out; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(0);
    }

    /// Makes room for positions. Returns whether the present ones turned out to be crowded.
    pub(crate) fn reserve(&mut self, positions: usize) -> bool {
        if 2 * positions <= self.slots.len() {
            return false;
        }
        let slots = (2 * positions).next_power_of_two().max(SLOTS_MIN);
        assert!(slots <= SLOTS_MAX, "a set or map of more than 2^30 entries");
        let before = std::mem::replace(&mut self.slots, vec![0; slots]);
        self.shift = u64::BITS - slots.trailing_zeros();
        let (mut len, mut looks) = (0, 0);
        for slot in before.into_iter().filter(|slot| *slot != 0) {
            len += 1;
            looks += self.put_slot(slot);
        }
        looks > CROWDED_SEARCH_FACTOR * len
    }

    /// Takes the next multiplier, if there is one: all positions have to be added again.
    pub(crate) fn switch_multiplier(&mut self) -> bool {
        let next = MULTIPLIERS.iter().position(|m| *m == self.multiplier);
        let Some(multiplier) = next.and_then(|at| MULTIPLIERS.get(at + 1)) else {
            return false;
        };
        self.multiplier = *multiplier;
        self.clear();
        true
    }

    #[inline]
    fn find_slot(&self, word: u64, mut is_it: impl FnMut(usize) -> bool) -> Option<usize> {
        let product = word.wrapping_mul(self.multiplier);
        let wanted = tag(slot_of(product, 0));
        let mut at = (product >> self.shift) as usize;
        loop {
            // There is none if there are no slots at all.
            let slot = *self.slots.get(at)?;
            if slot == 0 {
                return None;
            }
            if tag(slot) == wanted && is_it(position(slot)) {
                return Some(at);
            }
            at = self.next_slot(at);
        }
    }

    fn put_word(&mut self, word: u64, at: usize) -> usize {
        self.put_slot(slot_of(word.wrapping_mul(self.multiplier), at))
    }

    /// Puts what a slot holds into the first free one from its home on; how many slots were looked
    /// at.
    fn put_slot(&mut self, slot: u64) -> usize {
        let home = self.home_slot(slot);
        let mut at = home;
        while self.slots[at] != 0 {
            at = self.next_slot(at);
        }
        self.slots[at] = slot;
        self.distance(home, at) + 1
    }

    /// Frees a slot. Those behind that were pushed on by it move up.
    fn free_slot(&mut self, mut gap: usize) {
        let mut at = self.next_slot(gap);
        while self.slots[at] != 0 {
            let home = self.home_slot(self.slots[at]);
            if self.distance(home, at) >= self.distance(gap, at) {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
            at = self.next_slot(at);
        }
        self.slots[gap] = 0;
    }

    /// Slot at which the search for the content of a slot begins.
    fn home_slot(&self, slot: u64) -> usize {
        (slot >> self.shift) as usize
    }

    fn next_slot(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    /// Number of slots that the searches for all positions look at together.
    #[cfg(test)]
    pub(crate) fn search_slots(&self) -> usize {
        let taken = (0..self.slots.len()).filter(|&at| self.slots[at] != 0);
        let each = taken.map(|at| self.distance(self.home_slot(self.slots[at]), at) + 1);
        each.sum()
    }

    /// How many slots on from one the other is.
    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.slots.len() - 1)
    }
}

/// Bits of a slot for a product and a position.
fn slot_of(product: u64, at: usize) -> u64 {
    product >> 32 << 32 | 1 << 32 | at as u64
}

/// The tag of a taken slot: the high half of the product, made odd so that no taken slot is 0.
fn tag(slot: u64) -> u64 {
    slot >> 32
}

fn position(slot: u64) -> usize {
    slot as u32 as usize
}
