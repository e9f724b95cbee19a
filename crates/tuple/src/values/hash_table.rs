//! The hash table below sets and maps: entries in order of insertion, and an [`HashIndex`] of their
//! keys.

use super::hash_index::HashIndex;
use super::key::LookupKey;
use crate::Value;

/// An entry of a table, found by its key.
pub(crate) trait HasKey {
    /// Key by which the entry is found.
    fn key(&self) -> &Value;
}

impl HasKey for Value {
    fn key(&self) -> &Value {
        self
    }
}

/// Entries in order of insertion, found by their keys.
#[derive(Clone, Debug)]
pub(crate) struct HashTable<E> {
    pub(crate) entries: Vec<E>,
    pub(crate) index: HashIndex,
}

impl<E> Default for HashTable<E> {
    fn default() -> HashTable<E> {
        HashTable {
            entries: Vec::new(),
            index: HashIndex::default(),
        }
    }
}

impl<E: HasKey> HashTable<E> {
    /// Position of the entry of a key.
    #[inline]
    pub(crate) fn find(&self, key: &(impl LookupKey + ?Sized)) -> Option<usize> {
        self.find_word(key.word(), key)
    }

    /// Position of the entry of a key with this word.
    #[inline]
    pub(crate) fn find_word(&self, word: u64, key: &(impl LookupKey + ?Sized)) -> Option<usize> {
        let is_it = |at: usize| self.entries.get(at).is_some_and(|e| key.matches(e.key()));
        self.index.find(word, is_it)
    }

    /// The entry of a key.
    #[inline]
    pub(crate) fn get(&self, key: &(impl LookupKey + ?Sized)) -> Option<&E> {
        self.entries.get(self.find(key)?)
    }

    /// The entry of a key, for change of what is not the key.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: &(impl LookupKey + ?Sized)) -> Option<&mut E> {
        let at = self.find(key)?;
        self.entries.get_mut(at)
    }

    /// Appends an entry, of a key with this word that has none.
    pub(crate) fn push(&mut self, word: u64, entry: E) {
        let at = self.entries.len();
        self.make_room(at + 1);
        self.entries.push(entry);
        if self.index.add(word, at) {
            self.spread_keys();
        }
    }

    /// Takes the entry of a key out; the last one moves into its place.
    pub(crate) fn swap_remove(&mut self, key: &(impl LookupKey + ?Sized)) -> Option<E> {
        let word = key.word();
        let at = self.find_word(word, key)?;
        self.index.remove(word, at);
        let entry = self.entries.swap_remove(at);
        if let Some(moved) = self.entries.get(at) {
            let word = moved.key().word();
            self.index.set(word, self.entries.len(), at);
        }
        Some(entry)
    }

    /// Drops all entries; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.index.clear();
    }

    /// Makes room for more entries.
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.entries.reserve(additional);
        self.make_room(self.entries.len() + additional);
    }

    /// Drops the entries that do not satisfy a predicate; the order of the rest stays.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut E) -> bool) {
        // First, for `keep` may panic: no slot leads to where no entry is.
        self.index.clear();
        self.entries.retain_mut(keep);
        self.rebuild_index();
    }

    fn make_room(&mut self, len: usize) {
        if self.index.reserve(len) {
            self.spread_keys();
        }
    }

    /// Takes other multipliers until the keys are not crowded.
    fn spread_keys(&mut self) {
        while self.index.switch_multiplier() && self.rebuild_index() {}
    }

    /// Whether the keys are crowded.
    fn rebuild_index(&mut self) -> bool {
        let words = self.entries.iter().map(|entry| entry.key().word());
        self.index.add_all(words)
    }
}
