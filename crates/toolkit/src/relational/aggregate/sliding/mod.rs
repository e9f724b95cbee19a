//! Functions over the values of a group in a window that slides: tuples come at one end and leave at
//! the other, and a result costs what has changed, not what is there.
//!
//! Each gives what the function of its name over the whole column gives ([`super::column`]), to the bit.
//! So it works for what does not depend on the order of the steps: sums of integers, which are exact,
//! extremes, ends, numbers of distinct values. A sum of floats is another one if its first addend is
//! taken away again; such functions keep their column packed, and run over all of it.
//!
//! # Cost
//! A few steps for a tuple that comes and for one that leaves, however many there are, and no memory
//! beyond some times that of the values in the window. What has grown for many shrinks when few are
//! left.

mod column;
mod distinct;
mod ends;
mod extreme;
mod total;
mod whole;

#[cfg(test)]
pub mod tests;

use std::collections::VecDeque;

use graph::Fault;
use tuple::Value;

use super::grouping::Function;
use crate::function::number::numeric;
use distinct::Distinct;
use ends::{First, Last};
use extreme::{Extreme, Shown};
use total::Total;
use whole::Whole;

/// A function that follows the values of a group.
pub trait Sliding: Send + Sync {
    /// One more tuple: the value of the first argument, and that of the second one if there is any.
    fn add(&mut self, value: Value, other: Option<Value>);
    /// The oldest tuple has left.
    fn forget(&mut self);
    /// The result for the tuples that are there; there is at least one.
    fn result(&mut self) -> Result<Value, Fault>;
    /// All tuples have left.
    fn clear(&mut self);
}

/// A function that has seen no tuples.
pub fn sliding(function: &Function) -> Box<dyn Sliding> {
    let argument = &function.arguments[0];
    let extreme = |greatest, shown| Box::new(Extreme::new(greatest, shown));
    match &*function.name {
        "Any" | "Last" => Box::new(Last::default()),
        "First" => Box::new(First::new(argument)),
        "CountDistinct" => Box::new(Distinct::new(argument)),
        "Max" if argument.is_ordered() => extreme(true, Shown::Value),
        "Min" if argument.is_ordered() => extreme(false, Shown::Value),
        "MaxCount" if argument.is_ordered() => extreme(true, Shown::Count),
        "MinCount" if argument.is_ordered() => extreme(false, Shown::Count),
        "ArgMax" if argument.is_ordered() => extreme(true, Shown::Argument),
        "ArgMin" if argument.is_ordered() => extreme(false, Shown::Argument),
        name @ ("Sum" | "Average") if argument.is_integral() => {
            let is_divided = name == "Average";
            numeric!(argument, T => Box::new(Total::<T>::new(argument, is_divided)))
        }
        _ => Box::new(Whole::new(function)),
    }
}

/// Whether memory for so many is too much for those that are left.
fn is_loose(capacity: usize, len: usize) -> bool {
    capacity > 64 && len < capacity / 4
}

/// Gives memory back that was for many more.
pub fn tighten<T>(queue: &mut VecDeque<T>) {
    if is_loose(queue.capacity(), queue.len()) {
        queue.shrink_to(queue.capacity() / 2);
    }
}
