//! The operators of `spl.relational`.

pub mod aggregate;
mod clock;
pub mod filter;
pub mod functor;
pub mod join;
mod panes;
pub mod punctor;
pub mod sort;
mod sort_rules;
mod windowed;
