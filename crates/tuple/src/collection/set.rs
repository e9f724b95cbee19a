//! `set<T>`: an insertion-ordered hash set.

use std::hash::{BuildHasher, Hash, Hasher};

use indexmap::IndexSet;

use super::key::{Bytes, Signed, Unsigned};
use super::{Key, KeyHasher};
use crate::Value;

/// `set<T>`: an insertion-ordered hash set. Equality does not depend on the order.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// Boxed so that a `Value` stays small.
    items: Box<IndexSet<Value, KeyHasher>>,
}

impl Set {
    /// An empty set.
    pub fn new() -> Set {
        Set::default()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds an element; false if it was there already (the old one stays).
    pub fn insert(&mut self, value: Value) -> bool {
        self.items.insert(value)
    }

    /// Removes an element; the last one moves into its place. False if it was not there.
    pub fn remove(&mut self, value: &Value) -> bool {
        self.items.swap_remove(value)
    }

    /// Removes by a borrowed key, as [`Set::remove`] does.
    pub fn remove_key(&mut self, key: Key<'_>) -> bool {
        self.items.swap_remove(&key)
    }

    /// Whether an element is in it.
    pub fn contains(&self, value: &Value) -> bool {
        self.items.contains(value)
    }

    /// Whether an element is in it, by a borrowed key.
    pub fn contains_key(&self, key: Key<'_>) -> bool {
        self.items.contains(&key)
    }

    /// Whether a signed integer of any width is in it.
    pub fn contains_i64(&self, key: i64) -> bool {
        self.items.contains(&Signed(key))
    }

    /// Whether an unsigned integer of any width is in it.
    pub fn contains_u64(&self, key: u64) -> bool {
        self.items.contains(&Unsigned(key))
    }

    /// Whether an rstring or blob is in it.
    pub fn contains_bytes(&self, key: &[u8]) -> bool {
        self.items.contains(&Bytes(key))
    }

    /// The element at a position of the iteration order.
    pub fn get_index(&self, at: usize) -> Option<&Value> {
        self.items.get_index(at)
    }

    /// The elements in order of insertion.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.items.iter()
    }

    /// Drops all elements; keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Makes room for more elements.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// Drops the elements that do not satisfy a predicate; the order of the rest stays.
    pub fn retain(&mut self, keep: impl FnMut(&Value) -> bool) {
        self.items.retain(keep);
    }
}

impl FromIterator<Value> for Set {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Set {
        Set {
            items: Box::new(values.into_iter().collect()),
        }
    }
}

impl Extend<Value> for Set {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, values: I) {
        self.items.extend(values);
    }
}

impl IntoIterator for Set {
    type Item = Value;
    type IntoIter = indexmap::set::IntoIter<Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.items == other.items
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
