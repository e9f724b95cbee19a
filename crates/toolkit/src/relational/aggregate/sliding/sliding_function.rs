//! The contract of functions that follow a sliding window.

use eval::Fault;
use tuple::Value;

/// A function that follows the values of a group.
pub trait SlidingFunction: Send + Sync {
    /// Adds a tuple: the value of its first argument, and that of the second one if there is any.
    fn add(&mut self, value: Value, other: Option<Value>);
    /// Removes the oldest tuple.
    fn remove_oldest(&mut self);
    /// The result for the tuples that are present, at least one.
    ///
    /// # Errors
    /// If the function has no result for them, as for a division by 0.
    fn result(&mut self) -> Result<Value, Fault>;
    /// Removes all tuples of the group.
    fn clear(&mut self);
}
