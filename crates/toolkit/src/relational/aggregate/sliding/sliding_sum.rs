//! Sums of integers and their means.

use eval::Fault;
use tuple::{Type, Value};

use super::column::SlidingColumn;
use super::sliding_function::SlidingFunction;
use crate::function::number::{NumericScalar, WideNumber};

/// A sum in which no integer overflows, so that it is the same in any order; or the quotient of it
/// and the count.
pub struct SlidingSum<T: NumericScalar> {
    values: SlidingColumn,
    sum: T::Wide,
    is_divided: bool,
}

impl<T: NumericScalar> SlidingSum<T> {
    /// A sum of values of this type.
    pub fn new(argument: &Type, is_divided: bool) -> SlidingSum<T> {
        SlidingSum {
            values: SlidingColumn::new(argument),
            sum: WideNumber::from_i64(0),
            is_divided,
        }
    }
}

impl<T: NumericScalar> SlidingFunction for SlidingSum<T> {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.sum = self.sum.add(T::from_value(&value).widen());
        self.values.push(value);
    }

    fn remove_oldest(&mut self) {
        if let Some(value) = self.values.oldest() {
            self.sum = self.sum.sub(T::from_value(&value).widen());
            self.values.remove_oldest();
        }
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let mut sum = self.sum;
        if self.is_divided {
            sum = sum.div(WideNumber::from_i64(self.values.len() as i64))?;
        }
        Ok(T::narrow(sum).to_value())
    }

    fn clear(&mut self) {
        self.values.clear();
        self.sum = WideNumber::from_i64(0);
    }
}
