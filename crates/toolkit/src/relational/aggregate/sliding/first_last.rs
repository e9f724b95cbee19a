//! The first and the last value of a sliding window.

use eval::Fault;
use tuple::{Type, Value};

use super::column::SlidingColumn;
use super::sliding_function::SlidingFunction;
use crate::relational::aggregate::running_function::no_value;

/// The oldest value of the window.
pub struct SlidingFirst(SlidingColumn);

impl SlidingFirst {
    /// A function over values of a type.
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

/// The newest value of the window.
#[derive(Default)]
pub struct SlidingLast(Option<Value>);

impl SlidingFunction for SlidingLast {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.0 = Some(value);
    }

    /// The newest value is removed last, and no result is asked for before another one is added.
    fn remove_oldest(&mut self) {}

    fn result(&mut self) -> Result<Value, Fault> {
        self.0.clone().ok_or_else(no_value)
    }

    fn clear(&mut self) {
        self.0 = None;
    }
}
