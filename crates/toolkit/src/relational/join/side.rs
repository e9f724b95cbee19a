//! One side of a Join: its window, and the index that finds tuples by equality key.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use graph::{Fault, Policy};
use runtime::window::Windows;
use runtime::{Build, Outlet, Row};
use tuple::{Layout, TupleBuf, TupleRef};

use crate::key::Key;

/// A tuple of a window, by its place in [`Store`].
pub type Id = u32;

/// A kept tuple.
#[derive(Default)]
pub struct Kept {
    pub tuple: TupleBuf,
    /// Its equality key; empty without equality parameters.
    pub key: Vec<u8>,
    /// It has found a partner.
    pub matched: bool,
}

/// The tuples of one window. Places are used again.
#[derive(Default)]
pub struct Store {
    kept: Vec<Kept>,
    free: Vec<Id>,
    /// Tuples by equality key, in the order of insertion.
    index: Option<HashMap<Vec<u8>, VecDeque<Id>>>,
}

/// Empty entries of an index that are kept for keys that come back.
const SPARE_KEYS: usize = 1024;

impl Store {
    /// An empty store; `indexed` if tuples are found by key.
    pub fn new(indexed: bool) -> Store {
        Store {
            index: indexed.then(HashMap::new),
            ..Store::default()
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
        if let Some(index) = &mut self.index {
            match index.get_mut(key) {
                Some(ids) => ids.push_back(id),
                None => {
                    index.insert(key.to_vec(), VecDeque::from([id]));
                }
            }
        }
        id
    }

    /// Gives a tuple's place back. Its content stays until the next [`Store::add`].
    pub fn remove(&mut self, id: Id) {
        if let Some(index) = &mut self.index {
            let key = &self.kept[id as usize].key;
            let ids = index
                .get_mut(key)
                .expect("every kept tuple is in the index");
            let at = ids
                .iter()
                .position(|other| *other == id)
                .expect("under its key");
            ids.remove(at);
            let live = self.kept.len() - self.free.len();
            if index.len() > 2 * live + SPARE_KEYS {
                index.retain(|_, ids| !ids.is_empty());
            }
        }
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
        let ids = self.index.as_ref().and_then(|index| index.get(key));
        found.extend(ids.into_iter().flatten());
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
