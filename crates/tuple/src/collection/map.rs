//! `map<K, V>`: an insertion-ordered hash map.

use std::hash::{BuildHasher, Hash, Hasher};

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::key::{Bytes, Signed, Unsigned};
use super::{Key, KeyHasher};
use crate::Value;

/// `map<K, V>`: an insertion-ordered hash map. Equality does not depend on the order.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Boxed so that a `Value` stays small.
    entries: Box<IndexMap<Value, Value, KeyHasher>>,
}

impl Map {
    /// An empty map.
    pub fn new() -> Map {
        Map::default()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.entries.get(key)
    }

    /// The value of a key, for change in place.
    pub fn get_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.entries.get_mut(key)
    }

    /// The value of a borrowed key.
    pub fn get_key(&self, key: Key<'_>) -> Option<&Value> {
        self.entries.get(&key)
    }

    /// The value of a borrowed key, for change in place.
    pub fn get_key_mut(&mut self, key: Key<'_>) -> Option<&mut Value> {
        self.entries.get_mut(&key)
    }

    /// The value of a signed integer of any width.
    #[inline]
    pub fn get_i64(&self, key: i64) -> Option<&Value> {
        self.entries.get(&Signed(key))
    }

    /// The value of a signed integer of any width, for change in place.
    #[inline]
    pub fn get_i64_mut(&mut self, key: i64) -> Option<&mut Value> {
        self.entries.get_mut(&Signed(key))
    }

    /// The value of an unsigned integer of any width.
    #[inline]
    pub fn get_u64(&self, key: u64) -> Option<&Value> {
        self.entries.get(&Unsigned(key))
    }

    /// The value of an unsigned integer of any width, for change in place.
    #[inline]
    pub fn get_u64_mut(&mut self, key: u64) -> Option<&mut Value> {
        self.entries.get_mut(&Unsigned(key))
    }

    /// The value of an rstring or blob.
    #[inline]
    pub fn get_bytes(&self, key: &[u8]) -> Option<&Value> {
        self.entries.get(&Bytes(key))
    }

    /// The value of an rstring or blob, for change in place.
    #[inline]
    pub fn get_bytes_mut(&mut self, key: &[u8]) -> Option<&mut Value> {
        self.entries.get_mut(&Bytes(key))
    }

    /// Whether there is an entry of this key.
    pub fn contains(&self, key: &Value) -> bool {
        self.entries.contains_key(key)
    }

    /// Whether there is an entry of this borrowed key.
    pub fn contains_key(&self, key: Key<'_>) -> bool {
        self.entries.contains_key(&key)
    }

    /// Inserts, or replaces the value of a key (whose place stays). What was there comes back.
    pub fn insert(&mut self, key: Value, value: Value) -> Option<Value> {
        self.entries.insert(key, value)
    }

    /// The value of a key, inserted first if there is none.
    pub fn get_or_insert_with(&mut self, key: Value, value: impl FnOnce() -> Value) -> &mut Value {
        match self.entries.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(value()),
        }
    }

    /// Removes an entry; the last one moves into its place.
    pub fn remove(&mut self, key: &Value) -> Option<Value> {
        self.entries.swap_remove(key)
    }

    /// Removes by a borrowed key, as [`Map::remove`] does.
    pub fn remove_key(&mut self, key: Key<'_>) -> Option<Value> {
        self.entries.swap_remove(&key)
    }

    /// The entry at a position of the iteration order.
    pub fn get_index(&self, at: usize) -> Option<(&Value, &Value)> {
        self.entries.get_index(at)
    }

    /// The entries in order of insertion.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Value, &Value)> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The keys in order of insertion.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.entries.keys()
    }

    /// The values in order of insertion.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.entries.values()
    }

    /// The values for change in place, in order of insertion.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Value> {
        self.entries.values_mut()
    }

    /// Drops all entries; keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Makes room for more entries.
    pub fn reserve(&mut self, additional: usize) {
        self.entries.reserve(additional);
    }

    /// Drops the entries that do not satisfy a predicate; the order of the rest stays.
    pub fn retain(&mut self, keep: impl FnMut(&Value, &mut Value) -> bool) {
        self.entries.retain(keep);
    }

    /// SPL's `==` on two maps: the same keys, with values equal by [`Value::spl_eq`].
    pub fn spl_eq(&self, other: &Map) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .all(|(k, v)| other.get(k).is_some_and(|o| v.spl_eq(o)))
    }
}

impl FromIterator<(Value, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> Map {
        Map {
            entries: Box::new(entries.into_iter().collect()),
        }
    }
}

impl Extend<(Value, Value)> for Map {
    fn extend<I: IntoIterator<Item = (Value, Value)>>(&mut self, entries: I) {
        self.entries.extend(entries);
    }
}

impl IntoIterator for Map {
    type Item = (Value, Value);
    type IntoIter = indexmap::map::IntoIter<Value, Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        self.entries == other.entries
    }
}

impl Eq for Map {}

/// A sum over the entries, for their order must not count.
impl Hash for Map {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let hashes = self
            .iter()
            .map(|entry| KeyHasher::default().hash_one(entry));
        state.write_u64(hashes.fold(self.len() as u64, u64::wrapping_add));
    }
}
