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
//!
//! Variables that are no scalars are not in the entry but in a block of values, whose id the entry
//! has. Blocks are found by their ids as entries are, with [`TableState::block_pages`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use graph::{StateTable, StateVar};
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use super::entry_layout::{EntryLayout, EntryTableType};
use super::entry_table::{EntryTable, TableMemoryError};
use super::key_layout::{KeyLayout, TableKey};
use super::pages::{EntryId, Pages};
use super::variables::State;

/// Place of a table's variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableVariable {
    /// A scalar in the entry.
    Scalar {
        /// Offset from the start of the entry.
        offset: u32,
        /// Index among the attributes of the entry.
        attribute: usize,
    },
    /// A value in the block: its index there.
    Value(usize),
}

/// Layout of the blocks of values that entries have.
#[derive(Clone, Debug)]
pub struct ValueBlockLayout {
    /// Offset of the block's id, a uint32, from the start of an entry.
    pub offset: u32,
    /// How many bits of an id are the place of a block in its page.
    pub place_bits: u32,
    /// Types of the values.
    pub types: Vec<Type>,
    /// Index of the id among the attributes of the entry.
    attribute: usize,
}

/// Layouts that follow from a table's types.
#[derive(Clone, Debug)]
pub struct TableLayouts {
    /// Layout of the tuples that keys are given as; of no attributes if entries have no keys.
    pub key: Arc<Layout>,
    /// Places of the variables of the table.
    pub homes: Vec<TableVariable>,
    /// Layout of the blocks of values, if some variables are no scalars.
    pub blocks: Option<ValueBlockLayout>,
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
    has_keys: bool,
    entries: EntryTableType,
}

impl TableLayouts {
    /// Layouts of a table, given the state variables of its operator.
    pub fn new(table: &StateTable, state: &[StateVar]) -> TableLayouts {
        let key = Layout::new(&table.key.clone().unwrap_or_default());
        let keys = Arc::new(KeyLayout::new(&key, key.schema.attributes.len()));
        let variables = table.variable_types(state);
        let (mut attributes, values): (Vec<Type>, Vec<Type>) =
            variables.iter().cloned().partition(State::is_scalar);
        let block_attribute = attributes.len();
        if !values.is_empty() {
            attributes.push(Type::Uint32);
        }
        let entries = EntryTableType {
            attributes,
            ..EntryTableType::default()
        };
        let entry = EntryLayout::new(&keys, &entries);
        let (mut scalars, mut in_block) = (0.., 0..);
        let home = |ty: &Type| {
            if !State::is_scalar(ty) {
                return in_block.next().map(TableVariable::Value);
            }
            let attribute = scalars.next()?;
            let (offset, _) = entry.attributes[attribute];
            Some(TableVariable::Scalar { offset, attribute })
        };
        TableLayouts {
            key,
            homes: variables.iter().filter_map(home).collect(),
            blocks: (!values.is_empty()).then(|| ValueBlockLayout {
                offset: entry.attributes[block_attribute].0,
                place_bits: Pages::<Value>::new(values.len()).place_bits(),
                types: values,
                attribute: block_attribute,
            }),
            integers: keys.integers(),
            key_words: keys.words,
            entry_bytes: entry.words * 8,
            place_bits: Pages::<u64>::new(entry.words).place_bits(),
            keys,
            has_keys: table.key.is_some(),
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
    /// Address of the addresses of pages of blocks.
    pub block_pages: usize,
    entries: EntryTable,
    /// Blocks of values, if some variables are no scalars.
    blocks: Pages<Value>,
    /// Number of entries, which other threads may read.
    shared_len: Arc<AtomicU64>,
    layouts: TableLayouts,
    /// The entry of no key: current while no other is.
    no_entry: Vec<u64>,
    /// The block of that entry.
    no_block: Option<EntryId>,
    key: TableKey,
    key_tuple: TupleBuf,
}

impl TableState {
    /// A table without entries.
    pub fn new(layouts: TableLayouts) -> TableState {
        let entries = match layouts.has_keys {
            true => EntryTable::new(&layouts.keys, &layouts.entries),
            false => EntryTable::without_keys(&layouts.entries),
        };
        let mut table = TableState {
            entry_address: 0,
            current: 0,
            directory_shift: 0,
            directory: 0,
            pages: 0,
            block_pages: 0,
            no_entry: vec![0; entries.layout().words],
            no_block: None,
            blocks: Pages::new(
                layouts
                    .blocks
                    .as_ref()
                    .map_or(0, |blocks| blocks.types.len()),
            ),
            entries,
            shared_len: Arc::default(),
            layouts,
            key: TableKey::default(),
            key_tuple: TupleBuf::default(),
        };
        table.no_block = table
            .add_block()
            .expect("memory for a table without entries");
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

    /// Values of a variable in all entries that have keys, in no order that means anything.
    pub fn values(&self, variable: usize) -> impl Iterator<Item = Value> {
        let ids = self.entries.ids();
        ids.map(move |id| self.value_in(self.entries.words(id), variable))
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of memory that the table takes.
    pub fn bytes(&self) -> usize {
        self.entries.bytes() + self.blocks.bytes()
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

    /// Adds an entry to a table without keys and makes it current, all variables zero.
    ///
    /// # Errors
    /// Memory for another entry is missing.
    pub fn add_without_key(&mut self) -> Result<(), TableMemoryError> {
        let id = self.add()?;
        self.select(Some(id));
        Ok(())
    }

    /// A buffer for a key, and the layout of keys. It is given back by
    /// [`TableState::find_or_add_taken`].
    pub fn take_key_tuple(&mut self) -> (TupleBuf, Arc<Layout>) {
        (
            std::mem::take(&mut self.key_tuple),
            self.layouts.key.clone(),
        )
    }

    /// Like [`TableState::find_or_add`], for a key in the buffer that was taken.
    ///
    /// # Errors
    /// Memory for another entry is missing.
    pub fn find_or_add_taken(&mut self, key: TupleBuf) -> Result<bool, TableMemoryError> {
        let found = self.find_or_add(key.as_ref());
        self.key_tuple = key;
        found
    }

    /// Makes the entry with an id current, which is there, or the entry of no key by 0.
    pub fn select_id(&mut self, id: u32) {
        self.select(EntryId::from_word(id));
    }

    /// Removes the current entry, if it is one of a key.
    pub fn remove_current(&mut self) {
        if let Some(id) = self.current() {
            if let Some(block) = self.block_in(self.entries.words(id)) {
                self.blocks.remove(block);
            }
            self.entries.remove(id);
            self.publish();
        }
        self.select(None);
    }

    /// Value of a variable in the current entry.
    pub fn get(&self, variable: usize) -> Value {
        self.value_in(self.current_words(), variable)
    }

    /// A variable of the current entry; `None` if it is a scalar.
    pub fn value(&self, variable: usize) -> Option<&Value> {
        let TableVariable::Value(at) = self.layouts.homes[variable] else {
            return None;
        };
        let block = self.block_in(self.current_words())?;
        self.blocks.get(block).get(at)
    }

    /// A variable of the current entry, for changes; `None` if it is a scalar.
    pub fn value_mut(&mut self, variable: usize) -> Option<&mut Value> {
        let TableVariable::Value(at) = self.layouts.homes[variable] else {
            return None;
        };
        let block = self.block_in(self.current_words())?;
        self.blocks.get_mut(block).get_mut(at)
    }

    /// Sets a variable of the current entry to a value of its type.
    pub fn set(&mut self, variable: usize, value: Value) {
        let TableVariable::Scalar { attribute, .. } = self.layouts.homes[variable] else {
            if let Some(old) = self.value_mut(variable) {
                *old = value;
            }
            return;
        };
        match self.current() {
            Some(id) => self.entries.set(id, attribute, &value),
            None => {
                let layout = self.entries.layout();
                layout.set(&mut self.no_entry, attribute, &value);
            }
        }
    }

    fn current_words(&self) -> &[u64] {
        match self.current() {
            Some(id) => self.entries.words(id),
            None => &self.no_entry,
        }
    }

    /// Value of a variable in the words of an entry.
    fn value_in(&self, words: &[u64], variable: usize) -> Value {
        match self.layouts.homes[variable] {
            TableVariable::Scalar { attribute, .. } => self.entries.layout().get(words, attribute),
            TableVariable::Value(at) => {
                let block = self
                    .block_in(words)
                    .expect("an entry with values has a block");
                self.blocks.get(block)[at].clone()
            }
        }
    }

    /// The block of an entry, given the entry's words.
    fn block_in(&self, words: &[u64]) -> Option<EntryId> {
        let block = self.layouts.blocks.as_ref()?;
        match self.entries.layout().get(words, block.attribute) {
            Value::Uint32(id) => EntryId::from_word(id),
            _ => None,
        }
    }

    /// Adds a block of default values, if entries have blocks.
    fn add_block(&mut self) -> Result<Option<EntryId>, TableMemoryError> {
        let Some(layout) = &self.layouts.blocks else {
            return Ok(None);
        };
        let block = self.blocks.add();
        let block = block.map_err(|_| self.entries.memory_error())?;
        set_defaults(self.blocks.get_mut(block), &layout.types);
        Ok(Some(block))
    }

    fn add(&mut self) -> Result<EntryId, TableMemoryError> {
        let added = self.add_with_block();
        // Without memory for all of it, some of it may have moved.
        self.publish();
        if added.is_err() {
            self.publish_entry();
        }
        added
    }

    fn add_with_block(&mut self) -> Result<EntryId, TableMemoryError> {
        let block = self.add_block()?;
        let added = self.entries.add(&self.key);
        match (&added, block, &self.layouts.blocks) {
            (Ok(id), Some(block), Some(layout)) => {
                let block = Value::Uint32(block.word());
                self.entries.set(*id, layout.attribute, &block);
            }
            (Err(_), Some(block), _) => self.blocks.remove(block),
            _ => {}
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
        self.block_pages = self.blocks.addresses();
        let len = self.entries.len() as u64;
        self.shared_len.store(len, Ordering::Relaxed);
    }

    fn select(&mut self, id: Option<EntryId>) {
        self.current = id.map_or(0, EntryId::word);
        if id.is_none() {
            self.clear_no_entry();
        }
        self.publish_entry();
    }

    /// Makes all variables of the entry of no key zero.
    fn clear_no_entry(&mut self) {
        self.no_entry.fill(0);
        if let (Some(block), Some(layout)) = (self.no_block, &self.layouts.blocks) {
            let id = Value::Uint32(block.word());
            let entries = self.entries.layout();
            entries.set(&mut self.no_entry, layout.attribute, &id);
            set_defaults(self.blocks.get_mut(block), &layout.types);
        }
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

fn set_defaults(block: &mut [Value], types: &[Type]) {
    for (value, ty) in block.iter_mut().zip(types) {
        *value = Value::default_of(ty);
    }
}
