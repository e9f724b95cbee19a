//! Ids of keys: small numbers, by which vectors are indexed. The id of a key that is released is
//! that of a later one, and so is the memory at that index.

use hashbrown::HashTable;
use tuple::same_bytes;

use super::key::hash_key;

/// Id of a key, which it keeps until it is released.
pub type KeyId = u32;

/// Ids by key. Ids are numbers from 0 without gaps: as many as there were keys at a time.
///
/// ```
/// use thalweg_runtime::window::KeyIds;
///
/// let mut ids = KeyIds::default();
/// let (a, b) = (ids.assign(b"a"), ids.assign(b"b"));
/// assert_eq!((a, b, ids.find(b"a")), (0, 1, Some(0)));
/// ids.release(a);
/// assert_eq!(ids.assign(b"c"), a);
/// ```
#[derive(Debug, Default)]
pub struct KeyIds {
    table: HashTable<KeyId>,
    /// Keys by id. Keys of released ids are memory for further ones.
    keys: Vec<Vec<u8>>,
    /// Ids below this are assigned, but for the free ones.
    assigned_len: usize,
    free: Vec<KeyId>,
}

impl KeyIds {
    /// Number of keys that have an id.
    pub fn len(&self) -> usize {
        self.assigned_len - self.free.len()
    }

    /// Whether no key has an id.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Id of a key, if it has one.
    pub fn find(&self, key: &[u8]) -> Option<KeyId> {
        let has_key = |&at: &KeyId| same_bytes(&self.keys[at as usize], key);
        self.table.find(hash_key(key), has_key).copied()
    }

    /// Assigns an id to a key that has none.
    pub fn assign(&mut self, key: &[u8]) -> KeyId {
        let at = self.free.pop().unwrap_or_else(|| {
            self.assigned_len += 1;
            self.assigned_len as KeyId - 1
        });
        if at as usize == self.keys.len() {
            self.keys.push(Vec::new());
        }
        let own = &mut self.keys[at as usize];
        own.clear();
        own.extend_from_slice(key);
        let keys = &self.keys;
        let rehash = |&at: &KeyId| hash_key(&keys[at as usize]);
        self.table.insert_unique(hash_key(key), at, rehash);
        at
    }

    /// Releases an id for a later key.
    ///
    /// # Panics
    /// No key has this id.
    pub fn release(&mut self, at: KeyId) {
        let hash = hash_key(&self.keys[at as usize]);
        let entry = self.table.find_entry(hash, |&other| other == at);
        entry.expect("it was taken").remove();
        self.free.push(at);
    }

    /// Releases the ids of all keys.
    pub fn clear(&mut self) {
        self.table.clear();
        self.free.clear();
        self.assigned_len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_belongs_to_its_key_until_it_is_given_back() {
        let mut ids = KeyIds::default();
        let [a, b, empty] = [b"a".as_slice(), b"b", b""].map(|key| ids.assign(key));
        assert_eq!((a, b, empty), (0, 1, 2));
        assert_eq!(ids.find(b"b"), Some(b));
        assert_eq!(ids.find(b""), Some(empty));
        assert_eq!(ids.find(b"c"), None);
        ids.release(b);
        assert_eq!((ids.find(b"b"), ids.len()), (None, 2));
        assert_eq!(ids.assign(b"a longer key"), b);
        assert_eq!(ids.find(b"a longer key"), Some(b));
        assert_eq!(ids.find(b"a"), Some(a));
    }

    #[test]
    fn after_clearing_places_begin_at_0_again() {
        let mut ids = KeyIds::default();
        let taken = (0..1000_u32).map(|n| ids.assign(&n.to_ne_bytes()));
        assert_eq!(taken.max(), Some(999));
        ids.release(7);
        ids.clear();
        assert!(ids.is_empty());
        assert_eq!(ids.find(&3_u32.to_ne_bytes()), None);
        assert_eq!(ids.assign(b"x"), 0);
        assert_eq!(ids.assign(b"y"), 1);
        assert_eq!(ids.find(b"y"), Some(1));
    }
}
