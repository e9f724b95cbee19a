//! Functions over the values of a group in a window that slides: tuples enter at one end and leave
//! at the other, and a result costs as much as has changed, not as much as is there.
//!
//! Most give the result that the function of their name over the whole column gives
//! ([`mod@super::column`]), to the bit, for the order of the steps does not matter: sums of
//! integers, which are exact, extremes, ends, numbers of distinct values. Sums, means and
//! deviations of numbers that round have an order of additions of their own ([`blocks`]).
//!
//! # Cost
//! A few steps for a tuple that enters and for one that leaves, however many there are. What
//! depends on all values in their order keeps its column packed and runs over all of it for each
//! result: `Collect`, `CollectDistinct`, `CountByDistinct`, `CollectArgMax` and `CollectArgMin`,
//! `Sum` of strings, functions of lists, deviations of integers, whose mean is cut off at each
//! step. Memory is a small multiple of the values in the window, and shrinks when the window does.

mod blocked;
mod blocks;
mod capacity;
mod choose;
mod column;
mod distinct;
mod extreme;
mod first_last;
mod sliding_function;
mod sliding_sum;
mod whole_column;

#[cfg(test)]
pub mod tests;

pub use blocks::BLOCK_ITEMS;
pub use capacity::shrink_excess;
pub use choose::{one_time_function, sliding_function};
pub use sliding_function::SlidingFunction;
