//! The values that an Aggregate takes from each tuple: group keys, and arguments of functions.

use std::sync::Arc;

use runtime::window::encode_key_prefix;
use tuple::{Layout, TupleRef, Type, Value};

use super::column;

/// Use of the kept values of tuples: keys of groups, and arguments of functions.
pub struct Grouping {
    /// The functions over columns, in the order of their calls.
    pub functions: Vec<ColumnCall>,
    layout: Arc<Layout>,
    /// Number of values that belong to `groupBy`; they come first.
    group_by: usize,
    key: Vec<u8>,
}

/// A call of a function over columns.
pub struct ColumnCall {
    pub name: Box<str>,
    pub arguments: Vec<Type>,
    pub result: Type,
    /// The function over whole columns.
    pub function: column::ColumnFunction,
    /// Indices of the arguments among the kept values.
    pub columns: Vec<usize>,
}

impl Grouping {
    /// A grouping of tuples whose kept values have this layout; the first `group_by` of them are
    /// those of `groupBy`.
    pub fn new(functions: Vec<ColumnCall>, layout: Arc<Layout>, group_by: usize) -> Grouping {
        Grouping {
            functions,
            layout,
            group_by,
            key: Vec::new(),
        }
    }

    /// Whether a window may have more than one group.
    pub fn makes_groups(&self) -> bool {
        self.group_by > 0
    }

    /// The key of a tuple's group.
    pub fn key(&mut self, values: TupleRef<'_>) -> &[u8] {
        self.key.clear();
        encode_key_prefix(values, &self.layout, self.group_by, &mut self.key);
        &self.key
    }

    /// The functions with their arguments: the first one, and the second one if there is any.
    pub fn arguments<'g>(
        &'g self,
        values: TupleRef<'g>,
    ) -> impl Iterator<Item = (Value, Option<Value>)> + 'g {
        self.functions.iter().map(move |function| {
            let value = |&at: &usize| values.get(&self.layout, at);
            let first = value(&function.columns[0]);
            (first, function.columns.get(1).map(value))
        })
    }
}
