//! Sums, means and deviations of numbers whose additions round: floats, decimals, complex numbers.

use eval::Fault;
use tuple::{Type, Value};

use super::blocks::{Accumulator, Blocks};
use super::sliding_function::SlidingFunction;
use crate::function::number::{NumericScalar, WideNumber};
use crate::relational::aggregate::moments::Moments;
use crate::relational::aggregate::running_function::no_value;

/// The sum of some values.
#[derive(Clone, Copy)]
struct Sum<W>(W);

impl<T: NumericScalar> Accumulator<T> for Sum<T::Wide> {
    fn of(number: T) -> Self {
        Sum(number.widen())
    }

    fn add(self, number: T) -> Self {
        Sum(self.0.add(number.widen()))
    }

    fn merge(self, later: Self) -> Self {
        Sum(self.0.add(later.0))
    }
}

impl<T: NumericScalar> Accumulator<T> for Moments<T::Wide> {
    fn of(number: T) -> Self {
        Moments::of(number.widen())
    }

    fn add(self, number: T) -> Self {
        Moments::add(self, number.widen())
    }

    fn merge(self, later: Self) -> Self {
        Moments::merge(self, later)
    }
}

/// A sum, or the quotient of it and the count.
pub struct BlockedSum<T: NumericScalar> {
    blocks: Blocks<T, Sum<T::Wide>>,
    is_divided: bool,
}

impl<T: NumericScalar> BlockedSum<T> {
    /// A sum of no values.
    pub fn new(is_divided: bool) -> BlockedSum<T> {
        BlockedSum {
            blocks: Blocks::new(),
            is_divided,
        }
    }
}

impl<T: NumericScalar> SlidingFunction for BlockedSum<T> {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.blocks.push(T::from_value(&value));
    }

    fn remove_oldest(&mut self) {
        self.blocks.remove_oldest();
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let Sum(mut sum) = self.blocks.aggregate().ok_or_else(no_value)?;
        if self.is_divided {
            sum = sum.div(WideNumber::from_i64(self.blocks.len() as i64))?;
        }
        Ok(T::narrow(sum).to_value())
    }

    fn clear(&mut self) {
        self.blocks.clear();
    }
}

/// The standard deviation of the values in a window.
pub struct BlockedDeviation<T: NumericScalar> {
    blocks: Blocks<T, Moments<T::Wide>>,
    /// The divisor of the variance is the count minus this.
    divisor_reduction: i64,
    ty: Type,
}

impl<T: NumericScalar> BlockedDeviation<T> {
    /// A deviation of no values of this type.
    pub fn new(ty: &Type, divisor_reduction: i64) -> BlockedDeviation<T> {
        BlockedDeviation {
            blocks: Blocks::new(),
            divisor_reduction,
            ty: ty.clone(),
        }
    }
}

impl<T: NumericScalar> SlidingFunction for BlockedDeviation<T> {
    fn add(&mut self, value: Value, _: Option<Value>) {
        self.blocks.push(T::from_value(&value));
    }

    fn remove_oldest(&mut self) {
        self.blocks.remove_oldest();
    }

    fn result(&mut self) -> Result<Value, Fault> {
        let moments = self.blocks.aggregate().ok_or_else(no_value)?;
        Ok(match moments.deviation(self.divisor_reduction) {
            Some(deviation) => T::narrow(deviation).to_value(),
            None => Value::default_of(&self.ty),
        })
    }

    fn clear(&mut self) {
        self.blocks.clear();
    }
}
