//! The operators of `spl.relational`.

pub mod aggregate;
pub mod filter;
pub mod functor;
pub mod join;
pub mod punctor;
pub mod sort;
