//! Functions that run over all values for each result.

use eval::Fault;
use tuple::{Type, Value};

use super::column::SlidingColumn;
use super::sliding_function::SlidingFunction;
use crate::relational::aggregate::column;
use crate::relational::aggregate::grouping::ColumnCall;

/// The columns of the arguments, with the function that runs over them.
pub struct WholeColumnFunction {
    function: column::ColumnFunction,
    values: SlidingColumn,
    others: Option<SlidingColumn>,
    result: Type,
}

impl WholeColumnFunction {
    /// A function for a call, with empty columns.
    pub fn new(function: &ColumnCall) -> WholeColumnFunction {
        WholeColumnFunction {
            function: function.function,
            values: SlidingColumn::new(&function.arguments[0]),
            others: function.arguments.get(1).map(SlidingColumn::new),
            result: function.result.clone(),
        }
    }
}

impl SlidingFunction for WholeColumnFunction {
    fn add(&mut self, value: Value, other: Option<Value>) {
        self.values.push(value);
        if let (Some(others), Some(other)) = (&mut self.others, other) {
            others.push(other);
        }
    }

    fn remove_oldest(&mut self) {
        self.values.remove_oldest();
        self.others
            .iter_mut()
            .for_each(SlidingColumn::remove_oldest);
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
        self.others.iter_mut().for_each(SlidingColumn::clear);
    }
}
