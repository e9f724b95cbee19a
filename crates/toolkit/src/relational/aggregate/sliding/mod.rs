//! Functions over the values of a group in a window that slides: tuples enter at one end and leave
//! at the other, and a result costs as much as has changed, not as much as is there.
//!
//! Each gives the result that the function of its name over the whole column gives
//! ([`mod@super::column`]), to the bit. This works where the order of the steps does not matter:
//! sums of integers, which are exact, extremes, ends, numbers of distinct values. A sum of floats
//! changes if its first addend is subtracted again; such functions keep their column packed, and
//! run over all of it.
//!
//! # Cost
//! A few steps for a tuple that enters and for one that leaves, however many there are. Memory is a
//! small multiple of the values in the window, and shrinks when the window does.

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

pub use capacity::shrink_excess;
pub use choose::sliding_function;
pub use sliding_function::SlidingFunction;
