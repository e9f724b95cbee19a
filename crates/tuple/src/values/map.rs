//! `map<K, V>`: an insertion-ordered hash map.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::mem::offset_of;

use super::hash_index::HashIndex;
use super::hash_table::{HasKey, HashTable};
use super::key::{BytesKey, IntegerKey, LookupKey};
use super::key_hasher::KeyHasher;
use super::{Key, TableLayout};
use crate::Value;

/// `map<K, V>`: an insertion-ordered hash map. Equality does not depend on the order.
///
/// Entries are visited in order of insertion; a removal moves the last entry into the gap. Keys
/// compare as [`Value`]'s `==` does, so `-0.0` finds `0.0`, and a NaN finds itself. A lookup, an
/// insertion and a removal take constant time on average.
#[derive(Clone, Default)]
pub struct Map {
    /// Boxed so that a `Value` stays small.
    table: Box<HashTable<MapEntry>>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct MapEntry {
    key: Value,
    value: Value,
}

impl HasKey for MapEntry {
    fn key(&self) -> &Value {
        &self.key
    }
}

impl Map {
    /// Offsets in the memory that the one pointer of a map points to.
    pub const LAYOUT: TableLayout = TableLayout {
        entries: offset_of!(HashTable<MapEntry>, entries),
        slots: offset_of!(HashTable<MapEntry>, index) + offset_of!(HashIndex, slots),
        shift: offset_of!(HashTable<MapEntry>, index) + offset_of!(HashIndex, shift),
        multiplier: offset_of!(HashTable<MapEntry>, index) + offset_of!(HashIndex, multiplier),
        entry_bytes: size_of::<MapEntry>(),
        key: offset_of!(MapEntry, key),
        value: offset_of!(MapEntry, value),
    };

    /// A map without entries.
    pub fn new() -> Map {
        Map::default()
    }

    /// Number of entries in the map.
    pub fn len(&self) -> usize {
        self.table.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// The value of a key; `None` if the map has no such key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.table.get(key).map(|entry| &entry.value)
    }

    /// The value of a key, for change in place.
    pub fn get_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.table.get_mut(key).map(|entry| &mut entry.value)
    }

    /// The value of a borrowed key.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{Key, Map, Value};
    ///
    /// let mut map = Map::new();
    /// map.insert(Value::RString("IBM".into()), Value::Int32(100));
    /// assert_eq!(map.get_key(Key::Bytes(b"IBM")), Some(&Value::Int32(100)));
    /// ```
    pub fn get_key(&self, key: Key<'_>) -> Option<&Value> {
        self.table.get(&key).map(|entry| &entry.value)
    }

    /// The value of an integer of any type: a signed one as its two's complement.
    #[inline]
    pub fn get_word(&self, key: u64) -> Option<&Value> {
        self.table.get(&IntegerKey(key)).map(|entry| &entry.value)
    }

    /// The value of an integer of any type, for change in place.
    #[inline]
    pub fn get_word_mut(&mut self, key: u64) -> Option<&mut Value> {
        self.table
            .get_mut(&IntegerKey(key))
            .map(|entry| &mut entry.value)
    }

    /// The value of an rstring or blob.
    #[inline]
    pub fn get_bytes(&self, key: &[u8]) -> Option<&Value> {
        self.table.get(&BytesKey(key)).map(|entry| &entry.value)
    }

    /// The value of an rstring or blob, for change in place.
    #[inline]
    pub fn get_bytes_mut(&mut self, key: &[u8]) -> Option<&mut Value> {
        self.table
            .get_mut(&BytesKey(key))
            .map(|entry| &mut entry.value)
    }

    /// Whether there is an entry of this key.
    pub fn contains(&self, key: &Value) -> bool {
        self.table.find(key).is_some()
    }

    /// Whether there is an entry of this borrowed key.
    pub fn contains_key(&self, key: Key<'_>) -> bool {
        self.table.find(&key).is_some()
    }

    /// Inserts, or replaces the value of a key (whose place stays). What was there comes back.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{Map, Value};
    ///
    /// let mut map = Map::new();
    /// assert_eq!(map.insert(Value::Int32(1), Value::Boolean(true)), None);
    /// let before = map.insert(Value::Int32(1), Value::Boolean(false));
    /// assert_eq!(before, Some(Value::Boolean(true)));
    /// assert_eq!(map.len(), 1);
    /// ```
    pub fn insert(&mut self, key: Value, value: Value) -> Option<Value> {
        let word = key.word();
        match self.table.find_word(word, &key) {
            Some(at) => Some(std::mem::replace(&mut self.table.entries[at].value, value)),
            None => {
                self.table.push(word, MapEntry { key, value });
                None
            }
        }
    }

    /// The value of a key, inserted first if there is none.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{Map, Value};
    ///
    /// let mut counts = Map::new();
    /// for word in ["a", "b", "a"] {
    ///     let count = counts.get_or_insert_with(Value::RString(word.into()), || Value::Int32(0));
    ///     if let Value::Int32(count) = count {
    ///         *count += 1;
    ///     }
    /// }
    /// assert_eq!(counts.get(&Value::RString("a".into())), Some(&Value::Int32(2)));
    /// ```
    pub fn get_or_insert_with(&mut self, key: Value, value: impl FnOnce() -> Value) -> &mut Value {
        let word = key.word();
        let at = match self.table.find_word(word, &key) {
            Some(at) => at,
            None => {
                let value = value();
                self.table.push(word, MapEntry { key, value });
                self.table.entries.len() - 1
            }
        };
        &mut self.table.entries[at].value
    }

    /// Removes an entry; the last one moves into its place.
    pub fn remove(&mut self, key: &Value) -> Option<Value> {
        self.table.swap_remove(key).map(|entry| entry.value)
    }

    /// Removes by a borrowed key, as [`Map::remove`] does.
    pub fn remove_key(&mut self, key: Key<'_>) -> Option<Value> {
        self.table.swap_remove(&key).map(|entry| entry.value)
    }

    /// The entry at a position of the iteration order.
    pub fn get_index(&self, at: usize) -> Option<(&Value, &Value)> {
        let entry = self.table.entries.get(at)?;
        Some((&entry.key, &entry.value))
    }

    /// The entries in order of insertion.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Value, &Value)> + ExactSizeIterator {
        self.table.entries.iter().map(|e| (&e.key, &e.value))
    }

    /// The keys in order of insertion.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.table.entries.iter().map(|entry| &entry.key)
    }

    /// The values in order of insertion.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.table.entries.iter().map(|entry| &entry.value)
    }

    /// The values for change in place, in order of insertion.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Value> {
        self.table.entries.iter_mut().map(|entry| &mut entry.value)
    }

    /// Drops all entries; keeps the memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Makes room for more entries.
    pub fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional);
    }

    /// Drops the entries that do not satisfy a predicate; the order of the rest stays.
    pub fn retain(&mut self, mut keep: impl FnMut(&Value, &mut Value) -> bool) {
        self.table
            .retain(|entry| keep(&entry.key, &mut entry.value));
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
        let mut map = Map::new();
        map.extend(entries);
        map
    }
}

impl Extend<(Value, Value)> for Map {
    fn extend<I: IntoIterator<Item = (Value, Value)>>(&mut self, entries: I) {
        let entries = entries.into_iter();
        if self.is_empty() {
            self.reserve(entries.size_hint().0);
        }
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl IntoIterator for Map {
    type Item = (Value, Value);
    type IntoIter = std::iter::Map<std::vec::IntoIter<MapEntry>, fn(MapEntry) -> (Value, Value)>;
    fn into_iter(self) -> Self::IntoIter {
        self.table.entries.into_iter().map(|e| (e.key, e.value))
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        self.len() == other.len() && self.iter().all(|(k, v)| other.get(k) == Some(v))
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
