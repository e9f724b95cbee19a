//! Functions over the values of a group in a window that slides: tuples come at one end and leave
//! at the other, and a result costs what has changed, not what is there.
//!
//! Each gives what the function of its name over the whole column gives ([`super::column`]), to the
//! bit. So it works for what does not depend on the order of the steps: sums of integers, which are
//! exact, extremes, ends, numbers of distinct values. A sum of floats is another one if its first
//! addend is taken away again; such functions keep their column packed, and run over all of it.
//!
//! # Cost
//! A few steps for a tuple that comes and for one that leaves, however many there are, and no
//! memory beyond some times that of the values in the window. What has grown for many shrinks when
//! few are left.

mod column;
mod distinct;
mod extreme;
mod first_last;
mod sliding_sum;
mod whole_column;

#[cfg(test)]
pub mod tests;

use std::collections::VecDeque;

use eval::Fault;
use tuple::Value;

use super::grouping::ColumnCall;
use crate::function::number::numeric;
use distinct::SlidingDistinctCount;
use extreme::{ExtremeResult, SlidingExtreme};
use first_last::{SlidingFirst, SlidingLast};
use sliding_sum::SlidingSum;
use whole_column::WholeColumnFunction;

/// A function that follows the values of a group.
pub trait SlidingFunction: Send + Sync {
    /// One more tuple: the value of the first argument, and that of the second one if there is any.
    fn add(&mut self, value: Value, other: Option<Value>);
    /// The oldest tuple has left.
    fn remove_oldest(&mut self);
    /// The result for the tuples that are there; there is at least one.
    fn result(&mut self) -> Result<Value, Fault>;
    /// All tuples have left.
    fn clear(&mut self);
}

/// A function that has seen no tuples.
pub fn sliding_function(function: &ColumnCall) -> Box<dyn SlidingFunction> {
    let argument = &function.arguments[0];
    let extreme = |greatest, shown| Box::new(SlidingExtreme::new(greatest, shown));
    match &*function.name {
        "Any" | "Last" => Box::new(SlidingLast::default()),
        "First" => Box::new(SlidingFirst::new(argument)),
        "CountDistinct" => Box::new(SlidingDistinctCount::new(argument)),
        "Max" if argument.is_ordered() => extreme(true, ExtremeResult::Value),
        "Min" if argument.is_ordered() => extreme(false, ExtremeResult::Value),
        "MaxCount" if argument.is_ordered() => extreme(true, ExtremeResult::Count),
        "MinCount" if argument.is_ordered() => extreme(false, ExtremeResult::Count),
        "ArgMax" if argument.is_ordered() => extreme(true, ExtremeResult::Argument),
        "ArgMin" if argument.is_ordered() => extreme(false, ExtremeResult::Argument),
        name @ ("Sum" | "Average") if argument.is_integral() => {
            let is_divided = name == "Average";
            numeric!(argument, T => Box::new(SlidingSum::<T>::new(argument, is_divided)))
        }
        _ => Box::new(WholeColumnFunction::new(function)),
    }
}

/// Whether memory for so many is too much for those that are left.
fn has_excess_capacity(capacity: usize, len: usize) -> bool {
    capacity > 64 && len < capacity / 4
}

/// Gives memory back that was for many more.
pub fn shrink_excess<T>(queue: &mut VecDeque<T>) {
    if has_excess_capacity(queue.capacity(), queue.len()) {
        queue.shrink_to(queue.capacity() / 2);
    }
}
