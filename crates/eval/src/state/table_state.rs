//! A table of an operator's state while the operator runs: its entries, and which is current.
//!
//! Compiled code may begin the search for a key of integers itself:
//! ```text
//!   hash = HASH_SEED; for each word of the key: x = (hash ^ word) * HASH_MULTIPLIER, of 128 bits;
//!                                               hash = low half of x ^ high half of x
//!   hash >>= 32
//!   entry of the directory = directory[hash >> directory_shift]
//!   slot = slots[hash & mask]
//!   if slot >> 32 == hash and the low 32 bits of the slot are not 0: these are its id, and
//!     entry = pages[(id >> place_bits) - 1] + (id & (1 << place_bits) - 1) * entry_bytes
//!     if its first words are those of the key: it is that entry
//! ```
//! Else the search goes on, which is left to [`TableState::find_or_add_words`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use graph::{StateTable, StateVar};
use tuple::{Layout, TupleBuf, TupleRef, Value};

use super::entry_layout::{EntryLayout, EntryTableType};
use super::entry_table::{EntryTable, TableMemoryError};
use super::key_layout::{KeyLayout, TableKey};
use super::pages::{EntryId, Pages};

/// Layouts that follow from a table's types.
#[derive(Clone, Debug)]
pub struct TableLayouts {
    /// Layout of the tuples that keys are given as.
    pub key: Arc<Layout>,
    /// Offset of each variable of the table from the start of an entry.
    pub offsets: Vec<u32>,
    /// For a key of integers alone, the first byte in the key of each. The key's words are those
    /// bytes, and 0 between them.
    pub integers: Option<Vec<u32>>,
    /// Words of a key, which are the first ones of an entry.
    pub key_words: usize,
    /// Bytes of an entry.
    pub entry_bytes: usize,
    /// How many bits of an id are the place of an entry in its page.
    pub place_bits: u32,
    keys: Arc<KeyLayout>,
    entries: EntryTableType,
}

impl TableLayouts {
    /// Layouts of a table, given the state variables of its operator.
    pub fn new(table: &StateTable, state: &[StateVar]) -> TableLayouts {
        let key = Layout::new(&table.key);
        let keys = Arc::new(KeyLayout::new(&key, key.schema.attributes.len()));
        let entries = EntryTableType {
            attributes: table.variable_types(state),
            ..EntryTableType::default()
        };
        let entry = EntryLayout::new(&keys, &entries);
        let offsets = entry.attributes.iter().map(|(offset, _)| *offset);
        TableLayouts {
            key,
            offsets: offsets.collect(),
            integers: keys.integers(),
            key_words: keys.words,
            entry_bytes: entry.words * 8,
            place_bits: Pages::new(entry.words).place_bits(),
            keys,
            entries,
        }
    }
}

/// A table of an operator's state.
///
/// Compiled code reads the public fields; when it has found another entry, it makes that current by
/// setting the first two.
#[derive(Debug)]
#[repr(C)]
pub struct TableState {
    /// Address of the current entry, where its variables are.
    pub entry_address: usize,
    /// Id of the current entry; 0 for the entry of no key.
    pub current: u32,
    /// By how many bits a hash is shifted to be an index of the directory.
    pub directory_shift: u32,
    /// Address of the entries of the directory, each a [`super::DirectoryEntry`].
    pub directory: usize,
    /// Address of the addresses of pages.
    pub pages: usize,
    entries: EntryTable,
    /// Number of entries, which other threads may read.
    shared_len: Arc<AtomicU64>,
    layouts: TableLayouts,
    /// The entry of no key: current while no other is.
    no_entry: Vec<u64>,
    key: TableKey,
    key_tuple: TupleBuf,
}

impl TableState {
    /// A table without entries.
    pub fn new(layouts: TableLayouts) -> TableState {
        let entries = EntryTable::new(&layouts.keys, &layouts.entries);
        let mut table = TableState {
            entry_address: 0,
            current: 0,
            directory_shift: 0,
            directory: 0,
            pages: 0,
            no_entry: vec![0; entries.layout().words],
            entries,
            shared_len: Arc::default(),
            layouts,
            key: TableKey::default(),
            key_tuple: TupleBuf::default(),
        };
        table.publish();
        table.select(None);
        table
    }

    /// Number of entries in the table.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of entries, for other threads to read.
    pub fn shared_len(&self) -> Arc<AtomicU64> {
        self.shared_len.clone()
    }

    /// Values of a variable in all entries, in no order that means anything.
    pub fn values(&self, variable: usize) -> impl Iterator<Item = Value> {
        let ids = self.entries.ids();
        ids.map(move |id| self.entries.get(id, variable))
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of memory that the table takes.
    pub fn bytes(&self) -> usize {
        self.entries.bytes()
    }

    /// Makes the entry of a key current. Whether it was added, all variables zero.
    ///
    /// # Errors
    /// Memory for another entry is missing.
    pub fn find_or_add(&mut self, key: TupleRef<'_>) -> Result<bool, TableMemoryError> {
        self.layouts.keys.encode(key, &mut self.key);
        self.find_or_add_key()
    }

    /// Like [`TableState::find_or_add`], for a key of integers, given its words.
    ///
    /// # Errors
    /// Memory for another entry is missing.
    pub fn find_or_add_words(&mut self, words: &[u64]) -> Result<bool, TableMemoryError> {
        self.layouts.keys.take_words(words, &mut self.key);
        self.find_or_add_key()
    }

    fn find_or_add_key(&mut self) -> Result<bool, TableMemoryError> {
        let found = self.entries.find(&self.key);
        let id = match found {
            Some(id) => id,
            None => self.add()?,
        };
        self.select(Some(id));
        Ok(found.is_none())
    }

    /// Like [`TableState::find_or_add`], for a key as a value.
    ///
    /// # Errors
    /// Memory for another entry is missing.
    pub fn find_or_add_value(&mut self, key: &Value) -> Result<bool, TableMemoryError> {
        let mut tuple = std::mem::take(&mut self.key_tuple);
        tuple.set_all(&self.layouts.key, key);
        let found = self.find_or_add(tuple.as_ref());
        self.key_tuple = tuple;
        found
    }

    /// Removes the current entry, if it is one of a key.
    pub fn remove_current(&mut self) {
        if let Some(id) = self.current() {
            self.entries.remove(id);
            self.publish();
        }
        self.select(None);
    }

    /// Value of a variable in the current entry.
    pub fn get(&self, variable: usize) -> Value {
        let words = match self.current() {
            Some(id) => self.entries.words(id),
            None => &self.no_entry,
        };
        self.entries.layout().get(words, variable)
    }

    /// Sets a variable of the current entry to a value of its type.
    pub fn set(&mut self, variable: usize, value: &Value) {
        match self.current() {
            Some(id) => self.entries.set(id, variable, value),
            None => {
                let layout = self.entries.layout();
                layout.set(&mut self.no_entry, variable, value);
            }
        }
    }

    fn add(&mut self) -> Result<EntryId, TableMemoryError> {
        let added = self.entries.add(&self.key);
        // Without memory for all of it, some of it may have moved.
        self.publish();
        if added.is_err() {
            self.publish_entry();
        }
        added
    }

    fn current(&self) -> Option<EntryId> {
        EntryId::from_word(self.current)
    }

    /// Sets what others read of the entries.
    fn publish(&mut self) {
        (self.directory, self.directory_shift) = self.entries.directory();
        self.pages = self.entries.page_addresses();
        let len = self.entries.len() as u64;
        self.shared_len.store(len, Ordering::Relaxed);
    }

    fn select(&mut self, id: Option<EntryId>) {
        self.current = id.map_or(0, EntryId::word);
        if id.is_none() {
            self.no_entry.fill(0);
        }
        self.publish_entry();
    }

    /// Sets the address of the current entry.
    fn publish_entry(&mut self) {
        let words = match self.current() {
            Some(id) => self.entries.words_mut(id),
            None => &mut self.no_entry,
        };
        self.entry_address = words.as_mut_ptr().expose_provenance();
    }
}
