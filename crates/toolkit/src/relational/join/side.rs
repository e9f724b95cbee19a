//! One side of a Join: its window, and the index that finds tuples by equality key.

use std::sync::Arc;

use graph::{Fault, Policy};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use runtime::window::{Windows, hash_key};
use runtime::{Build, Outlet, Row};
use tuple::{Layout, TupleBuf, TupleRef, same_bytes};

use crate::key::Key;

/// A tuple of a window, by its place in [`Store`].
pub type Id = u32;

/// No place.
const NONE: Id = Id::MAX;

/// A kept tuple.
pub struct Kept {
    pub tuple: TupleBuf,
    /// It has found a partner.
    pub matched: bool,
    /// Its equality key; empty without equality parameters.
    key: Vec<u8>,
    /// Its neighbours among those with its key, in the order of insertion.
    before: Id,
    after: Id,
}

/// The tuples of one window. Places are used again.
pub struct Store {
    kept: Vec<Kept>,
    free: Vec<Id>,
    /// Tuples by equality key, if they are found by key.
    index: Option<HashTable<Chain>>,
}

/// The tuples that have a key, in the order of insertion. There is at least one, which has the key.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: Id,
    last: Id,
}

impl Store {
    /// An empty store; `indexed` if tuples are found by key.
    pub fn new(indexed: bool) -> Store {
        Store {
            kept: Vec::new(),
            free: Vec::new(),
            index: indexed.then(HashTable::new),
        }
    }

    /// Keeps a tuple.
    pub fn add(&mut self, tuple: TupleRef<'_>, key: &[u8], matched: bool) -> Id {
        let id = self.free.pop().unwrap_or_else(|| {
            self.kept.push(Kept::default());
            self.kept.len() as Id - 1
        });
        let kept = &mut self.kept[id as usize];
        kept.tuple.copy_from(tuple);
        kept.key.clear();
        kept.key.extend_from_slice(key);
        kept.matched = matched;
        self.link(id);
        id
    }

    /// Gives a tuple's place back. Its content stays until the next [`Store::add`].
    pub fn remove(&mut self, id: Id) {
        self.unlink(id);
        self.free.push(id);
    }

    /// A tuple.
    pub fn get(&self, id: Id) -> &Kept {
        &self.kept[id as usize]
    }

    /// Notes that a tuple has found a partner.
    pub fn set_matched(&mut self, id: Id) {
        self.kept[id as usize].matched = true;
    }

    /// Appends the tuples that have a key.
    pub fn find(&self, key: &[u8], found: &mut Vec<Id>) {
        let has_key = |chain: &Chain| same_bytes(&self.get(chain.first).key, key);
        let index = self.index.as_ref();
        let chain = index.and_then(|index| index.find(hash_key(key), has_key));
        let mut next = chain.map_or(NONE, |chain| chain.first);
        while next != NONE {
            found.push(next);
            next = self.get(next).after;
        }
    }

    /// Appends a tuple to the chain of its key.
    fn link(&mut self, id: Id) {
        let Some(index) = &mut self.index else { return };
        let (mut before, kept) = (NONE, &self.kept);
        let key = &kept[id as usize].key;
        let has_key = |chain: &Chain| same_bytes(&kept[chain.first as usize].key, key);
        let rehash = |chain: &Chain| hash_key(&kept[chain.first as usize].key);
        match index.entry(hash_key(key), has_key, rehash) {
            Entry::Occupied(chain) => {
                before = std::mem::replace(&mut chain.into_mut().last, id);
            }
            Entry::Vacant(chain) => {
                let (first, last) = (id, id);
                chain.insert(Chain { first, last });
            }
        }
        if before != NONE {
            self.kept[before as usize].after = id;
        }
        let kept = &mut self.kept[id as usize];
        (kept.before, kept.after) = (before, NONE);
    }

    /// Takes a tuple out of the chain of its key.
    fn unlink(&mut self, id: Id) {
        let Some(index) = &mut self.index else { return };
        let Kept { before, after, .. } = self.kept[id as usize];
        if before == NONE || after == NONE {
            // It is an end of the chain, which is found by its first tuple's key.
            let hash = hash_key(&self.kept[id as usize].key);
            let is_end = |chain: &Chain| chain.first == id || chain.last == id;
            let entry = index.find_entry(hash, is_end);
            let mut entry = entry.expect("every kept tuple is in the index");
            let chain = entry.get_mut();
            if before == NONE {
                chain.first = after;
            }
            if after == NONE {
                chain.last = before;
            }
            if chain.first == NONE {
                entry.remove();
            }
        }
        if before != NONE {
            self.kept[before as usize].after = after;
        }
        if after != NONE {
            self.kept[after as usize].before = before;
        }
    }
}

impl Default for Kept {
    fn default() -> Kept {
        Kept {
            tuple: TupleBuf::default(),
            matched: false,
            key: Vec::new(),
            before: NONE,
            after: NONE,
        }
    }
}

/// One side.
pub struct Side {
    pub windows: Windows<Id>,
    pub store: Store,
    /// A window of `count(0)`: tuples of this side only look for partners.
    pub passes: bool,
    pub layout: Arc<Layout>,
    pub partition: Key,
    pub equality: Key,
}

impl Side {
    /// The side of an input port.
    pub fn new(
        build: &mut Build<'_>,
        port: usize,
        partition: &str,
        equality: &str,
    ) -> Result<Side, Fault> {
        let window = build.operator.inputs[port]
            .window
            .as_ref()
            .expect("the model asks for it");
        let windows = Windows::new(window);
        if let Some(seconds) = window.lifetime() {
            // What leaves unmatched is sent soon after its time is over.
            build.timer((seconds / 10.0).clamp(0.001, 0.1));
        }
        let equality = Key::new(build.param_projection(equality)?);
        Ok(Side {
            windows,
            store: Store::new(equality.is_given()),
            passes: matches!(window.evict, Policy::Count(0)),
            layout: build.inputs[port].clone(),
            partition: Key::new(build.param_projection(partition)?),
            equality,
        })
    }

    /// Works out the keys of a tuple; the row has it in this side's port.
    pub fn keys(&mut self, row: &Row<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.partition.read(row, out)?;
        self.equality.read(row, out)
    }

    /// Whether tuples are found by equality key.
    pub fn has_equality(&self) -> bool {
        self.equality.is_given()
    }

    /// Appends every tuple of the window, partition by partition.
    pub fn all(&self, found: &mut Vec<Id>) {
        found.extend(
            self.windows
                .partitions()
                .flat_map(|partition| partition.iter())
                .copied(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(store: &Store, key: &[u8]) -> Vec<Id> {
        let mut found = Vec::new();
        store.find(key, &mut found);
        found
    }

    fn add(store: &mut Store, key: &[u8]) -> Id {
        store.add(TupleBuf::default().as_ref(), key, false)
    }

    #[test]
    fn tuples_are_found_by_key_in_the_order_of_insertion() {
        let mut store = Store::new(true);
        let ids: Vec<_> = (0..9_u8).map(|n| add(&mut store, &[n % 3])).collect();
        assert_eq!(found(&store, &[1]), [ids[1], ids[4], ids[7]]);
        assert_eq!(found(&store, &[3]), []);
        // From the middle, then the ends, then the last one.
        for (gone, left) in [(4, vec![1, 7]), (1, vec![7]), (7, vec![])] {
            store.remove(ids[gone]);
            let left: Vec<_> = left.into_iter().map(|at: usize| ids[at]).collect();
            assert_eq!(found(&store, &[1]), left);
        }
        assert_eq!(found(&store, &[2]), [ids[2], ids[5], ids[8]]);
        store.remove(ids[8]);
        assert_eq!(found(&store, &[2]), [ids[2], ids[5]]);
        assert_eq!(store.index.as_ref().map(HashTable::len), Some(2));
        // A place that is used again has the new key only.
        let again = add(&mut store, b"new");
        assert!(again < 9);
        assert_eq!(found(&store, b"new"), [again]);
        assert_eq!(found(&store, &[2]), [ids[2], ids[5]]);
    }

    #[test]
    fn without_an_index_nothing_is_found_by_key() {
        let mut store = Store::new(false);
        let id = add(&mut store, b"");
        assert_eq!(found(&store, b""), []);
        store.remove(id);
        assert_eq!(add(&mut store, b""), id);
    }
}
