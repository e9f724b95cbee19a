//! Sums of integers and their means.

use graph::Fault;
use tuple::{Type, Value};

use super::Sliding;
use super::column::Column;
use crate::function::number::{Number, Wide};

/// A sum in which no integer overflows, so that it is the same in any order; or the quotient of it and
/// the count.
pub struct Total<T: Number> {
    values: Column,
    sum: T::Wide,
    is_divided: bool,
}

impl<T: Number> Total<T> {
    /// Of values of this type.
    pub fn new(argument: &Type, is_divided: bool) -> Total<T> {
        Total {
            values: Column::new(argument),
            sum: Wide::from_i64(0),
            is_divided,
        }
    }
}

impl<T: Number> Sliding for Total<T>
where
    T::Wide: Send + Sync,
{
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.sum = self.sum.add(T::of(&value).widen());
        self.values.push(value);
    }

    fn forget(&mut self) {
        if let Some(value) = self.values.oldest() {
            self.sum = self.sum.sub(T::of(&value).widen());
            self.values.forget();
        }
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let mut sum = self.sum;
        if self.is_divided {
            sum = sum.div(Wide::from_i64(self.values.len() as i64))?;
        }
        Ok(T::narrow(sum).value())
    }

    fn clear(&mut self) {
        self.values.clear();
        self.sum = Wide::from_i64(0);
    }
}
