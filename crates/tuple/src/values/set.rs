//! `set<T>`: an insertion-ordered hash set.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::mem::offset_of;

use super::hash_index::HashIndex;
use super::hash_table::HashTable;
use super::key::{BytesKey, IntegerKey, LookupKey};
use super::key_hasher::KeyHasher;
use super::{Key, TableLayout};
use crate::Value;

/// `set<T>`: an insertion-ordered hash set. Equality does not depend on the order.
#[derive(Clone, Default)]
pub struct Set {
    /// Boxed so that a `Value` stays small.
    table: Box<HashTable<Value>>,
}

impl Set {
    /// Offsets in the memory that the one pointer of a set points to.
    pub const LAYOUT: TableLayout = TableLayout {
        entries: offset_of!(HashTable<Value>, entries),
        slots: offset_of!(HashTable<Value>, index) + offset_of!(HashIndex, slots),
        shift: offset_of!(HashTable<Value>, index) + offset_of!(HashIndex, shift),
        multiplier: offset_of!(HashTable<Value>, index) + offset_of!(HashIndex, multiplier),
        entry_bytes: size_of::<Value>(),
        key: 0,
        value: 0,
    };

    /// A set without elements.
    pub fn new() -> Set {
        Set::default()
    }

    /// Number of elements in the set.
    pub fn len(&self) -> usize {
        self.table.entries.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// Adds an element; false if it was there already (the old one stays).
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{Set, Value};
    ///
    /// let mut set = Set::new();
    /// assert!(set.insert(Value::Int8(2)));
    /// assert!(!set.insert(Value::Int8(2)));
    /// assert!(set.contains(&Value::Int8(2)));
    /// ```
    pub fn insert(&mut self, value: Value) -> bool {
        let word = value.word();
        let is_new = self.table.find_word(word, &value).is_none();
        if is_new {
            self.table.push(word, value);
        }
        is_new
    }

    /// Removes an element; the last one moves into its place. False if it was not there.
    pub fn remove(&mut self, value: &Value) -> bool {
        self.table.swap_remove(value).is_some()
    }

    /// Removes by a borrowed key, as [`Set::remove`] does.
    pub fn remove_key(&mut self, key: Key<'_>) -> bool {
        self.table.swap_remove(&key).is_some()
    }

    /// Whether an element is in it.
    pub fn contains(&self, value: &Value) -> bool {
        self.table.find(value).is_some()
    }

    /// Whether an element is in it, by a borrowed key.
    pub fn contains_key(&self, key: Key<'_>) -> bool {
        self.table.find(&key).is_some()
    }

    /// Whether an integer of any type is in it: a signed one as its two's complement.
    #[inline]
    pub fn contains_word(&self, key: u64) -> bool {
        self.table.find(&IntegerKey(key)).is_some()
    }

    /// Whether an rstring or blob is in it.
    #[inline]
    pub fn contains_bytes(&self, key: &[u8]) -> bool {
        self.table.find(&BytesKey(key)).is_some()
    }

    /// The element at a position of the iteration order.
    pub fn get_index(&self, at: usize) -> Option<&Value> {
        self.table.entries.get(at)
    }

    /// The elements in order of insertion.
    ///
    /// # Example
    /// ```
    /// use thalweg_tuple::{Set, Value};
    ///
    /// let set: Set = [3, 1, 2].into_iter().map(Value::Int32).collect();
    /// let in_order: Vec<&Value> = set.iter().collect();
    /// assert_eq!(in_order, [&Value::Int32(3), &Value::Int32(1), &Value::Int32(2)]);
    /// ```
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.table.entries.iter()
    }

    /// Drops all elements; keeps the memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Makes room for more elements.
    pub fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional);
    }

    /// Drops the elements that do not satisfy a predicate; the order of the rest stays.
    pub fn retain(&mut self, mut keep: impl FnMut(&Value) -> bool) {
        self.table.retain(|value| keep(value));
    }
}

impl FromIterator<Value> for Set {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Set {
        let mut set = Set::new();
        set.extend(values);
        set
    }
}

impl Extend<Value> for Set {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, values: I) {
        let values = values.into_iter();
        if self.is_empty() {
            self.reserve(values.size_hint().0);
        }
        for value in values {
            self.insert(value);
        }
    }
}

impl IntoIterator for Set {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.table.entries.into_iter()
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.len() == other.len() && self.iter().all(|value| other.contains(value))
    }
}

impl Eq for Set {}

/// A sum over the elements, for their order must not count.
impl Hash for Set {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let hashes = self.iter().map(|x| KeyHasher::default().hash_one(x));
        state.write_u64(hashes.fold(self.len() as u64, u64::wrapping_add));
    }
}
