//! The numbers of the library function `range`, which a loop takes one after the other without a
//! list of them.

use tuple::Value;

use super::faults;
use crate::Fault;

/// Numbers from `first` on, in equal steps, before they reach a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerRange {
    first: i32,
    step: i32,
    len: u32,
}

impl IntegerRange {
    /// The numbers of a call of `range`. Its arguments are a limit, or a list whose indexes are
    /// meant; a start and a limit; or a start, a limit and a step.
    ///
    /// # Errors
    /// If the step is 0.
    pub fn from_args(args: &[&Value]) -> Result<IntegerRange, Fault> {
        match *args {
            [Value::Int32(limit)] => IntegerRange::new(0, *limit, 1),
            // A list is never longer than its indexes' type allows.
            [Value::List(list)] => IntegerRange::new(0, list.len() as i32, 1),
            [Value::Int32(start), Value::Int32(limit)] => IntegerRange::new(*start, *limit, 1),
            [Value::Int32(start), Value::Int32(limit), Value::Int32(step)] => {
                IntegerRange::new(*start, *limit, *step)
            }
            _ => Err(faults::mistyped("an argument of range")),
        }
    }

    fn new(first: i32, limit: i32, step: i32) -> Result<IntegerRange, Fault> {
        if step == 0 {
            return Err(Fault::value("the step of a range must not be 0"));
        }
        let distance = (i64::from(limit) - i64::from(first)) * i64::from(step.signum());
        let len = distance
            .max(0)
            .unsigned_abs()
            .div_ceil(step.unsigned_abs().into());
        // A distance is below 2^32, and a step at least 1.
        let len = len as u32;
        Ok(IntegerRange { first, step, len })
    }

    /// Count of the numbers in the range.
    pub fn len(self) -> u32 {
        self.len
    }

    /// Whether the range has no numbers.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Iterates over the numbers in order.
    pub fn numbers(self) -> impl Iterator<Item = i32> {
        (0..self.len).map(move |at| {
            let number = i64::from(self.first) + i64::from(at) * i64::from(self.step);
            // It lies between two of 32 bits.
            number as i32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(first: i32, limit: i32, step: i32) -> Vec<i32> {
        IntegerRange::new(first, limit, step)
            .unwrap()
            .numbers()
            .collect()
    }

    #[test]
    fn numbers_stay_before_the_limit() {
        assert_eq!(numbers(0, 3, 1), [0, 1, 2]);
        assert_eq!(numbers(0, 5, 2), [0, 2, 4]);
        assert_eq!(numbers(5, 0, -2), [5, 3, 1]);
        assert!(numbers(3, 3, 1).is_empty() && numbers(0, -1, 1).is_empty());
        assert_eq!(numbers(i32::MAX - 1, i32::MAX, 5), [i32::MAX - 1]);
        assert_eq!(numbers(i32::MAX, i32::MIN, i32::MIN), [i32::MAX, -1]);
        let all = IntegerRange::new(i32::MIN, i32::MAX, 1).unwrap();
        assert_eq!(all.len(), u32::MAX);
        let spread = numbers(i32::MIN, i32::MAX, 1 << 15);
        assert_eq!((spread.len(), spread[1 << 16]), (1 << 17, 0));
    }

    #[test]
    fn a_step_of_0_is_a_fault() {
        assert!(IntegerRange::new(0, 1, 0).is_err());
    }
}
