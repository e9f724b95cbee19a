//! Functions for which each result takes all values.

use graph::Fault;
use tuple::{Type, Value};

use super::Sliding;
use super::column::Column;
use crate::relational::aggregate::column;
use crate::relational::aggregate::grouping::Function;

/// The columns of the arguments, and what runs over them.
pub struct Whole {
    function: column::Function,
    values: Column,
    others: Option<Column>,
    result: Type,
}

impl Whole {
    /// For a call.
    pub fn new(function: &Function) -> Whole {
        Whole {
            function: function.whole,
            values: Column::new(&function.arguments[0]),
            others: function.arguments.get(1).map(Column::new),
            result: function.result.clone(),
        }
    }
}

impl Sliding for Whole {
    fn add(&mut self, value: Value, other: Option<Value>) {
        self.values.push(value);
        if let (Some(others), Some(other)) = (&mut self.others, other) {
            others.push(other);
        }
    }

    fn forget(&mut self) {
        self.values.forget();
        self.others.iter_mut().for_each(Column::forget);
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let values = self.values.values();
        let others = self
            .others
            .as_mut()
            .map_or(values, |others| others.values());
        (self.function)(values, others, &self.result)
    }

    fn clear(&mut self) {
        self.values.clear();
        self.others.iter_mut().for_each(Column::clear);
    }
}
