//! The entries of an operator's table, with the blocks of values that some of them have.

use std::cmp::Ordering;

use tuple::Value;

use super::entry_queue::{CompareEntries, int64_word, key_word};
use super::entry_table::EntryTable;
use super::pages::{EntryId, Pages};
use super::table_layouts::{TableLayouts, TableVariable};

/// The entries of a table, and what variables they have.
#[derive(Debug)]
pub(super) struct EntryStore {
    pub(super) entries: EntryTable,
    /// Blocks of values, if some variables are no scalars.
    pub(super) blocks: Pages<Value>,
    pub(super) layouts: TableLayouts,
}

impl EntryStore {
    /// A store without entries.
    pub(super) fn new(entries: EntryTable, layouts: TableLayouts) -> EntryStore {
        let blocks = layouts.blocks.as_ref();
        EntryStore {
            entries,
            blocks: Pages::new(blocks.map_or(0, |blocks| blocks.types.len())),
            layouts,
        }
    }

    /// Value of a variable in the words of an entry.
    pub(super) fn value_in(&self, words: &[u64], variable: usize) -> Value {
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
    pub(super) fn block_in(&self, words: &[u64]) -> Option<EntryId> {
        let block = self.layouts.blocks.as_ref()?;
        match self.entries.layout().get(words, block.attribute) {
            Value::Uint32(id) => EntryId::from_word(id),
            _ => None,
        }
    }

    /// Word of the first key by which an entry is sorted.
    pub(super) fn queue_word(&self, id: EntryId) -> u64 {
        let Some(key) = self.layouts.queue.first() else {
            return 0;
        };
        let words = self.entries.words(id);
        match key.int64_at {
            Some(at) => int64_word(words[at] as i64, key.is_descending),
            None => key_word(&self.value_in(words, key.variable), key.is_descending),
        }
    }
}

impl CompareEntries for EntryStore {
    #[inline]
    fn has_whole_keys(&self) -> bool {
        self.layouts.has_whole_queue_keys
    }

    fn compare(&self, a: EntryId, b: EntryId) -> Ordering {
        let [a, b] = [a, b].map(|id| self.entries.words(id));
        let mut orders = self.layouts.queue.iter().map(|key| {
            let [a, b] = [a, b].map(|words| self.value_in(words, key.variable));
            let order = a.total_cmp(&b);
            if key.is_descending {
                order.reverse()
            } else {
                order
            }
        });
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}
