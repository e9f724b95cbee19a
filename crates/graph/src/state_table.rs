//! Tables of state: what tuples of one key share.

use std::sync::Arc;

use tuple::{TupleType, Type};

use crate::{StateId, StateVar};

/// A table of an operator's state: for each key an entry, which has a value for each variable of
/// the table.
///
/// One entry of a table is the *current* one: its values are those of the table's variables, for
/// expressions and assignments alike. [`crate::Stmt::FindEntry`] makes another one current.
#[derive(Clone, Debug)]
pub struct StateTable {
    /// Name of the table, for printing.
    pub name: Arc<str>,
    /// Types of what a key is made of.
    pub key: Arc<TupleType>,
    /// State variables that live in the table; scalars without an initial value.
    pub variables: Vec<StateId>,
}

impl StateTable {
    /// Types of the table's variables, given all of the operator.
    pub fn variable_types(&self, state: &[StateVar]) -> Vec<Type> {
        let types = self.variables.iter();
        types.map(|id| state[id.0 as usize].ty.clone()).collect()
    }
}
