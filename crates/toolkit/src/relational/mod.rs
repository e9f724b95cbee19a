//! The operators of `spl.relational`.

pub mod aggregate;
pub mod filter;
pub mod functor;
pub mod join;
mod pane_window;
mod partition_count;
pub mod punctor;
pub mod sort;
mod window_clock;
mod window_function;
mod windowed;
