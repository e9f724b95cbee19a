//! One side of a Join: its window, and the index that finds tuples by equality key.

use std::sync::Arc;

use eval::{Fault, StateMemory};
use graph::Policy;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use runtime::window::{Windows, hash_key};
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{Layout, TupleBuf, TupleRef, same_bytes};

use crate::key_evaluator::KeyEvaluator;

/// Id of a tuple in a [`TupleStore`].
pub type StoredTupleId = u32;

/// Stands for no tuple at the ends of a chain.
const NO_TUPLE: StoredTupleId = StoredTupleId::MAX;

/// A tuple that is stored while its window holds it.
pub struct StoredTuple {
    pub tuple: TupleBuf,
    /// Whether the tuple has found a partner.
    pub is_matched: bool,
    /// Bytes of the equality key; empty without equality parameters.
    key: Vec<u8>,
    /// Neighbours of the tuple among those with its key, in the order of insertion.
    previous: StoredTupleId,
    next: StoredTupleId,
}

/// The tuples of one window. Ids of removed tuples are used again.
pub struct TupleStore {
    tuples: Vec<StoredTuple>,
    free: Vec<StoredTupleId>,
    /// Tuples by equality key, if they are found by key.
    index: Option<HashTable<KeyChain>>,
    /// Counts of the tuples, of both sides together.
    memory: Arc<StateMemory>,
}

/// The tuples that have a key, in the order of insertion. There is at least one, which has the key.
#[derive(Clone, Copy, Debug)]
struct KeyChain {
    first: StoredTupleId,
    last: StoredTupleId,
}

impl TupleStore {
    /// An empty store; `indexed` if tuples are found by key.
    pub fn new(indexed: bool, memory: Arc<StateMemory>) -> TupleStore {
        TupleStore {
            tuples: Vec::new(),
            free: Vec::new(),
            index: indexed.then(HashTable::new),
            memory,
        }
    }

    /// Stores a copy of a tuple.
    ///
    /// # Errors
    /// With it the state would be beyond its bound.
    pub fn add(
        &mut self,
        tuple: TupleRef<'_>,
        key: &[u8],
        matched: bool,
    ) -> Result<StoredTupleId, Fault> {
        self.memory.add(state_bytes(tuple.bytes(), key))?;
        let id = self.free.pop().unwrap_or_else(|| {
            self.tuples.push(StoredTuple::default());
            self.tuples.len() as StoredTupleId - 1
        });
        let kept = &mut self.tuples[id as usize];
        kept.tuple.copy_from(tuple);
        kept.key.clear();
        kept.key.extend_from_slice(key);
        kept.is_matched = matched;
        self.append_to_chain(id);
        Ok(id)
    }

    /// Removes a tuple. Its content stays readable until the next [`TupleStore::add`].
    pub fn remove(&mut self, id: StoredTupleId) {
        self.remove_from_chain(id);
        let kept = &self.tuples[id as usize];
        let bytes = state_bytes(kept.tuple.as_ref().bytes(), &kept.key);
        self.memory.remove(bytes);
        self.free.push(id);
    }

    /// The stored tuple of an id.
    pub fn get(&self, id: StoredTupleId) -> &StoredTuple {
        &self.tuples[id as usize]
    }

    /// Notes that a tuple has found a partner.
    pub fn set_matched(&mut self, id: StoredTupleId) {
        self.tuples[id as usize].is_matched = true;
    }

    /// Appends the tuples that have a key.
    pub fn find(&self, key: &[u8], found: &mut Vec<StoredTupleId>) {
        let has_key = |chain: &KeyChain| same_bytes(&self.get(chain.first).key, key);
        let index = self.index.as_ref();
        let chain = index.and_then(|index| index.find(hash_key(key), has_key));
        let mut next = chain.map_or(NO_TUPLE, |chain| chain.first);
        while next != NO_TUPLE {
            found.push(next);
            next = self.get(next).next;
        }
    }

    /// Appends a tuple to the chain of its key.
    fn append_to_chain(&mut self, id: StoredTupleId) {
        let Some(index) = &mut self.index else { return };
        let (mut before, kept) = (NO_TUPLE, &self.tuples);
        let key = &kept[id as usize].key;
        let has_key = |chain: &KeyChain| same_bytes(&kept[chain.first as usize].key, key);
        let rehash = |chain: &KeyChain| hash_key(&kept[chain.first as usize].key);
        match index.entry(hash_key(key), has_key, rehash) {
            Entry::Occupied(chain) => {
                before = std::mem::replace(&mut chain.into_mut().last, id);
            }
            Entry::Vacant(chain) => {
                let (first, last) = (id, id);
                chain.insert(KeyChain { first, last });
            }
        }
        if before != NO_TUPLE {
            self.tuples[before as usize].next = id;
        }
        let kept = &mut self.tuples[id as usize];
        (kept.previous, kept.next) = (before, NO_TUPLE);
    }

    /// Takes a tuple out of the chain of its key.
    fn remove_from_chain(&mut self, id: StoredTupleId) {
        let Some(index) = &mut self.index else { return };
        let StoredTuple {
            previous: before,
            next: after,
            ..
        } = self.tuples[id as usize];
        if before == NO_TUPLE || after == NO_TUPLE {
            // The tuple is an end of its chain, which the index finds by its first tuple's key.
            let hash = hash_key(&self.tuples[id as usize].key);
            let is_end = |chain: &KeyChain| chain.first == id || chain.last == id;
            let entry = index.find_entry(hash, is_end);
            let mut entry = entry.expect("every kept tuple is in the index");
            let chain = entry.get_mut();
            if before == NO_TUPLE {
                chain.first = after;
            }
            if after == NO_TUPLE {
                chain.last = before;
            }
            if chain.first == NO_TUPLE {
                entry.remove();
            }
        }
        if before != NO_TUPLE {
            self.tuples[before as usize].next = after;
        }
        if after != NO_TUPLE {
            self.tuples[after as usize].previous = before;
        }
    }
}

/// Bytes of a stored tuple that are counted as state.
fn state_bytes(tuple: &[u8], key: &[u8]) -> usize {
    size_of::<StoredTuple>() + tuple.len() + key.len()
}

impl Default for StoredTuple {
    fn default() -> StoredTuple {
        StoredTuple {
            tuple: TupleBuf::default(),
            is_matched: false,
            key: Vec::new(),
            previous: NO_TUPLE,
            next: NO_TUPLE,
        }
    }
}

/// One side of a Join.
pub struct JoinSide {
    pub windows: Windows<StoredTupleId>,
    pub store: TupleStore,
    /// A window of `count(0)`: tuples of this side only look for partners.
    pub is_probe_only: bool,
    pub layout: Arc<Layout>,
    pub partition_key: KeyEvaluator,
    pub equality_key: KeyEvaluator,
}

impl JoinSide {
    /// The side of an input port.
    pub fn new(
        build: &mut BuildContext<'_>,
        port: usize,
        partition: &str,
        equality: &str,
    ) -> Result<JoinSide, Fault> {
        let window = build.operator.inputs[port]
            .window
            .as_ref()
            .expect("the model asks for it");
        let windows = Windows::new(window);
        if let Some(seconds) = window.lifetime_s() {
            // Unmatched tuples are submitted soon after their time is over.
            build.add_timer((seconds / 10.0).clamp(0.001, 0.1));
        }
        let equality = KeyEvaluator::new(build.param_projection(equality)?);
        Ok(JoinSide {
            windows,
            store: TupleStore::new(equality.has_expressions(), build.state_memory()),
            is_probe_only: matches!(window.evict, Policy::Count(0)),
            layout: build.inputs[port].clone(),
            partition_key: KeyEvaluator::new(build.param_projection(partition)?),
            equality_key: equality,
        })
    }

    /// Works out the keys of a tuple; the row has it in this side's port.
    pub fn evaluate_keys(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.partition_key.evaluate(inputs, out)?;
        self.equality_key.evaluate(inputs, out)
    }

    /// Whether tuples are found by equality key.
    pub fn has_equality(&self) -> bool {
        self.equality_key.has_expressions()
    }

    /// Appends every tuple of the window, partition by partition.
    pub fn append_all(&self, found: &mut Vec<StoredTupleId>) {
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

    fn found(store: &TupleStore, key: &[u8]) -> Vec<StoredTupleId> {
        let mut found = Vec::new();
        store.find(key, &mut found);
        found
    }

    fn add(store: &mut TupleStore, key: &[u8]) -> StoredTupleId {
        let added = store.add(TupleBuf::default().as_ref(), key, false);
        added.expect("state without a bound")
    }

    #[test]
    fn tuples_are_found_by_key_in_the_order_of_insertion() {
        let mut store = TupleStore::new(true, Arc::default());
        let ids: Vec<_> = (0..9_u8).map(|n| add(&mut store, &[n % 3])).collect();
        assert_eq!(found(&store, &[1]), [ids[1], ids[4], ids[7]]);
        assert!(found(&store, &[3]).is_empty());
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
        // A reused id has the new key only.
        let again = add(&mut store, b"new");
        assert!(again < 9);
        assert_eq!(found(&store, b"new"), [again]);
        assert_eq!(found(&store, &[2]), [ids[2], ids[5]]);
    }

    #[test]
    fn without_an_index_nothing_is_found_by_key() {
        let mut store = TupleStore::new(false, Arc::default());
        let id = add(&mut store, b"");
        assert!(found(&store, b"").is_empty());
        store.remove(id);
        assert_eq!(add(&mut store, b""), id);
    }
}
