//! Tables of state: what tuples of one key share.

use std::sync::Arc;

use tuple::{TupleType, Type};

use crate::{StateId, StateVar};

/// A table of an operator's state: entries, each with a value for each variable of the table.
///
/// One entry of a table is the *current* one: its values are those of the table's variables, for
/// expressions and assignments alike. [`crate::Stmt::FindEntry`] makes the entry of a key current,
/// [`crate::Stmt::SelectEntry`] that with an id.
#[derive(Clone, Debug)]
pub struct StateTable {
    /// Name of the table, for printing.
    pub name: Arc<str>,
    /// Types of what a key is made of. `None`: entries have no keys, and are found by their ids
    /// alone.
    pub key: Option<Arc<TupleType>>,
    /// State variables that live in the table; without an initial value.
    pub variables: Vec<StateId>,
    /// Order of the table's queue, the most significant key first; empty if it has none.
    pub sort_keys: Vec<SortKey>,
    /// Whether the table knows which entry was not used for the longest time.
    pub by_use: bool,
}

/// A variable by which the entries in a table's queue are sorted.
#[derive(Clone, Copy, Debug)]
pub struct SortKey {
    /// Variable of the table.
    pub variable: StateId,
    /// Whether greater values come first.
    pub is_descending: bool,
}

impl StateTable {
    /// Types of the table's variables, given all of the operator.
    pub fn variable_types(&self, state: &[StateVar]) -> Vec<Type> {
        let types = self.variables.iter();
        types.map(|id| state[id.0 as usize].ty.clone()).collect()
    }
}
