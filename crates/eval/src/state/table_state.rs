//! A table of an operator's state while the operator runs: its entries, and which is current.
//!
//! Compiled code may begin the search for a key of integers itself. In a small table it looks at
//! one slot ([`super::direct_index`]), which has the entry's address, and if that is not the
//! key's entry, as in all others:
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

use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use super::direct_index::{DirectIndex, DirectSlot, DirectSlots};
use super::entry_queue::EntryQueue;
use super::entry_store::EntryStore;
use super::entry_table::{EntryTable, TableMemoryError};
use super::key_layout::TableKey;
use super::pages::EntryId;
use super::state_memory::{StateMemory, TableMemory};
use super::table_layouts::{TableLayouts, TableVariable};

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
    /// Index of a small table whose keys are integers.
    pub direct: DirectSlots,
    direct_index: Option<DirectIndex>,
    store: EntryStore,
    queue: EntryQueue,
    /// Number of entries, which other threads may read.
    shared_len: Arc<AtomicU64>,
    /// Memory of all tables of the operator, and what of it is this table's.
    memory: Arc<StateMemory>,
    counted: TableMemory,
    /// The entry of no key: current while no other is.
    no_entry: Vec<u64>,
    /// The block of that entry.
    no_block: Option<EntryId>,
    key: TableKey,
    key_tuple: TupleBuf,
}

impl TableState {
    /// A table without entries.
    pub fn new(layouts: TableLayouts, memory: &Arc<StateMemory>) -> TableState {
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
            direct: DirectSlots::default(),
            direct_index: layouts.integers.is_some().then(DirectIndex::new),
            no_entry: vec![0; entries.layout().words],
            no_block: None,
            store: EntryStore::new(entries, layouts),
            queue: EntryQueue::default(),
            shared_len: Arc::default(),
            memory: memory.clone(),
            counted: TableMemory::default(),
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
        self.store.entries.len()
    }

    /// Number of entries, for other threads to read.
    pub fn shared_len(&self) -> Arc<AtomicU64> {
        self.shared_len.clone()
    }

    /// Values of a variable in all entries that have keys, in no order that means anything.
    pub fn values(&self, variable: usize) -> impl Iterator<Item = Value> {
        let ids = self.store.entries.ids();
        ids.map(move |id| self.store.value_in(self.store.entries.words(id), variable))
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.store.entries.is_empty()
    }

    /// Bytes of memory that the table takes.
    pub fn bytes(&self) -> usize {
        let direct = self.direct_index.as_ref().map_or(0, DirectIndex::bytes);
        self.store.entries.bytes() + self.store.blocks.bytes() + self.queue.bytes() + direct
    }

    /// Makes the entry of a key current. Whether it was added, all variables zero.
    ///
    /// # Errors
    /// Memory for another entry is missing.
    pub fn find_or_add(&mut self, key: TupleRef<'_>) -> Result<bool, TableMemoryError> {
        self.store.layouts.keys.encode(key, &mut self.key);
        self.find_or_add_key()
    }

    /// Like [`TableState::find_or_add`], for a key of integers, given its words.
    ///
    /// # Errors
    /// Memory for another entry is missing.
    pub fn find_or_add_words(&mut self, words: &[u64]) -> Result<bool, TableMemoryError> {
        self.store.layouts.keys.take_words(words, &mut self.key);
        self.find_or_add_key()
    }

    fn find_or_add_key(&mut self) -> Result<bool, TableMemoryError> {
        let found = self.store.entries.find(&self.key);
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
            self.store.layouts.key.clone(),
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
            self.remove(id);
        }
        self.select(None);
    }

    fn remove(&mut self, id: EntryId) {
        if let Some(block) = self.store.block_in(self.store.entries.words(id)) {
            self.store.blocks.remove(block);
        }
        if let Some(direct) = &mut self.direct_index {
            let key = &self.store.entries.words(id)[..self.store.layouts.key_words];
            direct.remove(key, id.word(), self.store.entries.len() == 1);
        }
        self.store.entries.remove(id);
        self.publish();
    }

    /// Puts the current entry, which is not in it yet, into the queue. Until it is taken out, it is
    /// not removed.
    ///
    /// # Errors
    /// Memory for it is missing.
    pub fn enqueue_current(&mut self) -> Result<(), TableMemoryError> {
        let Some(id) = self.current() else {
            return Ok(());
        };
        let before = self.queue.bytes();
        let pushed = self.queue.push(self.store.queue_word(id), id);
        pushed.map_err(|_| self.store.entries.memory_error())?;
        if self.queue.bytes() == before {
            return Ok(());
        }
        self.count_memory();
        self.check_bound()
    }

    /// Takes the first entry out of the queue and makes it current.
    pub fn dequeue(&mut self) {
        let first = self.queue.pop(&self.store);
        self.select(first);
    }

    /// Notes that the current entry is used.
    pub fn use_current(&mut self) {
        if let Some(id) = self.current() {
            self.store.entries.set_last_used(id);
        }
    }

    /// Makes the entry current that was not used for the longest time.
    pub fn select_least_used(&mut self) {
        self.select(self.store.entries.least_used());
    }

    /// Value of a variable in the current entry.
    pub fn get(&self, variable: usize) -> Value {
        self.store.value_in(self.current_words(), variable)
    }

    /// A variable of the current entry; `None` if it is a scalar.
    pub fn value(&self, variable: usize) -> Option<&Value> {
        let TableVariable::Value(at) = self.store.layouts.homes[variable] else {
            return None;
        };
        let block = self.store.block_in(self.current_words())?;
        self.store.blocks.get(block).get(at)
    }

    /// A variable of the current entry, for changes; `None` if it is a scalar.
    pub fn value_mut(&mut self, variable: usize) -> Option<&mut Value> {
        let TableVariable::Value(at) = self.store.layouts.homes[variable] else {
            return None;
        };
        let block = self.store.block_in(self.current_words())?;
        self.store.blocks.get_mut(block).get_mut(at)
    }

    /// Sets a variable of the current entry to a value of its type.
    pub fn set(&mut self, variable: usize, value: Value) {
        let TableVariable::Scalar { attribute, .. } = self.store.layouts.homes[variable] else {
            if let Some(old) = self.value_mut(variable) {
                *old = value;
            }
            return;
        };
        match self.current() {
            Some(id) => self.store.entries.set(id, attribute, &value),
            None => {
                let layout = self.store.entries.layout();
                layout.set(&mut self.no_entry, attribute, &value);
            }
        }
    }

    fn current_words(&self) -> &[u64] {
        match self.current() {
            Some(id) => self.store.entries.words(id),
            None => &self.no_entry,
        }
    }

    /// Adds a block of default values, if entries have blocks.
    fn add_block(&mut self) -> Result<Option<EntryId>, TableMemoryError> {
        let Some(layout) = &self.store.layouts.blocks else {
            return Ok(None);
        };
        let block = self.store.blocks.add();
        let block = block.map_err(|_| self.store.entries.memory_error())?;
        set_defaults(self.store.blocks.get_mut(block), &layout.types);
        Ok(Some(block))
    }

    fn add(&mut self) -> Result<EntryId, TableMemoryError> {
        let mut added = self.add_with_block();
        // Without memory for all of it, some of it may have moved.
        self.publish();
        if let (Ok(id), Err(error)) = (&added, self.check_bound()) {
            self.remove(*id);
            self.store.entries.drop_spare();
            self.store.blocks.drop_spare();
            self.publish();
            added = Err(error);
        }
        if added.is_err() {
            self.publish_entry();
        }
        added
    }

    /// Fails if the operator's tables are beyond their bound.
    fn check_bound(&self) -> Result<(), TableMemoryError> {
        match self.memory.exceeded_max() {
            None => Ok(()),
            Some(max) => Err(TableMemoryError {
                entries: self.memory.entries(),
                bytes: self.memory.bytes(),
                bytes_max: Some(max),
            }),
        }
    }

    /// Counts the table anew in the memory of the operator.
    fn count_memory(&mut self) {
        let now = TableMemory {
            entries: self.len() as u64,
            bytes: self.bytes() as u64,
        };
        self.memory.replace(self.counted, now);
        self.counted = now;
    }

    fn add_with_block(&mut self) -> Result<EntryId, TableMemoryError> {
        let block = self.add_block()?;
        let added = self.store.entries.add(&self.key);
        match (&added, block, &self.store.layouts.blocks) {
            (Ok(id), Some(block), Some(layout)) => {
                let block = Value::Uint32(block.word());
                self.store.entries.set(*id, layout.attribute, &block);
            }
            (Err(_), Some(block), _) => self.store.blocks.remove(block),
            _ => {}
        }
        if let (Ok(id), Some(direct)) = (&added, &mut self.direct_index) {
            let slot = DirectSlot {
                entry: self.store.entries.address(*id),
                id: id.word(),
            };
            direct.insert(&self.key.words, slot);
        }
        added
    }

    fn current(&self) -> Option<EntryId> {
        EntryId::from_word(self.current)
    }

    /// Sets what others read of the entries.
    fn publish(&mut self) {
        (self.directory, self.directory_shift) = self.store.entries.directory();
        self.pages = self.store.entries.page_addresses();
        self.block_pages = self.store.blocks.addresses();
        if let Some(direct) = &mut self.direct_index {
            let entries = &self.store.entries;
            direct.follow_moves(entries.moves(), |id| entries.address(EntryId(id)));
            self.direct = direct.slots();
        }
        let len = self.store.entries.len() as u64;
        self.shared_len.store(len, Ordering::Relaxed);
        self.count_memory();
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
        if let (Some(block), Some(layout)) = (self.no_block, &self.store.layouts.blocks) {
            let id = Value::Uint32(block.word());
            let entries = self.store.entries.layout();
            entries.set(&mut self.no_entry, layout.attribute, &id);
            set_defaults(self.store.blocks.get_mut(block), &layout.types);
        }
    }

    /// Sets the address of the current entry.
    fn publish_entry(&mut self) {
        let words = match self.current() {
            Some(id) => self.store.entries.words_mut(id),
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
