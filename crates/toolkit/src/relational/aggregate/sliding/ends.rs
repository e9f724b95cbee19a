//! The first and the last value.

use graph::Fault;
use tuple::{Type, Value};

use super::Sliding;
use super::column::Column;
use crate::relational::aggregate::running::no_value;

/// The first value.
pub struct First(Column);

impl First {
    /// Of values of a type.
    pub fn new(argument: &Type) -> First {
        First(Column::new(argument))
    }
}

impl Sliding for First {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.0.push(value);
    }

    fn forget(&mut self) {
        self.0.forget();
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
pub struct Last(Option<Value>);

impl Sliding for Last {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.0 = Some(value);
    }

    /// The last value leaves last, and then nobody asks before another one has come.
    fn forget(&mut self) {}

    fn result(&mut self) -> Result<Value, Fault> {
        self.0.clone().ok_or_else(no_value)
    }

    fn clear(&mut self) {
        self.0 = None;
    }
}
