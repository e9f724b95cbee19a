//! A table of entries that are found by their keys.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use tuple::{Layout, TupleType, Value};

use super::entry_layout::{EntryLayout, EntryTableType};
use super::entry_order::EntryOrder;
use super::index::Index;
use super::key_layout::{KeyLayout, TableKey};
use super::key_strings::{KeyStrings, NO_PLACE};
use super::pages::{EntryId, Pages};
use crate::{Fault, FaultKind};

/// A table of entries that are found by their keys: the state that tuples of one key share.
///
/// No operation takes long, however many entries there are. Memory is taken in pieces of 64 KiB and
/// given back when entries are removed. Nothing that can be seen depends on the seed of the hashes.
///
/// ```
/// use std::sync::Arc;
/// use thalweg_eval::{EntryTable, EntryTableType, KeyLayout, TableKey};
/// use tuple::{Layout, TupleBuf, TupleType, Type, Value};
///
/// let symbols = Layout::new(&Arc::new(TupleType::new([("symbol", Type::RString)])));
/// let keys = Arc::new(KeyLayout::new(&symbols, 1));
/// let mut counts = EntryTable::new(&keys, &EntryTableType {
///     attributes: vec![Type::Int64],
///     ..EntryTableType::default()
/// });
/// let (mut tuple, mut key) = (TupleBuf::default(), TableKey::default());
/// for symbol in ["GOOG", "IBM", "GOOG"] {
///     tuple.begin(&symbols);
///     tuple.set(&symbols, 0, &Value::RString(symbol.into()));
///     keys.encode(tuple.as_ref(), &mut key);
///     let id = match counts.find(&key) {
///         Some(id) => id,
///         None => counts.add(&key)?,
///     };
///     let Value::Int64(count) = counts.get(id, 0) else { unreachable!() };
///     counts.set(id, 0, &Value::Int64(count + 1));
/// }
/// let goog = counts.find(&key).map(|id| counts.get(id, 0));
/// assert_eq!((counts.len(), goog), (2, Some(Value::Int64(2))));
/// # Ok::<(), thalweg_eval::TableMemoryError>(())
/// ```
#[derive(Debug)]
pub struct EntryTable {
    keys: Arc<KeyLayout>,
    layout: EntryLayout,
    /// None for entries without keys.
    index: Option<Index>,
    pages: Pages,
    strings: KeyStrings,
    by_age: Option<EntryOrder>,
    by_use: Option<EntryOrder>,
}

/// A further entry of a table, or tuple to keep, for which there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableMemoryError {
    /// Entries that there are.
    pub entries: u64,
    /// Bytes that they take.
    pub bytes: u64,
    /// Bytes that the operator's state may take, if that was the reason.
    pub bytes_max: Option<u64>,
}

impl fmt::Display for TableMemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (entries, bytes) = (self.entries, self.bytes);
        match self.bytes_max {
            Some(max) => write!(
                f,
                "state of {entries} entries would take {bytes} bytes, and config `stateBytesMax` \
                 allows {max}"
            ),
            None => write!(
                f,
                "no memory for more state than {entries} entries in {bytes} bytes"
            ),
        }
    }
}

impl std::error::Error for TableMemoryError {}

impl From<TableMemoryError> for Fault {
    fn from(error: TableMemoryError) -> Fault {
        Fault::new(FaultKind::Limit, error.to_string())
    }
}

impl EntryTable {
    /// A table without entries.
    pub fn new(keys: &Arc<KeyLayout>, table: &EntryTableType) -> EntryTable {
        let layout = EntryLayout::new(keys, table);
        EntryTable {
            index: Some(Index::new()),
            pages: Pages::new(layout.words),
            strings: KeyStrings::default(),
            by_age: layout.age_links.map(EntryOrder::new),
            by_use: layout.use_links.map(EntryOrder::new),
            keys: keys.clone(),
            layout,
        }
    }

    /// A table without entries, whose entries have no keys.
    pub(super) fn without_keys(table: &EntryTableType) -> EntryTable {
        let keys = KeyLayout::new(&Layout::new(&Arc::new(TupleType::default())), 0);
        EntryTable {
            index: None,
            ..EntryTable::new(&Arc::new(keys), table)
        }
    }

    /// Number of entries in the table.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that the table takes.
    pub fn bytes(&self) -> usize {
        self.index.as_ref().map_or(0, Index::bytes) + self.pages.bytes() + self.strings.bytes()
    }

    /// Id of the entry of a key.
    pub fn find(&self, key: &TableKey) -> Option<EntryId> {
        let has_key = |id| {
            let entry = self.pages.get(EntryId(id));
            self.keys.has_key(entry, &self.strings, key)
        };
        self.index.as_ref()?.find(key.hash, has_key).map(EntryId)
    }

    /// Adds an entry for a key that has none: all attributes are zero, no other is younger or was
    /// used later.
    ///
    /// # Errors
    /// Memory is missing; the table is as before.
    pub fn add(&mut self, key: &TableKey) -> Result<EntryId, TableMemoryError> {
        let Ok(id) = self.pages.add() else {
            return Err(self.memory_error());
        };
        self.pages.get_mut(id)[..self.keys.words].copy_from_slice(&key.words);
        if !self.add_long_strings(id, key) || !self.add_to_index(key.hash, id) {
            self.remove_long_strings(id);
            self.pages.remove(id);
            return Err(self.memory_error());
        }
        for order in [&mut self.by_age, &mut self.by_use].into_iter().flatten() {
            order.append(&mut self.pages, id);
        }
        Ok(id)
    }

    /// Removes an entry; its id may be that of a later one.
    pub fn remove(&mut self, id: EntryId) {
        let hash = self.hash(id);
        if let Some(index) = &mut self.index {
            index.remove(hash, id.0);
        }
        for order in [&mut self.by_age, &mut self.by_use].into_iter().flatten() {
            order.remove(&mut self.pages, id);
        }
        self.remove_long_strings(id);
        self.pages.remove(id);
    }

    /// Gives back memory that is kept for further entries.
    pub(super) fn drop_spare(&mut self) {
        self.pages.drop_spare();
    }

    /// Removes all entries, and gives back their memory.
    pub fn clear(&mut self) {
        self.index.iter_mut().for_each(Index::clear);
        self.pages.clear();
        self.strings.clear();
        for order in [&mut self.by_age, &mut self.by_use].into_iter().flatten() {
            order.clear();
        }
    }

    /// Notes that an entry is used: no other was used later.
    pub fn set_last_used(&mut self, id: EntryId) {
        if let Some(order) = &mut self.by_use
            && order.last() != Some(id)
        {
            order.remove(&mut self.pages, id);
            order.append(&mut self.pages, id);
        }
    }

    /// The oldest entry of a table by age.
    pub fn oldest(&self) -> Option<EntryId> {
        self.by_age.as_ref()?.first()
    }

    /// The entry that came next after another, in a table by age.
    pub fn next_younger(&self, id: EntryId) -> Option<EntryId> {
        self.by_age.as_ref()?.after(&self.pages, id)
    }

    /// The entry that was not used for the longest time, in a table by use.
    pub fn least_used(&self) -> Option<EntryId> {
        self.by_use.as_ref()?.first()
    }

    /// Ids of all entries that have keys, in no order that means anything.
    pub fn ids(&self) -> impl Iterator<Item = EntryId> {
        self.index.iter().flat_map(Index::ids).map(EntryId)
    }

    /// Value of an attribute.
    pub fn get(&self, id: EntryId, attribute: usize) -> Value {
        self.layout.get(self.pages.get(id), attribute)
    }

    /// Sets an attribute to a scalar of its type.
    pub fn set(&mut self, id: EntryId, attribute: usize, value: &Value) {
        self.layout.set(self.pages.get_mut(id), attribute, value);
    }

    /// Words of an entry.
    pub(super) fn words(&self, id: EntryId) -> &[u64] {
        self.pages.get(id)
    }

    /// Words of an entry, for changes.
    pub(super) fn words_mut(&mut self, id: EntryId) -> &mut [u64] {
        self.pages.get_mut(id)
    }

    /// Address of the directory of the index, and by how many bits a hash is shifted to be an index
    /// of it.
    pub(super) fn directory(&self) -> (usize, u32) {
        self.index.as_ref().map_or((0, 0), Index::directory)
    }

    /// Address of the addresses of pages.
    pub(super) fn page_addresses(&self) -> usize {
        self.pages.addresses()
    }

    /// Address of an entry, where it stays until [`EntryTable::moves`] gives another number.
    pub(super) fn address(&self, id: EntryId) -> usize {
        self.words(id).as_ptr().expose_provenance()
    }

    /// How often entries have moved to other addresses.
    pub(super) fn moves(&self) -> u64 {
        self.pages.moves()
    }

    /// Layout of the entries.
    pub(super) fn layout(&self) -> &EntryLayout {
        &self.layout
    }

    /// The error for want of memory.
    pub(super) fn memory_error(&self) -> TableMemoryError {
        TableMemoryError {
            entries: self.len() as u64,
            bytes: self.bytes() as u64,
            bytes_max: None,
        }
    }

    /// Puts an entry into the index, if there is one. Whether there was memory.
    fn add_to_index(&mut self, hash: u32, id: EntryId) -> bool {
        let index = self.index.as_mut();
        index.is_none_or(|index| index.insert(hash, id.0).is_ok())
    }

    /// Hash of an entry's key.
    fn hash(&self, id: EntryId) -> u32 {
        let words = &self.pages.get(id)[..self.keys.words];
        let long = self.keys.long_strings(words);
        let long = long.map(|(at, len)| self.strings.get(words[at + 1], len));
        self.keys.hash(words, long)
    }

    /// Keeps the long strings of a key for its entry. Whether there was memory for all, and none is
    /// longer than a key can say. Those before one that finds none have their places.
    fn add_long_strings(&mut self, id: EntryId, key: &TableKey) -> bool {
        key.long().all(|(word, text)| {
            let is_sayable = u32::try_from(text.len()).is_ok();
            let place = is_sayable.then(|| self.strings.add(id, word as u32, text));
            let Some(Ok(place)) = place else { return false };
            self.pages.get_mut(id)[word + 1] = place;
            true
        })
    }

    fn remove_long_strings(&mut self, id: EntryId) {
        let words = &self.pages.get(id)[..self.keys.words];
        let long: SmallVec<[usize; 4]> = self.keys.long_strings(words).map(|(at, _)| at).collect();
        for at in long {
            // Taken anew, for the removal of another may have moved this one.
            let place = std::mem::take(&mut self.pages.get_mut(id)[at + 1]);
            if place != NO_PLACE {
                let pages = &mut self.pages;
                self.strings.remove(place, |moved| {
                    pages.get_mut(moved.owner)[moved.word as usize + 1] = moved.place;
                });
            }
        }
    }
}
