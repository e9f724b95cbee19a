//! The first and the last value.

use eval::Fault;
use tuple::{Type, Value};

use super::column::SlidingColumn;
use super::sliding_function::SlidingFunction;
use crate::relational::aggregate::running_function::no_value;

/// The first value.
pub struct SlidingFirst(SlidingColumn);

impl SlidingFirst {
    /// Of values of a type.
    pub fn new(argument: &Type) -> SlidingFirst {
        SlidingFirst(SlidingColumn::new(argument))
    }
}

impl SlidingFunction for SlidingFirst {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.0.push(value);
    }

    fn remove_oldest(&mut self) {
        self.0.remove_oldest();
    }

    fn result(&mut self) -> Result<Value, Fault> {
        self.0.oldest().ok_or_else(no_value)
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// The last value.
#[derive(Default)]
pub struct SlidingLast(Option<Value>);

impl SlidingFunction for SlidingLast {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.0 = Some(value);
    }

    /// The last value leaves last, and then nobody asks before another one has come.
    fn remove_oldest(&mut self) {}

    fn result(&mut self) -> Result<Value, Fault> {
        self.0.clone().ok_or_else(no_value)
    }

    fn clear(&mut self) {
        self.0 = None;
    }
}
