//! Layouts of a table's entries that follow from types.

use std::sync::Arc;

use graph::{SortKey, StateTable, StateVar};
use tuple::{Layout, Type, Value};

use super::entry_layout::{EntryLayout, EntryTableType};
use super::entry_queue::has_whole_word;
use super::key_layout::KeyLayout;
use super::pages::Pages;
use super::scalar_slot::is_scalar;

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
    pub(super) attribute: usize,
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
    pub(super) keys: Arc<KeyLayout>,
    pub(super) has_keys: bool,
    pub(super) entries: EntryTableType,
    pub(super) queue: Vec<QueueKey>,
    /// Whether entries with equal words have equal keys in the queue.
    pub(super) has_whole_queue_keys: bool,
}

/// A variable by which the entries in a queue are sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueKey {
    pub(super) variable: usize,
    pub(super) is_descending: bool,
    /// The word of the entry that is an int64, if the variable is one.
    pub(super) int64_at: Option<usize>,
}

impl TableLayouts {
    /// Layouts of a table, given the state variables of its operator.
    pub fn new(table: &StateTable, state: &[StateVar]) -> TableLayouts {
        let key = Layout::new(&table.key.clone().unwrap_or_default());
        let keys = Arc::new(KeyLayout::new(&key, key.schema.attributes.len()));
        let variables = table.variable_types(state);
        let (mut attributes, values): (Vec<Type>, Vec<Type>) =
            variables.iter().cloned().partition(is_scalar);
        let block_attribute = attributes.len();
        if !values.is_empty() {
            attributes.push(Type::Uint32);
        }
        let entries = EntryTableType {
            attributes,
            by_use: table.by_use,
            ..EntryTableType::default()
        };
        let entry = EntryLayout::new(&keys, &entries);
        let (mut scalars, mut in_block) = (0.., 0..);
        let home = |ty: &Type| {
            if !is_scalar(ty) {
                return in_block.next().map(TableVariable::Value);
            }
            let attribute = scalars.next()?;
            let (offset, _) = entry.attributes[attribute];
            Some(TableVariable::Scalar { offset, attribute })
        };
        let homes: Vec<TableVariable> = variables.iter().filter_map(home).collect();
        let queue_key = |key: &SortKey| {
            let variable = table.variables.iter().position(|id| *id == key.variable)?;
            Some(QueueKey {
                variable,
                is_descending: key.is_descending,
                int64_at: match (&variables[variable], homes[variable]) {
                    (Type::Int64, TableVariable::Scalar { offset, .. }) => {
                        Some(offset as usize / 8)
                    }
                    _ => None,
                },
            })
        };
        TableLayouts {
            key,
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
            queue: table.sort_keys.iter().filter_map(queue_key).collect(),
            homes,
            has_whole_queue_keys: match &table.sort_keys[..] {
                [key] => has_whole_word(&state[key.variable.0 as usize].ty),
                _ => false,
            },
        }
    }
}
